"""Lift an object."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from interplay.env.playhouse.tasks.context import TaskContext
from interplay.env.playhouse.tasks.instructions.object_instruction import GRASP_DISTANCE_M, ObjectInstruction
from interplay.env.playhouse.tasks.potential import Potential
from interplay.env.playhouse.tasks.sampling import sample_one
from interplay.env.playhouse.tasks.task_kind import TaskKind
from interplay.env.playhouse.truth.facts import HouseFacts

RAISED_M = 0.25  # above where the object rested; less may be a nudge
WEIGHTS = Potential(look=0.2, approach=0.2, hold=0.6, carry=0.4)
AIM_WEIGHT = 0.1

FEW_WORDINGS = ("lift the {thing}", "pick up the {thing}", "raise the {thing}")
WORDINGS = (
    *FEW_WORDINGS, "lift up the {thing}", "take the {thing} in your hand", "find the {thing} and lift it",
    "hold up the {thing}",
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
            return self.potential(facts, WEIGHTS, float(np.clip(self._raised(facts) / RAISED_M, 0.0, 1.0)))
        aims = facts.bodies[self.solver].looking_at == self.target
        return self.potential(facts, WEIGHTS) + AIM_WEIGHT * self.nearness(facts, GRASP_DISTANCE_M) * aims

    def measure(self, facts: HouseFacts) -> Mapping[str, float]:
        return {**super().measure(facts), "height": self.thing(facts).position[2]}

    def _raised(self, facts: HouseFacts) -> float:
        return self.thing(facts).position[2] - self.baseline["height"]


def sample_lift(context: TaskContext, rng: np.random.Generator) -> Lift:
    """Draws an instruction to lift one of the nameable objects."""
    target = sample_one(context.nameable_objects(), rng, "lift", "no loose thing can be named")
    text = context.phrase(FEW_WORDINGS, WORDINGS, rng, thing=context.name(target, rng))
    return Lift(kind="lift", instruction=text, solver=context.solver, target=target.index)


KIND = TaskKind(name="lift", task=Lift, sample=sample_lift, wordings=WORDINGS, usual=True)
