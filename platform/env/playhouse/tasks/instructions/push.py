"""Push an object with the body."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from interplay.env.playhouse.language.templates import fill_template
from interplay.env.playhouse.planning.pushes import PUSH_RUN_UP_M, best_push_path
from interplay.env.playhouse.tasks.context import TaskContext
from interplay.env.playhouse.tasks.instructions.object_instruction import ObjectInstruction
from interplay.env.playhouse.tasks.sampling import sample_one
from interplay.env.playhouse.tasks.task_kind import TaskKind
from interplay.env.playhouse.truth import predicates
from interplay.env.playhouse.truth.facts import HouseFacts, Thing
from interplay.env.playhouse.truth.predicates.contact_events import MIN_PUSH_DISTANCE_M

WORDINGS = (
    "push the {thing}", "push the {thing} with your body", "walk into the {thing} and push it", "shove the {thing}",
    "give the {thing} a push", "bump into the {thing} so that it moves",
)  # fmt: skip
ON_FLOOR_M = 0.05  # above the floor, at most, of the underside of what a body can push
AT_OBJECT_M = 0.4  # from an object's edge, where walking up to it ends: the body is 0.22 wide
LOOK_WEIGHT, APPROACH_WEIGHT, PUSH_WEIGHT = 0.1, 0.4, 0.5


@dataclass(frozen=True, kw_only=True)
class Push(ObjectInstruction):
    """Walk into an object, so that it moves. Baseline `since`: world time in seconds from which pushes count."""

    def is_done(self, facts: HouseFacts) -> bool:
        return predicates.pushed_by(facts, self.target, self.solver, self.baseline["since"])

    def partial_progress(self, facts: HouseFacts) -> float:
        """0.1 for turning to it, 0.4 for the way (the solver may have to walk round it, out of view); 0.5 for touching
        it, and up to 1 for how far it is pushed."""
        event = self.thing(facts).pushed
        pushed = 0.0
        if event is not None and event.role == self.solver and event.time >= self.baseline["since"]:
            pushed = min(predicates.pushed_distance(facts, self.target, event) / MIN_PUSH_DISTANCE_M, 0.99)
        near = LOOK_WEIGHT * self.looking(facts) + APPROACH_WEIGHT * self.nearness(facts, AT_OBJECT_M)
        return max(near, PUSH_WEIGHT + PUSH_WEIGHT * pushed if pushed else 0.0)

    def measure(self, facts: HouseFacts) -> Mapping[str, float]:
        return {**super().measure(facts), "since": facts.time}

    def is_plausible_target(self, thing: Thing, facts: HouseFacts) -> bool:
        return super().is_plausible_target(thing, facts) and is_pushable(thing, facts, self.solver, PUSH_RUN_UP_M)


def sample_push(context: TaskContext, rng: np.random.Generator) -> Push:
    """Draws an object on the floor with a clear way before it."""
    context.require_contact_log("push")
    objects = [t for t in context.nameable_objects() if is_pushable(t, context.facts, context.solver, PUSH_RUN_UP_M)]
    reason = "no thing that can be named lies on the floor with a clear way before it"
    target = sample_one(objects, rng, "push", reason)
    text = fill_template(WORDINGS, rng, thing=context.name(target, rng))
    return Push(kind="push", instruction=text, solver=context.solver, target=target.index)


def is_pushable(thing: Thing, facts: HouseFacts, role: str, back: float, held: int | None = None) -> bool:
    """Tests whether a player can run at an object from `back` meters off its edge and push it along the floor.

    False for an object that it has just pushed: a nudge would be enough to continue that push. `held`: index of the
    object that it pushes with, if not with its body.
    """
    if predicates.just_pushed(facts, thing.index, role, held):
        return False
    on_floor = predicates.bottom(thing) <= ON_FLOOR_M and thing.room is not None
    enclosed = any(predicates.inside(thing, other) or predicates.under(thing, other) for other in facts.things)
    return on_floor and not enclosed and best_push_path(facts, role, thing, back + thing.radius, held) is not None


KIND = TaskKind(name="push", task=Push, sample=sample_push, wordings=WORDINGS, probe_steps=60)
