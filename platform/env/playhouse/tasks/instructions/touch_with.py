"""Touch one thing with another."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from interplay.env.playhouse.language.templates import PHRASES
from interplay.env.playhouse.tasks.context import TaskContext
from interplay.env.playhouse.tasks.instructions.use_tool import UseTool, draw_wield
from interplay.env.playhouse.truth import predicates
from interplay.env.playhouse.truth.facts import HouseFacts, Thing

PHRASES["touch_with"] = (
    "touch the {thing} with the {tool}",
    "take the {tool} and touch the {thing} with it",
    "use the {tool} to touch the {thing}",
    "tap the {thing} with the {tool}",
    "hold the {tool} against the {thing}",
    "let the {tool} touch the {thing}",
)


@dataclass(frozen=True)
class TouchWith(UseTool):
    """Hold one thing against another, loose or furniture, if only for a moment."""

    def fulfilled(self, facts: HouseFacts) -> bool:
        return predicates.touched(facts, self.other, self.target, self.solver, self.asked)

    def begun(self, facts: HouseFacts) -> float:
        return 0.0

    def may_suffer(self, thing: Thing, facts: HouseFacts) -> bool:
        return True


def draw_touch_with(asking: TaskContext, rng: np.random.Generator) -> TouchWith:
    return draw_wield(TouchWith, "touch_with", asking.told_apart(), asking, rng)
