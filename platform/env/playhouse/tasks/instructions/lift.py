"""Lift an object, or a bin with everything in it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from interplay.env.playhouse.house.catalog import BIN
from interplay.env.playhouse.language.templates import fill_template
from interplay.env.playhouse.tasks.context import TaskContext
from interplay.env.playhouse.tasks.instructions.object_instruction import GRASP_DISTANCE_M, ObjectInstruction
from interplay.env.playhouse.tasks.potential import Potential
from interplay.env.playhouse.tasks.sampling import sample_one
from interplay.env.playhouse.tasks.task_kind import TaskKind
from interplay.env.playhouse.truth import predicates
from interplay.env.playhouse.truth.facts import HouseFacts, Thing

RAISED_M = 0.25  # above where the object rested; less may be a nudge
WEIGHTS = Potential(look=0.2, approach=0.2, hold=0.6, carry=0.4)
AIM_WEIGHT = 0.1
FEW_LIFT_WORDINGS = ("lift the {thing}", "pick up the {thing}", "raise the {thing}")
LIFT_WORDINGS = (
    *FEW_LIFT_WORDINGS, "lift up the {thing}", "take the {thing} in your hand", "find the {thing} and lift it",
    "hold up the {thing}",
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
    text = context.phrase(FEW_LIFT_WORDINGS, LIFT_WORDINGS, rng, thing=context.name(target, rng))
    return Lift(kind="lift", instruction=text, solver=context.solver, target=target.index)


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


def sample_lift_container(context: TaskContext, rng: np.random.Generator) -> LiftContainer:
    """Draws a bin that is not empty."""
    facts = context.facts
    full = [t for t in context.nameable_objects() if t.category == BIN and predicates.contents(facts, t)]
    thing = sample_one(full, rng, "lift_container", "no container that can be named has something in it")
    text = fill_template(LIFT_CONTAINER_WORDINGS, rng, thing=context.name(thing, rng))
    contents = tuple(other.index for other in predicates.contents(facts, thing))
    kind, solver = "lift_container", context.solver
    return LiftContainer(kind=kind, instruction=text, solver=solver, target=thing.index, contents=contents)


LIFT_KIND = TaskKind(name="lift", task=Lift, sample=sample_lift, wordings=LIFT_WORDINGS, usual=True)
LIFT_CONTAINER_KIND = TaskKind(
    name="lift_container", task=LiftContainer, sample=sample_lift_container, wordings=LIFT_CONTAINER_WORDINGS
)
