"""Go to a thing."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from interplay.env.playhouse.tasks.context import TaskContext
from interplay.env.playhouse.tasks.instructions.object_instruction import ObjectInstruction
from interplay.env.playhouse.tasks.sampling import one_of
from interplay.env.playhouse.truth import predicates
from interplay.env.playhouse.truth.facts import HouseFacts

NEAR = 1.2  # meters from the footprint's edge within which one has gone to a thing
FACING = math.radians(30)  # off the thing's middle, when one has gone to it


@dataclass(frozen=True)
class Go(ObjectInstruction):
    """Walk up to a thing and face it."""

    def fulfilled(self, facts: HouseFacts) -> bool:
        body, thing = facts.bodies[self.solver], self.thing(facts)
        return (
            predicates.same_room(body.room, thing.room)
            and predicates.edge_distance(body.position, thing) <= NEAR
            and predicates.in_front(body, thing.xy, FACING)
        )

    def progress(self, facts: HouseFacts) -> float:
        """What a rater sees: 0.4 for turning to it, 0.4 for the way with it in view; 1 once done."""
        if self.fulfilled(facts):
            return 1.0
        return self.looks(facts) * (0.4 + 0.4 * self.nearness(facts, NEAR))


def draw_go(asking: TaskContext, rng: np.random.Generator) -> Go:
    far = [thing for thing in asking.nameable() if asking.walk(thing) > NEAR]
    target = one_of(far, rng, "go", "every thing that can be named is near the solver")
    words = asking.word("go", rng, thing=asking.call(target, rng))
    return Go("go", words, asking.solver, target.index, asking.walk(target))
