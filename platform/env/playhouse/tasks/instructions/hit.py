"""Hit one thing with another."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from interplay.env.playhouse.planning.strikes import striking_spots
from interplay.env.playhouse.tasks.context import TaskContext
from interplay.env.playhouse.tasks.instructions.use_tool import UseTool, sample_use_tool
from interplay.env.playhouse.tasks.task_kind import TaskKind
from interplay.env.playhouse.truth import predicates
from interplay.env.playhouse.truth.facts import HouseFacts, Thing

WORDINGS = (
    "hit the {thing} with the {tool}", "take the {tool} and hit the {thing} with it",
    "use the {tool} to hit the {thing}", "strike the {thing} with the {tool}", "knock the {tool} against the {thing}",
    "bang the {tool} into the {thing}",
)  # fmt: skip
TOUCH_WEIGHT = 0.5  # of a touch that was too slow to be a hit


@dataclass(frozen=True, kw_only=True)
class Hit(UseTool):
    """Strike a thing, loose or furniture, with an object, faster than to touch it."""

    def is_done(self, facts: HouseFacts) -> bool:
        return predicates.hit(facts, self.other, self.target, self.solver, self.since)

    def begun(self, facts: HouseFacts) -> float:
        return TOUCH_WEIGHT * predicates.touched(facts, self.other, self.target, self.solver, self.since)

    def is_plausible_object(self, thing: Thing, facts: HouseFacts) -> bool:
        """Tests whether there is a spot from which the solver can strike it."""
        return bool(striking_spots(facts, self.solver, self.thing(facts), thing))


def sample_hit(context: TaskContext, rng: np.random.Generator) -> Hit:
    """Draws an object and the thing to hit with it."""
    return sample_use_tool(Hit, "hit", WORDINGS, context.nameable_things(), context, rng)


KIND = TaskKind(name="hit", task=Hit, sample=sample_hit, wordings=WORDINGS, probe_steps=100)
