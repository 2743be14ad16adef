"""Go to a thing."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from interplay.env.playhouse.tasks.context import TaskContext
from interplay.env.playhouse.tasks.instructions.object_instruction import ObjectInstruction
from interplay.env.playhouse.tasks.potential import Potential
from interplay.env.playhouse.tasks.sampling import sample_one
from interplay.env.playhouse.tasks.task_kind import TaskKind
from interplay.env.playhouse.truth import predicates
from interplay.env.playhouse.truth.facts import HouseFacts

NEAR_M = 1.2  # from the footprint's edge
FACING_RAD = math.radians(30)  # off the thing's middle
WEIGHTS = Potential(look=0.4, approach=0.4)

FEW_WORDINGS = ("go to the {thing}", "walk to the {thing}", "go near the {thing}")
WORDINGS = (
    *FEW_WORDINGS, "go and stand near the {thing}", "walk up to the {thing}", "go over to the {thing}",
    "move close to the {thing}", "find the {thing} and go near it",
)  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Go(ObjectInstruction):
    """Walk up to a thing and face it."""

    def is_done(self, facts: HouseFacts) -> bool:
        body, thing = facts.bodies[self.solver], self.thing(facts)
        return (
            predicates.same_room(body.room, thing.room)
            and predicates.edge_distance(body.position, thing) <= NEAR_M
            and predicates.in_front(body, thing.xy, FACING_RAD)
        )

    def partial_progress(self, facts: HouseFacts) -> float:
        """0.4 for turning to it, 0.4 for the way with it in view."""
        return WEIGHTS(looking=self.looking(facts), nearness=self.nearness(facts, NEAR_M), held=False)


def sample_go(context: TaskContext, rng: np.random.Generator) -> Go:
    """Draws an instruction to go to an object that the solver is not near."""
    far = [thing for thing in context.nameable_objects() if context.walking_distance(thing) > NEAR_M]
    target = sample_one(far, rng, "go", "every thing that can be named is near the solver")
    text = context.phrase(FEW_WORDINGS, WORDINGS, rng, thing=context.name(target, rng))
    return Go(kind="go", instruction=text, solver=context.solver, target=target.index)


KIND = TaskKind(name="go", task=Go, sample=sample_go, wordings=WORDINGS, usual=True)
