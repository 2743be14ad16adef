"""Throw a thing, somewhere or out of its room."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from interplay.env.playhouse.language.templates import PHRASES, phrase
from interplay.env.playhouse.planning.exits import doorway_exits
from interplay.env.playhouse.tasks.context import TaskContext
from interplay.env.playhouse.tasks.instructions.object_instruction import WITHIN_GRASP, ObjectInstruction, done
from interplay.env.playhouse.tasks.sampling import one_of
from interplay.env.playhouse.truth import predicates
from interplay.env.playhouse.truth.facts import XY, HouseFacts, Thing

PHRASES |= {
    "throw": (
        "throw the {thing}",
        "throw the {thing} across the room",
        "toss the {thing}",
        "pick up the {thing} and throw it",
        "hurl the {thing} away",
        "fling the {thing} somewhere",
    ),
    "throw_out": (
        "throw the {thing} out of the {room}",
        "toss the {thing} out of the {room}",
        "throw the {thing} through a doorway of the {room}",
        "hurl the {thing} from the {room} into another room",
        "take the {thing} and throw it out of the {room}",
        "fling the {thing} out of the {room}",
    ),
}
AT_THE_DOOR = 2.0  # meters from the middle of a doorway within which one is about to throw something out


@dataclass(frozen=True)
class Throw(ObjectInstruction):
    """Take a thing and throw it."""

    asked: float  # seconds: when

    def fulfilled(self, facts: HouseFacts) -> bool:
        return predicates.thrown(facts, self.target, self.solver, self.asked)

    def progress(self, facts: HouseFacts) -> float:
        """0.1 for turning to it, 0.2 for the way with it in view; 0.6 for holding it, and 1 once it is thrown."""
        if self.fulfilled(facts):
            return 1.0
        if self.thing(facts).held_by == self.solver:
            return 0.6
        return self.looks(facts) * (0.1 + 0.2 * self.nearness(facts, WITHIN_GRASP))

    def meaning(self, thing: Thing, facts: HouseFacts) -> Self:
        return replace(super().meaning(thing, facts), asked=facts.time)


@dataclass(frozen=True)
class ThrowOut(Throw):
    """Throw a thing from its room into another one."""

    room: str  # the name of the room that it was in when asked
    away: float  # meters from it to the nearest doorway of that room when asked

    def fulfilled(self, facts: HouseFacts) -> bool:
        thing = self.thing(facts)
        if not predicates.thrown(facts, self.target, self.solver, self.asked) or thing.let_go is None:
            return False
        came_from = predicates.nearest_room(facts, thing.let_go.place[:2]).name
        return came_from == self.room and thing.room is not None and thing.room != self.room

    def progress(self, facts: HouseFacts) -> float:
        """As for a throw, and 0.2 more for carrying it to a doorway."""
        level = super().progress(facts)
        if self.thing(facts).held_by != self.solver:
            return level
        return level + 0.2 * done(
            self.away, to_doorway(facts, self.room, facts.bodies[self.solver].position), AT_THE_DOOR
        )

    def may_mistake(self, thing: Thing, facts: HouseFacts) -> bool:
        return super().may_mistake(thing, facts) and thing.room == self.room

    def meaning(self, thing: Thing, facts: HouseFacts) -> Self:
        return replace(super().meaning(thing, facts), away=to_doorway(facts, self.room, thing.xy))


def draw_throw(asking: TaskContext, rng: np.random.Generator) -> Throw:
    target = one_of(throwable(asking, "throw"), rng, "throw", "no loose thing can be named")
    words = phrase("throw", rng, thing=asking.call(target, rng))
    return Throw("throw", words, asking.solver, target.index, asking.walk(target), asking.facts.time)


def draw_throw_out(asking: TaskContext, rng: np.random.Generator) -> ThrowOut:
    facts = asking.facts
    things = [
        thing
        for thing in throwable(asking, "throw_out")
        if thing.room and doorway_exits(facts, asking.solver, thing.room)
    ]
    target = one_of(things, rng, "throw_out", "no loose thing that can be named is in a room with a doorway")
    assert target.room is not None
    kind = next(room.kind for room in facts.rooms if room.name == target.room)
    words = phrase("throw_out", rng, thing=asking.call(target, rng), room=kind)
    walk, away = asking.walk(target), to_doorway(facts, target.room, target.xy)
    return ThrowOut("throw_out", words, asking.solver, target.index, walk, facts.time, target.room, away)


def to_doorway(facts: HouseFacts, room: str, point: XY) -> float:
    """Meters from a point to the nearest doorway of a room that has one."""
    return min(math.dist(point, door.middle) for door in facts.doorways if room in door.rooms)


def throwable(asking: TaskContext, kind: str) -> Sequence[Thing]:
    """What can be thrown here, if anything can."""
    asking.needs(kind, "throw")
    asking.needs_memory(kind)
    return asking.nameable()
