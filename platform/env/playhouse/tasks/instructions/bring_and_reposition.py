"""Bring the setter an object, or several of a description, or hand it one; put an object somewhere else in the
house: into another room, or to a piece of furniture."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from interplay.env.playhouse.planning.placement import (
    Placement,
    placements_around,
    placements_beside,
    placements_in_room,
    placements_on,
    reachable_placements,
)
from interplay.env.playhouse.tasks.context import TaskContext
from interplay.env.playhouse.tasks.instructions.object_instruction import (
    ANY_OBJECT,
    PlaceObjects,
    descriptions_shared,
    number_of,
)
from interplay.env.playhouse.tasks.playhouse_task import PlayhouseTask, task_kind
from interplay.env.playhouse.truth import predicates
from interplay.env.playhouse.truth.facts import HouseFacts, Room, Thing

BRING_WORDINGS = (
    "bring me the {thing}", "fetch me the {thing}", "get the {thing} for me", "carry the {thing} over to me",
    "come here with the {thing}", "i would like to have the {thing} here",
)  # fmt: skip
BRING_SEVERAL_WORDINGS = (
    "bring me {things}", "fetch me {things}", "get {things} for me", "carry {things} over to me",
    "collect {things} and bring them here", "i would like to have {things} here",
)  # fmt: skip
SETTER_REACH_M = 1.5  # from the setter to what is within its reach
MIN_DISTANCE_M = SETTER_REACH_M + 0.5  # from the setter to an object that it asks for
SEVERAL_PROBABILITY = 0.5  # of several objects, if there are enough of a description
HAND_OVER_WORDINGS = (
    "hand me the {thing}", "give me the {thing}", "pass me the {thing}", "hand the {thing} over to me",
    "put the {thing} in my hand", "let me take the {thing} from you",
)  # fmt: skip
OFFER_DISTANCE_M = 1.0  # from the setter to an object that is held out to it


@dataclass(frozen=True, kw_only=True)
class BringToSetter(PlaceObjects):
    """Base of instructions to carry objects to the setter."""

    setter: str  # role of the player to bring them to
    reach: ClassVar[float] = SETTER_REACH_M

    def remaining(self, facts: HouseFacts, thing: Thing) -> float:
        return max(predicates.route_length(facts, thing.xy, facts.bodies[self.setter].position) - self.reach, 0.0)

    def placements(self, facts: HouseFacts, thing: Thing) -> Sequence[Placement]:
        return placements_around(facts, thing, facts.bodies[self.setter])


@dataclass(frozen=True, kw_only=True)
class Bring(BringToSetter):
    """Carry objects to where the setter can reach them, in the hand or put down.

    Baseline of candidate i also: `x_i` and `y_i`, its position.
    """

    def is_placed(self, facts: HouseFacts, thing: Thing) -> bool:
        """Tests whether an object is within the setter's reach, and the setter has not walked up to it."""
        body = facts.bodies[self.setter]
        in_reach = predicates.same_room(body.room, thing.room) and predicates.distance(body, thing) <= SETTER_REACH_M
        origin = self.baseline[f"x_{thing.index}"], self.baseline[f"y_{thing.index}"]
        return in_reach and math.dist(body.position, origin) > SETTER_REACH_M

    def is_plausible_target(self, thing: Thing, facts: HouseFacts) -> bool:
        near = math.dist(facts.bodies[self.setter].position, thing.xy) <= MIN_DISTANCE_M
        free = thing.index != self.target and thing.held_by is None
        return free and not near and thing.index not in self.candidates

    def measure(self, facts: HouseFacts) -> Mapping[str, float]:
        positions = {f"{axis}_{i}": facts.things[i].xy[k] for i in self.candidates for k, axis in enumerate("xy")}
        return {**super().measure(facts), **positions}


@task_kind("bring", Bring, BRING_WORDINGS, BRING_SEVERAL_WORDINGS)
def bring_kind(context: TaskContext, rng: np.random.Generator) -> Bring:
    """Draws one object or, if there are enough of a description, half of the time two or three of them."""
    context.require_movement("push", "strafe")
    context.require_setter()
    facts, setter = context.facts, context.setter
    several = [
        (description, things, count)
        for count in (2, 3)
        for description, things in descriptions_shared(facts, count)
        if description != ANY_OBJECT
        and all(_is_far(context, thing) for thing in things)
        and sum(not context.is_laden(thing) for thing in things) >= count
    ]
    if several and rng.random() < SEVERAL_PROBABILITY:
        description, things, count = several[int(rng.integers(len(several)))]
        text = context.phrase(BRING_SEVERAL_WORDINGS, rng, things=number_of(count, description))
    else:
        far = [thing for thing in context.carriable_objects() if _is_far(context, thing)]
        things, count = (context.sample_one(far, rng, "every thing that can be named is at hand"),), 1
        text = context.phrase(BRING_WORDINGS, rng, thing=things[0])
    around = placements_around(facts, things[0], facts.bodies[setter])
    if not reachable_placements(facts, context.solver, things[0], around):
        raise context.refusal("there is no free floor before the setter")
    return Bring.of(context, text, things, count=count, setter=setter)


def _is_far(context: TaskContext, thing: Thing) -> bool:
    return math.dist(context.facts.bodies[context.setter].position, thing.xy) > MIN_DISTANCE_M


@dataclass(frozen=True, kw_only=True)
class HandOver(BringToSetter):
    """Give an object into the setter's hand. It takes two players: the setter has to take what is held out to it."""

    reach: ClassVar[float] = OFFER_DISTANCE_M

    def is_placed(self, facts: HouseFacts, thing: Thing) -> bool:
        return thing.held_by == self.setter


@task_kind("hand_over", HandOver, HAND_OVER_WORDINGS)
def hand_over_kind(context: TaskContext, rng: np.random.Generator) -> HandOver:
    """Draws an object to hand over."""
    context.require_movement("push", "strafe")
    context.require_setter()
    thing = context.sample_one(context.carriable_objects(), rng, "no loose thing can be named")
    text = context.phrase(HAND_OVER_WORDINGS, rng, thing=thing)
    return HandOver.of(context, text, [thing], setter=context.setter)


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


@task_kind("reposition", Reposition, REPOSITION_WORDINGS, REPOSITION_INTO_ROOM_WORDINGS)
def reposition_kind(context: TaskContext, rng: np.random.Generator) -> Reposition:
    """Draws an object and a room or piece of furniture that it is not at."""
    context.require_movement("push", "strafe")
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
    raise context.refusal("nothing named has another place to go to")


def _reposition(context: TaskContext, thing: Thing, place: Room | Thing, rng: np.random.Generator) -> Reposition:
    if isinstance(place, Thing):
        text = context.phrase(REPOSITION_WORDINGS, rng, thing=thing, other=place)
        return Reposition.of(context, text, [thing], other=place.index)
    text = context.phrase(REPOSITION_INTO_ROOM_WORDINGS, rng, thing=thing, room=place.kind)
    return Reposition.of(context, text, [thing], room=place.name)
