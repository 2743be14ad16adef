"""Put an object somewhere else in the house: into another room, or to a piece of furniture."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from interplay.env.playhouse.language.templates import fill_template
from interplay.env.playhouse.planning.placement import (
    Placement,
    placements_beside,
    placements_in_room,
    placements_on,
    reachable_placements,
)
from interplay.env.playhouse.tasks.context import TaskContext
from interplay.env.playhouse.tasks.instructions.place_objects import PlaceObjects
from interplay.env.playhouse.tasks.playhouse_task import PlayhouseTask
from interplay.env.playhouse.tasks.task_kind import TaskKind
from interplay.env.playhouse.truth import predicates
from interplay.env.playhouse.truth.facts import HouseFacts, Room, Thing
from interplay.env.task import InfeasibleTask

REPOSITION_WORDINGS = (
    "move the {thing} to the {other}", "take the {thing} over to the {other}", "carry the {thing} to the {other}",
    "bring the {thing} to the {other}", "the {thing} should be at the {other}",
    "could you leave the {thing} by the {other}?",
)  # fmt: skip
REPOSITION_INTO_ROOM_WORDINGS = (
    "move the {thing} to the {room}", "take the {thing} into the {room}", "carry the {thing} over to the {room}",
    "put the {thing} in the {room}", "the {thing} should be in the {room}",
    "could you leave the {thing} in the {room}?",
)  # fmt: skip

MIN_FURNITURE_GAP_M = 0.9  # from edge to edge, between an object and the furniture that it is to be taken to


@dataclass(frozen=True, kw_only=True)
class Reposition(PlaceObjects):
    """Leave an object in a room, or at a piece of furniture: next to it, on it or under it."""

    room: str | None = None  # name of the room; None if it goes to furniture
    other: int | None = None  # index of the furniture; None if it goes into a room

    def is_placed(self, facts: HouseFacts, thing: Thing) -> bool:
        if thing.held_by is not None:
            return False
        if self.other is None:
            return thing.room == self.room
        place = facts.things[self.other]
        return predicates.next_to(thing, place) or predicates.on(thing, place) or predicates.under(thing, place)

    def remaining(self, facts: HouseFacts, thing: Thing) -> float:
        if self.other is not None:
            return predicates.walking_distance(facts, thing.xy, facts.things[self.other])
        doors = predicates.route(facts, thing.xy, self._room(facts).middle)
        return predicates.route_length(facts, thing.xy, doors[-1].middle) if doors else 0.0

    def placements(self, facts: HouseFacts, thing: Thing) -> Sequence[Placement]:
        if self.other is None:
            return placements_in_room(facts, thing, self._room(facts))
        place = facts.things[self.other]
        return [*placements_on(facts, thing, place), *placements_beside(facts, thing, place)]

    def misreading(self, facts: HouseFacts, rng: np.random.Generator) -> PlayhouseTask | None:
        """Another object or, half of the time, another room or another piece of furniture."""
        places: list[Reposition]
        if self.other is None:
            places = [replace(self, room=room.name) for room in facts.rooms if room.name != self.room]
        else:
            places = [replace(self, other=t.index) for t in facts.things if t.furniture and t.index != self.other]
        places = [place for place in places if not place.is_placed(facts, self.thing(facts))]
        if places and rng.random() < 0.5:
            return places[int(rng.integers(len(places)))]
        return super().misreading(facts, rng)

    def _room(self, facts: HouseFacts) -> Room:
        return next(room for room in facts.rooms if room.name == self.room)


def sample_reposition(context: TaskContext, rng: np.random.Generator) -> Reposition:
    """Draws an object and a room or piece of furniture that it is not at."""
    context.require_movement("reposition", "push", "strafe")
    facts = context.facts
    to_rooms: list[tuple[Thing, Room | Thing]] = []
    to_furniture: list[tuple[Thing, Room | Thing]] = []
    for thing in context.carriable_objects():
        to_rooms += [(thing, room) for room in facts.rooms if room.name != thing.room]
        for other in context.nameable_things():
            apart = not predicates.same_room(thing.room, other.room)
            if other.furniture and (apart or predicates.gap(thing, other) > MIN_FURNITURE_GAP_M):
                to_furniture.append((thing, other))
    for choices in [to_rooms, to_furniture] if rng.random() < 0.5 else [to_furniture, to_rooms]:
        for i in rng.permutation(len(choices)):
            thing, place = choices[i]
            task = _reposition(context, thing, place, rng)
            if reachable_placements(facts, context.solver, thing, task.placements(facts, thing)):
                return task
    raise InfeasibleTask("no task of kind 'reposition' can be asked here: nothing named has another place to go to")


def _reposition(context: TaskContext, thing: Thing, place: Room | Thing, rng: np.random.Generator) -> Reposition:
    name = context.name(thing, rng)
    if isinstance(place, Thing):
        text = fill_template(REPOSITION_WORDINGS, rng, other=context.name(place, rng), thing=name)
        return Reposition.of(context, "reposition", text, [thing], other=place.index)
    text = fill_template(REPOSITION_INTO_ROOM_WORDINGS, rng, room=place.kind, thing=name)
    return Reposition.of(context, "reposition", text, [thing], room=place.name)


KIND = TaskKind(
    name="reposition",
    task=Reposition,
    sample=sample_reposition,
    wordings=(*REPOSITION_WORDINGS, *REPOSITION_INTO_ROOM_WORDINGS),
)
