"""Lift an object, or a bin with everything in it; throw an object, anywhere or out of its room."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from interplay.env.playhouse.house.catalog import BIN
from interplay.env.playhouse.planning.ways_ahead import doorway_exits
from interplay.env.playhouse.tasks.context import TaskContext
from interplay.env.playhouse.tasks.instructions.object_instruction import GRASP_DISTANCE_M, ObjectInstruction
from interplay.env.playhouse.tasks.playhouse_task import Potential, fraction_covered, task_kind
from interplay.env.playhouse.truth import predicates
from interplay.env.playhouse.truth.facts import XY, HouseFacts, Thing

RAISED_M = 0.25  # above where the object rested; less may be a nudge
LIFT_WEIGHTS = Potential(look=0.2, approach=0.2, hold=0.6, carry=0.4)
AIM_WEIGHT = 0.1
LIFT_WORDINGS = (
    "lift the {thing}", "pick up the {thing}", "raise the {thing}", "lift up the {thing}",
    "take the {thing} in your hand", "find the {thing} and lift it", "hold up the {thing}",
)  # fmt: skip
LIFT_CONTAINER_WORDINGS = (
    "lift the {thing} with all that is in it", "pick up the {thing} and keep everything inside",
    "raise the {thing} without spilling anything", "lift the {thing} and what is in it",
    "hold up the {thing} with its contents", "could you lift the full {thing}?",
)  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Lift(ObjectInstruction):
    """Grasp an object and raise it. Baseline `height`: of its middle, in meters."""

    def is_done(self, facts: HouseFacts) -> bool:
        return self.thing(facts).held_by == self.solver and self._raised(facts) >= RAISED_M

    def partial_progress(self, facts: HouseFacts) -> float:
        """0.2 for turning to it, 0.2 for the way with it in view, 0.1 for aiming at it from near; 0.6 for holding it,
        and 0.4 for raising it."""
        if self.thing(facts).held_by == self.solver:
            return self.potential(facts, LIFT_WEIGHTS, float(np.clip(self._raised(facts) / RAISED_M, 0.0, 1.0)))
        aims = facts.bodies[self.solver].looking_at == self.target
        return self.potential(facts, LIFT_WEIGHTS) + AIM_WEIGHT * self.nearness(facts, GRASP_DISTANCE_M) * aims

    def measure(self, facts: HouseFacts) -> Mapping[str, float]:
        return {**super().measure(facts), "height": self.thing(facts).position[2]}

    def _raised(self, facts: HouseFacts) -> float:
        return self.thing(facts).position[2] - self.baseline["height"]


@task_kind("lift", Lift, LIFT_WORDINGS, usual=True)
def lift_kind(context: TaskContext, rng: np.random.Generator) -> Lift:
    """Draws an instruction to lift one of the nameable objects."""
    target = context.sample_one(context.nameable_objects(), rng, "no loose thing can be named")
    text = context.phrase(context.wordings(LIFT_WORDINGS), rng, thing=target)
    return Lift(kind=context.kind, instruction=text, solver=context.solver, target=target.index)


@dataclass(frozen=True, kw_only=True)
class LiftContainer(Lift):
    """Grasp a container and raise it, with everything that was in it."""

    contents: tuple[int, ...]  # indices of what was in it when the task was set

    def is_done(self, facts: HouseFacts) -> bool:
        return super().is_done(facts) and self._fraction_kept(facts) == 1.0

    def partial_progress(self, facts: HouseFacts) -> float:
        """The progress of lifting times the fraction of the contents that is still inside."""
        return super().partial_progress(facts) * self._fraction_kept(facts)

    def _fraction_kept(self, facts: HouseFacts) -> float:
        container = self.thing(facts)
        kept = sum(predicates.inside(facts.things[i], container) for i in self.contents)
        return kept / len(self.contents) if self.contents else 1.0

    def with_target(self, thing: Thing, facts: HouseFacts) -> Self:
        inside = tuple(other.index for other in predicates.contents(facts, thing))
        return replace(super().with_target(thing, facts), contents=inside)


@task_kind("lift_container", LiftContainer, LIFT_CONTAINER_WORDINGS)
def lift_container_kind(context: TaskContext, rng: np.random.Generator) -> LiftContainer:
    """Draws a bin that is not empty."""
    facts = context.facts
    full = [t for t in context.nameable_objects() if t.category == BIN and predicates.contents(facts, t)]
    thing = context.sample_one(full, rng, "no container that can be named has something in it")
    text = context.phrase(LIFT_CONTAINER_WORDINGS, rng, thing=thing)
    contents = tuple(other.index for other in predicates.contents(facts, thing))
    kind, solver = context.kind, context.solver
    return LiftContainer(kind=kind, instruction=text, solver=solver, target=thing.index, contents=contents)


THROW_WORDINGS = (
    "throw the {thing}", "throw the {thing} across the room", "toss the {thing}", "pick up the {thing} and throw it",
    "hurl the {thing} away", "fling the {thing} somewhere",
)  # fmt: skip
THROW_OUT_WORDINGS = (
    "throw the {thing} out of the {room}", "toss the {thing} out of the {room}",
    "throw the {thing} through a doorway of the {room}", "hurl the {thing} from the {room} into another room",
    "take the {thing} and throw it out of the {room}", "fling the {thing} out of the {room}",
)  # fmt: skip
AT_DOORWAY_M = 2.0  # from the middle of a doorway, where the way to it ends
THROW_WEIGHTS = Potential(look=0.1, approach=0.2, hold=0.6, carry=0.2)  # `carry` only for throwing out


@dataclass(frozen=True, kw_only=True)
class Throw(ObjectInstruction):
    """Take an object and throw it. Baseline `since`: world time in seconds from which throws count."""

    def is_done(self, facts: HouseFacts) -> bool:
        return predicates.thrown(facts, self.target, self.solver, self.since)

    def partial_progress(self, facts: HouseFacts) -> float:
        """0.1 for turning to it, 0.2 for the way with it in view; 0.6 for holding it, and 1 once it is thrown."""
        return self.potential(facts, THROW_WEIGHTS)

    def measure(self, facts: HouseFacts) -> Mapping[str, float]:
        return {**super().measure(facts), "since": facts.time}


@dataclass(frozen=True, kw_only=True)
class ThrowOut(Throw):
    """Throw an object from its room into another one. Baseline `doorway`: meters to the room's nearest doorway."""

    room: str  # name of the room that the object was in when the task was set

    def is_done(self, facts: HouseFacts) -> bool:
        thing = self.thing(facts)
        if not super().is_done(facts) or thing.let_go is None:
            return False
        came_from = predicates.nearest_room(facts, thing.let_go.place[:2]).name
        return came_from == self.room and thing.room is not None and thing.room != self.room

    def partial_progress(self, facts: HouseFacts) -> float:
        """The progress of a throw, and 0.2 more for carrying the object to a doorway."""
        remaining = distance_to_doorway(facts, self.room, facts.bodies[self.solver].position)
        return self.potential(facts, THROW_WEIGHTS, fraction_covered(self.baseline["doorway"], remaining, AT_DOORWAY_M))

    def measure(self, facts: HouseFacts) -> Mapping[str, float]:
        return {**super().measure(facts), "doorway": distance_to_doorway(facts, self.room, self.thing(facts).xy)}

    def is_plausible_target(self, thing: Thing, facts: HouseFacts) -> bool:
        return super().is_plausible_target(thing, facts) and thing.room == self.room


