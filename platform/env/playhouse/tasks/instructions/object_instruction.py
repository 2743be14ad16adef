"""Base of instructions about one object: looking at it, walking to it, and mistaking another object for it."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from interplay.env.playhouse.tasks.playhouse_task import PlayhouseTask, Potential, fraction_covered, ramp_down
from interplay.env.playhouse.truth import predicates
from interplay.env.playhouse.truth.facts import HouseFacts, Thing

GRASP_DISTANCE_M = 1.0  # from an object's edge, where approaching it ends
# Angle off the object's middle up to which the solver fully looks at it, and from which it does not look at it at all.
YAW_RANGE_RAD = (math.radians(10), math.radians(40))
PITCH_RANGE_RAD = (math.radians(25), math.radians(40))


@dataclass(frozen=True, kw_only=True)
class ObjectInstruction(PlayhouseTask):
    """An instruction about one thing. Baseline `walk`: meters from the solver to it."""

    target: int  # index of the thing

    @abstractmethod
    def is_done(self, facts: HouseFacts) -> bool:
        """Tests whether the instruction is carried out at this moment."""

    def thing(self, facts: HouseFacts) -> Thing:
        """Returns the target."""
        return facts.things[self.target]

    def measure(self, facts: HouseFacts) -> Mapping[str, float]:
        return {"walk": self._walk(facts, self.thing(facts))}

    def potential(self, facts: HouseFacts, weights: Potential, carried: float = 0.0) -> float:
        """Evaluates weights for fetching the target and carrying it; `carried`: fraction of the way it has been."""
        return weights(
            looking=self.looking(facts),
            nearness=self.nearness(facts, GRASP_DISTANCE_M),
            held=self.thing(facts).held_by == self.solver,
            carried=carried,
        )

    def nearness(self, facts: HouseFacts, goal: float) -> float:
        """Returns the fraction of the way to the target, up to `goal` meters from it, that the solver has covered."""
        return fraction_covered(self.baseline["walk"], self._walk(facts, self.thing(facts)), goal)

    def looking(self, facts: HouseFacts) -> float:
        """Returns how far the solver has turned to the target: 1 in the middle of its view, 0 outside its view or in
        another room."""
        body, thing = facts.bodies[self.solver], self.thing(facts)
        if not predicates.same_room(body.room, thing.room):
            return 0.0
        yaw, pitch = abs(predicates.bearing(body, thing.xy)), abs(predicates.elevation(body, thing) - body.pitch)
        return ramp_down(yaw, YAW_RANGE_RAD) * ramp_down(pitch, PITCH_RANGE_RAD)

    def misreading(self, facts: HouseFacts, rng: np.random.Generator) -> PlayhouseTask | None:
        loose = [thing for thing in facts.things if not thing.furniture and self.is_plausible_target(thing, facts)]
        other = _similar_thing(self.thing(facts), loose, rng)
        return None if other is None else self.with_target(other, facts)

    def is_plausible_target(self, thing: Thing, facts: HouseFacts) -> bool:
        """Tests whether a solver that misunderstood could take this thing for the target."""
        return thing.index != self.target and thing.held_by is None

    def with_target(self, thing: Thing, facts: HouseFacts) -> Self:
        """Returns the same instruction about another thing, still without its baseline."""
        return replace(self, target=thing.index)

    def _walk(self, facts: HouseFacts, thing: Thing) -> float:
        return predicates.walking_distance(facts, facts.bodies[self.solver].position, thing)


def _similar_thing(target: Thing, things: Sequence[Thing], rng: np.random.Generator) -> Thing | None:
    """Draws one of the things, if possible one of the target's color or category; None if there are none."""
    if not things:
        return None
    similar = [thing for thing in things if thing.color == target.color or thing.category == target.category]
    choices = similar or things
    return choices[int(rng.integers(len(choices)))]
