"""Put a loose thing somewhere else in the house: into another room, or to a piece of furniture."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from interplay.env.playhouse.language.templates import PHRASES, phrase
from interplay.env.playhouse.planning.placement import (
    Placement,
    placements_beside,
    placements_in_room,
    placements_on,
    reachable_placements,
)
from interplay.env.playhouse.tasks.context import TaskContext
from interplay.env.playhouse.tasks.instructions.place_objects import PlaceObjects
from interplay.env.playhouse.truth import predicates
from interplay.env.playhouse.truth.facts import HouseFacts, Thing
from interplay.env.task import InfeasibleTask, Task
from interplay.env.world import World

PHRASES |= {
    "reposition": (
        "move the {thing} to the {other}",
        "take the {thing} over to the {other}",
        "carry the {thing} to the {other}",
        "bring the {thing} to the {other}",
        "the {thing} should be at the {other}",
        "could you leave the {thing} by the {other}?",
    ),
    "reposition into room": (
        "move the {thing} to the {room}",
        "take the {thing} into the {room}",
        "carry the {thing} over to the {room}",
        "put the {thing} in the {room}",
        "the {thing} should be in the {room}",
        "could you leave the {thing} in the {room}?",
    ),
}

AWAY = 0.9  # meters from edge to edge, at least, of a thing from the furniture that it is to be taken to


@dataclass(frozen=True)
class Reposition(PlaceObjects):
    """Leave a thing in a room, or at a piece of furniture: beside, on or under it."""

    room: str | None  # the name of the room; None: it goes to furniture
    other: int | None  # the Thing's index of the furniture; None: it goes into a room

    def arrived(self, facts: HouseFacts, thing: Thing) -> bool:
        if thing.held_by is not None:
            return False
        if self.other is None:
            return thing.room == self.room
        place = facts.things[self.other]
        return predicates.next_to(thing, place) or predicates.on(thing, place) or predicates.under(thing, place)

    def left(self, facts: HouseFacts, thing: Thing) -> float:
        if self.other is not None:
            return predicates.walking_distance(facts, thing.xy, facts.things[self.other])
        room = next(room for room in facts.rooms if room.name == self.room)
        doors = predicates.route(facts, thing.xy, room.middle)
        return predicates.walk(facts, thing.xy, doors[-1].middle) if doors else 0.0

    def landings(self, facts: HouseFacts, thing: Thing) -> Sequence[Placement]:
        if self.other is None:
            return placements_in_room(facts, thing, next(room for room in facts.rooms if room.name == self.room))
        place = facts.things[self.other]
        return [*placements_on(facts, thing, place), *placements_beside(facts, thing, place)]

    def misread(self, world: World, rng: np.random.Generator) -> Task:
        """Another thing, or half of the time another room or another piece of furniture."""
        facts: HouseFacts = world.facts()
        places: list[Reposition]
        if self.other is None:
            places = [replace(self, room=room.name) for room in facts.rooms if room.name != self.room]
        else:
            places = [replace(self, other=t.index) for t in facts.things if t.furniture and t.index != self.other]
        places = [place for place in places if not place.arrived(facts, self.thing(facts))]
        if places and rng.random() < 0.5:
            return places[int(rng.integers(len(places)))].measured(facts)
        return super().misread(world, rng)


def draw_reposition(asking: TaskContext, rng: np.random.Generator) -> Reposition:
    asking.needs("reposition", "push", "strafe")
    facts, solver = asking.facts, asking.solver
    rooms: list[tuple[Thing, str | None, Thing | None]] = []
    furniture: list[tuple[Thing, str | None, Thing | None]] = []
    for thing in asking.carriable():
        rooms += [(thing, room.name, None) for room in facts.rooms if room.name != thing.room]
        for place in asking.told_apart():
            apart = not predicates.same_room(thing.room, place.room) or predicates.gap(thing, place) > AWAY
            if place.furniture and apart:
                furniture.append((thing, None, place))
    halves = [rooms, furniture] if rng.random() < 0.5 else [furniture, rooms]
    for half in halves:
        for i in rng.permutation(len(half)):
            thing, room, place = half[i]
            names = {"thing": asking.call(thing, rng)}
            if place is not None:
                words = phrase("reposition", rng, other=asking.call(place, rng), **names)
            else:
                kind = next(other.kind for other in facts.rooms if other.name == room)
                words = phrase("reposition into room", rng, room=kind, **names)
            index = None if place is None else place.index
            errand = Reposition(
                "reposition", words, solver, thing.index, 0.0, (thing.index,), (), (), 1, room, index
            ).measured(facts)
            if reachable_placements(facts, solver, thing, errand.landings(facts, thing)):
                return errand
    raise InfeasibleTask("no task of kind 'reposition' can be asked here: nothing named has another place to go to")
