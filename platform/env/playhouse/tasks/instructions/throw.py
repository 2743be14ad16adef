"""Throw an object, anywhere or out of its room."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from interplay.env.playhouse.language.templates import fill_template
from interplay.env.playhouse.planning.exits import doorway_exits
from interplay.env.playhouse.tasks.context import TaskContext
from interplay.env.playhouse.tasks.instructions.object_instruction import ObjectInstruction
from interplay.env.playhouse.tasks.potential import Potential, fraction_covered
from interplay.env.playhouse.tasks.sampling import sample_one
from interplay.env.playhouse.tasks.task_kind import TaskKind
from interplay.env.playhouse.truth import predicates
from interplay.env.playhouse.truth.facts import XY, HouseFacts, Thing

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
WEIGHTS = Potential(look=0.1, approach=0.2, hold=0.6, carry=0.2)  # `carry` only for throwing out


@dataclass(frozen=True, kw_only=True)
class Throw(ObjectInstruction):
    """Take an object and throw it. Baseline `since`: world time in seconds from which throws count."""

    @property
    def since(self) -> float:
        """World time in seconds from which throws count."""
        return self.baseline["since"]

    def is_done(self, facts: HouseFacts) -> bool:
        return predicates.thrown(facts, self.target, self.solver, self.since)

    def partial_progress(self, facts: HouseFacts) -> float:
        """0.1 for turning to it, 0.2 for the way with it in view; 0.6 for holding it, and 1 once it is thrown."""
        return self.potential(facts, WEIGHTS)

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
        return self.potential(facts, WEIGHTS, fraction_covered(self.baseline["doorway"], remaining, AT_DOORWAY_M))

    def measure(self, facts: HouseFacts) -> Mapping[str, float]:
        return {**super().measure(facts), "doorway": distance_to_doorway(facts, self.room, self.thing(facts).xy)}

    def is_plausible_target(self, thing: Thing, facts: HouseFacts) -> bool:
        return super().is_plausible_target(thing, facts) and thing.room == self.room


def sample_throw(context: TaskContext, rng: np.random.Generator) -> Throw:
    """Draws an object to throw."""
    target = sample_one(_throwable_objects(context, "throw"), rng, "throw", "no loose thing can be named")
    text = fill_template(THROW_WORDINGS, rng, thing=context.name(target, rng))
    return Throw(kind="throw", instruction=text, solver=context.solver, target=target.index)


def sample_throw_out(context: TaskContext, rng: np.random.Generator) -> ThrowOut:
    """Draws an object to throw out of its room."""
    facts = context.facts
    objects = [
        thing
        for thing in _throwable_objects(context, "throw_out")
        if thing.room and doorway_exits(facts, context.solver, thing.room)
    ]
    reason = "no loose thing that can be named is in a room with a doorway"
    target = sample_one(objects, rng, "throw_out", reason)
    assert target.room is not None
    room_kind = next(room.kind for room in facts.rooms if room.name == target.room)
    text = fill_template(THROW_OUT_WORDINGS, rng, thing=context.name(target, rng), room=room_kind)
    return ThrowOut(kind="throw_out", instruction=text, solver=context.solver, target=target.index, room=target.room)


def distance_to_doorway(facts: HouseFacts, room: str, point: XY) -> float:
    """Returns the meters from a point to the nearest doorway of a room that has one."""
    return min(math.dist(point, door.middle) for door in facts.doorways if room in door.rooms)


def _throwable_objects(context: TaskContext, kind: str) -> Sequence[Thing]:
    context.require_movement(kind, "throw")
    context.require_contact_log(kind)
    return context.nameable_objects()


THROW_KIND = TaskKind(name="throw", task=Throw, sample=sample_throw, wordings=THROW_WORDINGS, probe_steps=60)
THROW_OUT_KIND = TaskKind(
    name="throw_out", task=ThrowOut, sample=sample_throw_out, wordings=THROW_OUT_WORDINGS, probe_steps=80
)
KINDS = (THROW_KIND, THROW_OUT_KIND)
