"""Push one thing with another."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from interplay.env.playhouse.language.templates import PHRASES
from interplay.env.playhouse.planning.pushes import TOOL_RUN_UP_M
from interplay.env.playhouse.tasks.context import TaskContext
from interplay.env.playhouse.tasks.instructions.push import pushable
from interplay.env.playhouse.tasks.instructions.use_tool import UseTool, draw_wield
from interplay.env.playhouse.truth import predicates
from interplay.env.playhouse.truth.facts import HouseFacts, Thing
from interplay.env.playhouse.truth.predicates.contact_events import SHOVED

PHRASES["push_with"] = (
    "push the {thing} with the {tool}",
    "take the {tool} and push the {thing} with it",
    "use the {tool} to push the {thing}",
    "shove the {thing} with the {tool}",
    "move the {thing} by pushing it with the {tool}",
    "push against the {thing} with the {tool}",
)


@dataclass(frozen=True)
class PushWith(UseTool):
    """Push one loose thing along the floor with another that is held."""

    def fulfilled(self, facts: HouseFacts) -> bool:
        return predicates.pushed_with(facts, self.other, self.target, self.solver, self.asked)

    def begun(self, facts: HouseFacts) -> float:
        """How far it has been pushed."""
        if not predicates.touched(facts, self.other, self.target, self.solver, self.asked):
            return 0.0
        return min(predicates.driven(facts, self.other, facts.things[self.other].touched) / SHOVED, 1.0)

    def may_suffer(self, thing: Thing, facts: HouseFacts) -> bool:
        return not thing.furniture and pushable(thing, facts, self.solver, TOOL_RUN_UP_M, self.target)


def draw_push_with(asking: TaskContext, rng: np.random.Generator) -> PushWith:
    return draw_wield(PushWith, "push_with", asking.nameable(), asking, rng)
