"""Touch one thing with another."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from interplay.env.playhouse.tasks.context import TaskContext
from interplay.env.playhouse.tasks.instructions.use_tool import UseTool, sample_use_tool
from interplay.env.playhouse.tasks.task_kind import TaskKind
from interplay.env.playhouse.truth import predicates
from interplay.env.playhouse.truth.facts import HouseFacts, Thing

WORDINGS = (
    "touch the {thing} with the {tool}", "take the {tool} and touch the {thing} with it",
    "use the {tool} to touch the {thing}", "tap the {thing} with the {tool}", "hold the {tool} against the {thing}",
    "let the {tool} touch the {thing}",
)  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class TouchWith(UseTool):
    """Hold an object against a thing, loose or furniture, if only for a moment."""

    def is_done(self, facts: HouseFacts) -> bool:
        return predicates.touched(facts, self.other, self.target, self.solver, self.since)

    def begun(self, facts: HouseFacts) -> float:
        return 0.0

    def is_plausible_object(self, thing: Thing, facts: HouseFacts) -> bool:
        return True


def sample_touch_with(context: TaskContext, rng: np.random.Generator) -> TouchWith:
    """Draws an object and the thing to touch with it."""
    return sample_use_tool(TouchWith, "touch_with", WORDINGS, context.nameable_things(), context, rng)


KIND = TaskKind(name="touch_with", task=TouchWith, sample=sample_touch_with, wordings=WORDINGS, probe_steps=80)
