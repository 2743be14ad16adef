"""Push an object with the body; or take one object and use it on another thing: touch, hit or push that with it.

A tool is the target of its task; `other` is the thing it is used on."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from interplay.env.playhouse.planning.ways_ahead import PUSH_RUN_UP_M, TOOL_RUN_UP_M, best_push_path, striking_spots
from interplay.env.playhouse.tasks.context import TaskContext
from interplay.env.playhouse.tasks.instructions.object_instruction import ObjectInstruction
from interplay.env.playhouse.tasks.playhouse_task import PlayhouseTask, Potential, TaskKind, fraction_covered, task_kind
from interplay.env.playhouse.truth import predicates
from interplay.env.playhouse.truth.facts import HouseFacts, Thing

PUSH_WORDINGS = (
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
        return predicates.pushed_by(facts, self.target, self.solver, self.since)

    def partial_progress(self, facts: HouseFacts) -> float:
        """0.1 for turning to it, 0.4 for the way (the solver may have to walk round it, out of view); 0.5 for touching
        it, and up to 1 for how far it is pushed."""
        event = self.thing(facts).pushed
        pushed = 0.0
        if event is not None and event.role == self.solver and event.time >= self.since:
            pushed = min(predicates.pushed_distance(facts, self.target, event) / predicates.MIN_PUSH_DISTANCE_M, 0.99)
        near = LOOK_WEIGHT * self.looking(facts) + APPROACH_WEIGHT * self.nearness(facts, AT_OBJECT_M)
        return max(near, PUSH_WEIGHT + PUSH_WEIGHT * pushed if pushed else 0.0)

    def measure(self, facts: HouseFacts) -> Mapping[str, float]:
        return {**super().measure(facts), "since": facts.time}

    def is_plausible_target(self, thing: Thing, facts: HouseFacts) -> bool:
        return super().is_plausible_target(thing, facts) and is_pushable(thing, facts, self.solver, PUSH_RUN_UP_M)


@task_kind("push", Push, PUSH_WORDINGS, probe_steps=60)
def push_kind(context: TaskContext, rng: np.random.Generator) -> Push:
    """Draws an object on the floor with a clear way before it."""
    context.require_contact_log()
    objects = [t for t in context.nameable_objects() if is_pushable(t, context.facts, context.solver, PUSH_RUN_UP_M)]
    reason = "no thing that can be named lies on the floor with a clear way before it"
    target = context.sample_one(objects, rng, reason)
    text = context.phrase(PUSH_WORDINGS, rng, thing=target)
    return Push(kind=context.kind, instruction=text, solver=context.solver, target=target.index)


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


MIN_GAP_M = 0.5  # from edge to edge, between a tool and the thing it is to be used on
AT_OTHER_M = 0.2  # from edge to edge, where the tool has been brought to the other thing
MAX_HEIGHT_M = 1.2  # of the underside of a thing within reach of a hand, above the floor
WEIGHTS = Potential(look=0.1, approach=0.1, hold=0.4, carry=0.3)
USE_WEIGHTS = (0.7, 0.29)  # once the use has begun: at its begin, and for how far it has come
TOUCH_WITH_WORDINGS = (
    "touch the {thing} with the {tool}", "take the {tool} and touch the {thing} with it",
    "use the {tool} to touch the {thing}", "tap the {thing} with the {tool}", "hold the {tool} against the {thing}",
    "let the {tool} touch the {thing}",
)  # fmt: skip
HIT_WORDINGS = (
    "hit the {thing} with the {tool}", "take the {tool} and hit the {thing} with it",
    "use the {tool} to hit the {thing}", "strike the {thing} with the {tool}", "knock the {tool} against the {thing}",
    "bang the {tool} into the {thing}",
)  # fmt: skip
TOUCH_WEIGHT = 0.5  # of a touch that was too slow to be a hit
PUSH_WITH_WORDINGS = (
    "push the {thing} with the {tool}", "take the {tool} and push the {thing} with it",
    "use the {tool} to push the {thing}", "shove the {thing} with the {tool}",
    "move the {thing} by pushing it with the {tool}", "push against the {thing} with the {tool}",
)  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class UseTool(ObjectInstruction):
    """Take an object and use it on another thing.

    Baseline `carry`: meters between the two, edge to edge; `since`: world time in seconds from which contacts count.
    """

    other: int  # index of the thing that the tool is used on

    @abstractmethod
    def is_plausible_object(self, thing: Thing, facts: HouseFacts) -> bool:
        """Tests whether the tool can be used on this thing."""

    @abstractmethod
    def begun(self, facts: HouseFacts) -> float:
        """Returns the fraction in [0, 1] of the use itself that is done."""

    def partial_progress(self, facts: HouseFacts) -> float:
        """0.1 for turning to the tool, 0.1 for the way with it in view; 0.4 for holding it, 0.3 for bringing it to the
        other thing, the rest for its use."""
        used = USE_WEIGHTS[0] + USE_WEIGHTS[1] * self.begun(facts) if self.begun(facts) else 0.0
        remaining = predicates.walking_distance(facts, self.thing(facts).xy, facts.things[self.other])
        carried = fraction_covered(self.baseline["carry"], remaining, AT_OTHER_M)
        return max(used, self.potential(facts, WEIGHTS, carried))

    def measure(self, facts: HouseFacts) -> Mapping[str, float]:
        carry = predicates.walking_distance(facts, self.thing(facts).xy, facts.things[self.other])
        return {**super().measure(facts), "carry": carry, "since": facts.time}

    def misreading(self, facts: HouseFacts, rng: np.random.Generator) -> PlayhouseTask | None:
        """Another tool, or another thing that the tool is used on."""
        if rng.random() < 0.5:
            for index in rng.permutation(len(facts.things)).tolist():
                thing, reading = facts.things[index], replace(self, other=index)
                usable = index != self.other and can_use(self.thing(facts), thing, facts)
                if usable and reading.is_plausible_object(thing, facts):
                    return reading
        return super().misreading(facts, rng)

    def is_plausible_target(self, thing: Thing, facts: HouseFacts) -> bool:
        other = facts.things[self.other]
        plausible = super().is_plausible_target(thing, facts) and can_use(thing, other, facts)
        return plausible and self.is_plausible_object(other, facts)


def can_use(tool: Thing, other: Thing, facts: HouseFacts) -> bool:
    """Tests whether a tool can be used on a thing: the two are apart, in no bin, and the thing is within reach."""
    if other.index == tool.index or other.held_by is not None or predicates.bottom(other) > MAX_HEIGHT_M:
        return False
    in_bin = any(predicates.inside(thing, box) for thing in (tool, other) for box in facts.things)
    return not in_bin and (not predicates.same_room(tool.room, other.room) or predicates.gap(tool, other) >= MIN_GAP_M)


@dataclass(frozen=True, kw_only=True)
class TouchWith(UseTool):
    """Hold an object against a thing, loose or furniture, if only for a moment."""

    def is_done(self, facts: HouseFacts) -> bool:
        return predicates.touched(facts, self.other, self.target, self.solver, self.since)

    def begun(self, facts: HouseFacts) -> float:
        return 0.0

    def is_plausible_object(self, thing: Thing, facts: HouseFacts) -> bool:
        return True


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


@dataclass(frozen=True, kw_only=True)
class PushWith(UseTool):
    """Push a loose object along the floor with another one that is held."""

    def is_done(self, facts: HouseFacts) -> bool:
        return predicates.pushed_with(facts, self.other, self.target, self.solver, self.since)

    def begun(self, facts: HouseFacts) -> float:
        """Returns how far the object has been pushed, 1 at `predicates.MIN_PUSH_DISTANCE_M`."""
        if not predicates.touched(facts, self.other, self.target, self.solver, self.since):
            return 0.0
        pushed = predicates.pushed_distance(facts, self.other, facts.things[self.other].touched)
        return min(pushed / predicates.MIN_PUSH_DISTANCE_M, 1.0)

    def is_plausible_object(self, thing: Thing, facts: HouseFacts) -> bool:
        return not thing.furniture and is_pushable(thing, facts, self.solver, TOOL_RUN_UP_M, self.target)


def _kind(
    name: str, task: type[UseTool], wordings: tuple[str, ...], probe_steps: int, *, loose_only: bool = False
) -> TaskKind:
    """Returns the kind of one use; `loose_only`: of tools on loose objects, not on furniture."""

    @task_kind(name, task, wordings, probe_steps=probe_steps)
    def sample(context: TaskContext, rng: np.random.Generator) -> UseTool:
        context.require_contact_log()
        facts, others = context.facts, context.nameable_objects() if loose_only else context.nameable_things()
        pairs = [
            (tool, other) for tool in context.nameable_objects() for other in others if can_use(tool, other, facts)
        ]
        for tool, other in [pairs[i] for i in rng.permutation(len(pairs))]:
            found = task(kind=name, instruction="", solver=context.solver, target=tool.index, other=other.index)
            if found.is_plausible_object(other, facts):
                return replace(found, instruction=context.phrase(wordings, rng, thing=other, tool=tool))
        raise context.refusal("there are no two things apart that can be named, with a way to do it")

    return sample


TOOL_KINDS = (
    _kind("push_with", PushWith, PUSH_WITH_WORDINGS, 80, loose_only=True),
    _kind("touch_with", TouchWith, TOUCH_WITH_WORDINGS, 80),
    _kind("hit", Hit, HIT_WORDINGS, 100),
)
