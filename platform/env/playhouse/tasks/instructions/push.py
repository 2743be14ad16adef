"""Push a thing, with the body."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from interplay.env.playhouse.language.templates import PHRASES, phrase
from interplay.env.playhouse.planning.pushes import PUSH_RUN_UP_M, best_push_path
from interplay.env.playhouse.tasks.context import TaskContext
from interplay.env.playhouse.tasks.instructions.object_instruction import ObjectInstruction
from interplay.env.playhouse.tasks.sampling import one_of
from interplay.env.playhouse.truth import predicates
from interplay.env.playhouse.truth.facts import HouseFacts, Thing
from interplay.env.playhouse.truth.predicates.contact_events import SHOVED

PHRASES["push"] = (
    "push the {thing}",
    "push the {thing} with your body",
    "walk into the {thing} and push it",
    "shove the {thing}",
    "give the {thing} a push",
    "bump into the {thing} so that it moves",
)
ON_FLOOR = 0.05  # meters above the floor, at most, of the underside of what a body can push
TOUCHED = 0.4  # meters from a thing's edge where walking up to it ends: the body is 0.22 wide


@dataclass(frozen=True)
class Push(ObjectInstruction):
    """Walk into a thing, so that it moves."""

    asked: float  # seconds: when

    def fulfilled(self, facts: HouseFacts) -> bool:
        return predicates.pushed_by(facts, self.target, self.solver, self.asked)

    def progress(self, facts: HouseFacts) -> float:
        """0.1 for turning to it, 0.4 for the way, as one may have to walk round it; 0.5 for touching it, and up to 1
        for how far it is pushed."""
        if self.fulfilled(facts):
            return 1.0
        deed = self.thing(facts).pushed
        moved = 0.0
        if deed is not None and deed.role == self.solver and deed.time >= self.asked:
            moved = min(predicates.driven(facts, self.target, deed) / SHOVED, 0.99)
        near = 0.1 * self.looks(facts) + 0.4 * self.nearness(facts, TOUCHED)
        return max(near, 0.5 + 0.5 * moved if moved else 0.0)

    def may_mistake(self, thing: Thing, facts: HouseFacts) -> bool:
        return super().may_mistake(thing, facts) and pushable(thing, facts, self.solver, PUSH_RUN_UP_M)

    def meaning(self, thing: Thing, facts: HouseFacts) -> Self:
        return replace(super().meaning(thing, facts), asked=facts.time)


def draw_push(asking: TaskContext, rng: np.random.Generator) -> Push:
    asking.needs_memory("push")
    things = [thing for thing in asking.nameable() if pushable(thing, asking.facts, asking.solver, PUSH_RUN_UP_M)]
    target = one_of(things, rng, "push", "no thing that can be named lies on the floor with a clear way before it")
    words = phrase("push", rng, thing=asking.call(target, rng))
    return Push("push", words, asking.solver, target.index, asking.walk(target), asking.facts.time)


def pushable(thing: Thing, facts: HouseFacts, role: str, back: float, held: int | None = None) -> bool:
    """Can a player take a run at a thing from `back` meters off its edge, and push it on along the floor?

    Not what it has just pushed: that push would go on, and a nudge be enough. `held`: what it pushes with, if not
    its body.
    """
    if predicates.just_pushed(facts, thing.index, role, held):
        return False
    low = predicates.bottom(thing) <= ON_FLOOR and thing.room is not None
    within = any(predicates.inside(thing, other) or predicates.under(thing, other) for other in facts.things)
    return low and not within and best_push_path(facts, role, thing, back + thing.radius, held) is not None
