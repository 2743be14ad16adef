"""Lift a thing."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from interplay.env.playhouse.tasks.context import TaskContext
from interplay.env.playhouse.tasks.instructions.object_instruction import WITHIN_GRASP, ObjectInstruction
from interplay.env.playhouse.tasks.sampling import one_of
from interplay.env.playhouse.truth.facts import HouseFacts, Thing

RAISED = 0.25  # meters above where it rested, for a thing to be lifted


@dataclass(frozen=True)
class Lift(ObjectInstruction):
    """Grasp a thing and raise it."""

    rest_height: float  # of the thing's middle, when asked

    def fulfilled(self, facts: HouseFacts) -> bool:
        thing = self.thing(facts)
        return thing.held_by == self.solver and thing.position[2] - self.rest_height >= RAISED

    def progress(self, facts: HouseFacts) -> float:
        """0.2 for turning to it, 0.2 for the way with it in view, 0.1 for aiming at it from near; 0.6 for holding it,
        and 0.4 for raising it."""
        thing = self.thing(facts)
        if thing.held_by == self.solver:
            return 0.6 + 0.4 * float(np.clip((thing.position[2] - self.rest_height) / RAISED, 0.0, 1.0))
        near = self.nearness(facts, WITHIN_GRASP)
        aims = facts.bodies[self.solver].looking_at == self.target
        return self.looks(facts) * (0.2 + 0.2 * near) + 0.1 * near * aims

    def meaning(self, thing: Thing, facts: HouseFacts) -> Self:
        return replace(super().meaning(thing, facts), rest_height=thing.position[2])


def draw_lift(asking: TaskContext, rng: np.random.Generator) -> Lift:
    target = one_of(asking.nameable(), rng, "lift", "no loose thing can be named")
    words = asking.word("lift", rng, thing=asking.call(target, rng))
    return Lift("lift", words, asking.solver, target.index, asking.walk(target), target.position[2])
