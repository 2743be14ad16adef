"""Push one object with another."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from interplay.env.playhouse.planning.pushes import TOOL_RUN_UP_M
from interplay.env.playhouse.tasks.context import TaskContext
from interplay.env.playhouse.tasks.instructions.push import is_pushable
from interplay.env.playhouse.tasks.instructions.use_tool import UseTool, sample_use_tool
from interplay.env.playhouse.tasks.task_kind import TaskKind
from interplay.env.playhouse.truth import predicates
from interplay.env.playhouse.truth.facts import HouseFacts, Thing
from interplay.env.playhouse.truth.predicates.contact_events import MIN_PUSH_DISTANCE_M

WORDINGS = (
    "push the {thing} with the {tool}", "take the {tool} and push the {thing} with it",
    "use the {tool} to push the {thing}", "shove the {thing} with the {tool}",
    "move the {thing} by pushing it with the {tool}", "push against the {thing} with the {tool}",
)  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class PushWith(UseTool):
    """Push a loose object along the floor with another one that is held."""

    def is_done(self, facts: HouseFacts) -> bool:
        return predicates.pushed_with(facts, self.other, self.target, self.solver, self.since)

    def begun(self, facts: HouseFacts) -> float:
        """Returns how far the object has been pushed, 1 at `MIN_PUSH_DISTANCE_M`."""
        if not predicates.touched(facts, self.other, self.target, self.solver, self.since):
            return 0.0
        return min(predicates.driven(facts, self.other, facts.things[self.other].touched) / MIN_PUSH_DISTANCE_M, 1.0)

    def is_plausible_object(self, thing: Thing, facts: HouseFacts) -> bool:
        return not thing.furniture and is_pushable(thing, facts, self.solver, TOOL_RUN_UP_M, self.target)


def sample_push_with(context: TaskContext, rng: np.random.Generator) -> PushWith:
    """Draws an object and another one to push with it."""
    return sample_use_tool(PushWith, "push_with", WORDINGS, context.nameable_objects(), context, rng)


KIND = TaskKind(name="push_with", task=PushWith, sample=sample_push_with, wordings=WORDINGS, probe_steps=80)
