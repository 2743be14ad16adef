"""Lift a bin with everything in it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from interplay.env.playhouse.house.catalog import BIN
from interplay.env.playhouse.language.templates import fill_template
from interplay.env.playhouse.tasks.context import TaskContext
from interplay.env.playhouse.tasks.instructions.lift import Lift
from interplay.env.playhouse.tasks.sampling import sample_one
from interplay.env.playhouse.tasks.task_kind import TaskKind
from interplay.env.playhouse.truth import predicates
from interplay.env.playhouse.truth.facts import HouseFacts, Thing

WORDINGS = (
    "lift the {thing} with all that is in it", "pick up the {thing} and keep everything inside",
    "raise the {thing} without spilling anything", "lift the {thing} and what is in it",
    "hold up the {thing} with its contents", "could you lift the full {thing}?",
)  # fmt: skip


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
    full = [
        (thing, inside)
        for thing in context.nameable_objects()
        if thing.category == BIN and (inside := predicates.contents(context.facts, thing))
    ]
    thing, inside = sample_one(full, rng, "lift_container", "no container that can be named has something in it")
    return LiftContainer(
        kind="lift_container",
        instruction=fill_template(WORDINGS, rng, thing=context.name(thing, rng)),
        solver=context.solver,
        target=thing.index,
        contents=tuple(other.index for other in inside),
    )


KIND = TaskKind(name="lift_container", task=LiftContainer, sample=sample_lift_container, wordings=WORDINGS)
