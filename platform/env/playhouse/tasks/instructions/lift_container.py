"""Lift a bin with all that is in it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from interplay.env.playhouse.house.catalog import BIN
from interplay.env.playhouse.language.templates import PHRASES, phrase
from interplay.env.playhouse.tasks.context import TaskContext
from interplay.env.playhouse.tasks.instructions.lift import Lift
from interplay.env.playhouse.tasks.sampling import one_of
from interplay.env.playhouse.truth import predicates
from interplay.env.playhouse.truth.facts import HouseFacts, Thing

PHRASES |= {
    "lift_container": (
        "lift the {thing} with all that is in it",
        "pick up the {thing} and keep everything inside",
        "raise the {thing} without spilling anything",
        "lift the {thing} and what is in it",
        "hold up the {thing} with its contents",
        "could you lift the full {thing}?",
    ),
}


@dataclass(frozen=True)
class LiftContainer(Lift):
    """Grasp a container and raise it, with everything that was in it."""

    contents: tuple[int, ...]  # indices of what was in it when asked

    def fulfilled(self, facts: HouseFacts) -> bool:
        return super().fulfilled(facts) and self._kept(facts) == 1.0

    def progress(self, facts: HouseFacts) -> float:
        """As for lifting, less what has been spilt."""
        return super().progress(facts) * self._kept(facts)

    def _kept(self, facts: HouseFacts) -> float:
        """The share of the contents that is still inside."""
        container = self.thing(facts)
        kept = sum(predicates.inside(facts.things[i], container) for i in self.contents)
        return kept / len(self.contents) if self.contents else 1.0

    def meaning(self, thing: Thing, facts: HouseFacts) -> Self:
        within = tuple(other.index for other in predicates.contents(facts, thing))
        return replace(super().meaning(thing, facts), contents=within)


def draw_lift_container(asking: TaskContext, rng: np.random.Generator) -> LiftContainer:
    full = [
        (thing, within)
        for thing in asking.nameable()
        if thing.category == BIN and (within := predicates.contents(asking.facts, thing))
    ]
    thing, within = one_of(full, rng, "lift_container", "no container that can be named has something in it")
    words = phrase("lift_container", rng, thing=asking.call(thing, rng))
    contents = tuple(other.index for other in within)
    walk, height = asking.walk(thing), thing.position[2]
    return LiftContainer("lift_container", words, asking.solver, thing.index, walk, height, contents)