@task_kind("throw", Throw, THROW_WORDINGS, probe_steps=60)
def throw_kind(context: TaskContext, rng: np.random.Generator) -> Throw:
    """Draws an object to throw."""
    target = context.sample_one(_throwable_objects(context), rng, "no loose thing can be named")
    text = context.phrase(THROW_WORDINGS, rng, thing=target)
    return Throw(kind=context.kind, instruction=text, solver=context.solver, target=target.index)


@task_kind("throw_out", ThrowOut, THROW_OUT_WORDINGS, probe_steps=80)
def throw_out_kind(context: TaskContext, rng: np.random.Generator) -> ThrowOut:
    """Draws an object to throw out of its room."""
    facts = context.facts
    objects = [
        thing
        for thing in _throwable_objects(context)
        if thing.room and doorway_exits(facts, context.solver, thing.room)
    ]
    target = context.sample_one(objects, rng, "no loose thing that can be named is in a room with a doorway")
    assert target.room is not None
    room_kind = next(room.kind for room in facts.rooms if room.name == target.room)
    text = context.phrase(THROW_OUT_WORDINGS, rng, thing=target, room=room_kind)
    return ThrowOut(kind=context.kind, instruction=text, solver=context.solver, target=target.index, room=target.room)


def distance_to_doorway(facts: HouseFacts, room: str, point: XY) -> float:
    """Returns the meters from a point to the nearest doorway of a room that has one."""
    return min(math.dist(point, door.middle) for door in facts.doorways if room in door.rooms)


def _throwable_objects(context: TaskContext) -> Sequence[Thing]:
    context.require_movement("throw")
    context.require_contact_log()
    return context.nameable_objects()
