"""Hit one thing with another."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from interplay.env.playhouse.language.templates import PHRASES
from interplay.env.playhouse.planning.strikes import striking_spots
from interplay.env.playhouse.tasks.context import TaskContext
from interplay.env.playhouse.tasks.instructions.use_tool import UseTool, draw_wield
from interplay.env.playhouse.truth import predicates
from interplay.env.playhouse.truth.facts import HouseFacts, Thing

PHRASES["hit"] = (
    "hit the {thing} with the {tool}",
    "take the {tool} and hit the {thing} with it",
    "use the {tool} to hit the {thing}",
    "strike the {thing} with the {tool}",
    "knock the {tool} against the {thing}",
    "bang the {tool} into the {thing}",
)


@dataclass(frozen=True)
class Hit(UseTool):
    """Strike one thing, loose or furniture, with another, faster than to touch it."""

    def fulfilled(self, facts: HouseFacts) -> bool:
        return predicates.hit(facts, self.other, self.target, self.solver, self.asked)

    def begun(self, facts: HouseFacts) -> float:
        """A touch that was too slow is half of it."""
        return 0.5 * predicates.touched(facts, self.other, self.target, self.solver, self.asked)

    def may_suffer(self, thing: Thing, facts: HouseFacts) -> bool:
        """One has to get at it from somewhere."""
        return bool(striking_spots(facts, self.solver, self.thing(facts), thing))


def draw_hit(asking: TaskContext, rng: np.random.Generator) -> Hit:
    return draw_wield(Hit, "hit", asking.told_apart(), asking, rng)
