"""Arrange several things: stack them, lay them out in a shape, gather them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Self

import numpy as np

from interplay.env.playhouse.planning.layouts import ArrangementPlan, plan_gathering, plan_layout
from interplay.env.playhouse.planning.stacks import Stack, plan_stack
from interplay.env.playhouse.tasks.context import TaskContext
from interplay.env.playhouse.tasks.instructions.object_group import ObjectGroup
from interplay.env.playhouse.tasks.instructions.object_instruction import done
from interplay.env.playhouse.tasks.stored_fields import without_unused_cues
from interplay.env.playhouse.truth import predicates
from interplay.env.playhouse.truth.facts import HouseFacts, Thing
from interplay.env.playhouse.truth.formations import SHAPES, Formation, gathered_at
from interplay.env.task import InfeasibleTask, Task
from interplay.env.world import World

NEEDED = ("push", "strafe")  # movements without which nothing is put down precisely
TRIED = 8  # descriptions of things, drawn at random, of which it is seen whether they can be arranged
FAR, AT_IT = 4.0, 1.0  # meters from a thing that is to be moved: as good as not begun, and there
BROUGHT = 1.0  # meters from what a held thing joins, at which it has been brought
CONFUSABLE = {  # what may be taken for what; none of them may make the other
    "tower": ("row", "group"),
    "row": ("triangle", "tower"),
    "ordered row": ("row",),
    "triangle": ("row",),
    "square": ("row", "tower"),
    "circle": ("row", "tower"),
    "group": (),
}


@dataclass(frozen=True)
class Arrangement(Task):
    """Bring several things into a shape."""

    kind: str
    instruction: str
    solver: str  # the role that was asked
    shape: str  # a key of SHAPES
    among: tuple[int, ...]  # the indices of the Things that may be used
    count: int  # of these, how many are needed
    placed: int  # of these, how many had their place when it was asked
    beside: int | None = None  # the furniture that a group gathers at
    answer: str | None = field(default=None, init=False)
    cue: str | None = field(default=None, kw_only=True)
    modifier: str | None = field(default=None, kw_only=True)

    @classmethod
    def load(cls, **fields: Any) -> Self:
        """What `to_json` described."""
        return cls(**{**fields, "among": tuple(fields["among"])})

    def to_json(self) -> Mapping[str, Any]:
        return without_unused_cues({**asdict(self), "among": list(self.among)})

    def success(self, facts: HouseFacts, said: Sequence[str]) -> bool:
        return self.fulfilled(facts)

    def fulfilled(self, facts: HouseFacts) -> bool:
        """Is it done, as the house stands?"""
        return self.form(facts).is_made(facts, self.among, self.count)

    def in_place(self, facts: HouseFacts) -> tuple[Thing, ...]:
        """The most of the things that already have their place."""
        return self.form(facts).placed(facts, self.among, self.count)

    def form(self, facts: HouseFacts) -> Formation:
        return SHAPES[self.shape] if self.beside is None else gathered_at(facts.things[self.beside])

    def plan(self, facts: HouseFacts) -> Stack | ArrangementPlan | None:
        """What the solver would carry where; None where it can not be done."""
        if self.beside is not None:
            return plan_gathering(facts, self.solver, self.among, self.count, facts.things[self.beside])
        if self.shape == "tower":
            return plan_stack(facts, self.solver, self.among, self.count)
        return plan_layout(facts, self.solver, self.among, self.count, self.shape)

    def progress(self, facts: HouseFacts) -> float:
        """Each thing that was not in its place is worth the same: 0.2 of that for the way to it, 0.4 for holding it,
        0.4 for bringing it to the others, and all of it once it lies where it should."""
        if self.fulfilled(facts):
            return 1.0
        placed = self.in_place(facts)
        part = self._carried(facts, placed) if self.holds(facts) else self._way(facts, placed)
        return float(np.clip((len(placed) - self.placed + part) / (self.count - self.placed), 0.0, 1.0))

    def holds(self, facts: HouseFacts) -> bool:
        return facts.bodies[self.solver].holding in self.among

    def _carried(self, facts: HouseFacts, placed: Sequence[Thing]) -> float:
        held = facts.bodies[self.solver].holding
        assert held is not None
        goals = [facts.things[self.beside]] if self.beside is not None else list(placed)
        left = min((predicates.walking_distance(facts, facts.things[held].xy, goal) for goal in goals), default=BROUGHT)
        return 0.4 + 0.4 * done(FAR, left, BROUGHT)

    def _way(self, facts: HouseFacts, placed: Sequence[Thing]) -> float:
        lying = {thing.index for thing in placed}
        body = facts.bodies[self.solver]
        left = [
            predicates.walking_distance(facts, body.position, facts.things[i]) for i in self.among if i not in lying
        ]
        return 0.2 * done(FAR, min(left, default=FAR), AT_IT)

    def misread(self, world: World, rng: np.random.Generator) -> Task:
        """Another shape of the same things, or the same shape with a thing that was not meant."""
        facts: HouseFacts = world.facts()
        loose = [t.index for t in facts.things if not t.furniture and t.held_by is None]
        others = [i for i in loose if i not in self.among]
        meant = [replace(self, shape=shape, beside=None) for shape in CONFUSABLE[self.shape] if self._may_be(shape)]
        if others:
            wrong = others[int(rng.integers(len(others)))]
            rest = [i for i in rng.permutation(loose).tolist() if i != wrong][: self.count - 1]
            meant.append(replace(self, among=(wrong, *rest)))
        for number in rng.permutation(len(meant)).tolist():
            other: Arrangement = meant[number]
            if other.plan(facts) is not None and not other.fulfilled(facts):
                return replace(other, placed=len(other.in_place(facts)))
        return self

    def _may_be(self, shape: str) -> bool:
        return self.count >= 3 or shape in ("tower", "group")


def draw_arrangement(
    asking: TaskContext,
    rng: np.random.Generator,
    kind: str,
    shape: str,
    choices: Sequence[tuple[str, ObjectGroup]],
    beside: int | None = None,
) -> Arrangement:
    """A feasible, not yet fulfilled arrangement of one of these groups of things, each with its instruction.

    Raises:
        InfeasibleTask: there is none, or the world lacks a movement.
    """
    if missing := [name for name in NEEDED if name not in asking.components]:
        raise InfeasibleTask(
            f"no task of kind {kind!r} can be asked here: nothing is put down precisely without the movements "
            f"{', '.join(missing)}; add them to env.components"
        )
    for number in rng.permutation(len(choices))[:TRIED].tolist():
        words, members = choices[number]
        task = Arrangement(kind, words, asking.solver, shape, members.among, members.count, 0, beside)
        placed = len(task.in_place(asking.facts))
        if placed < members.count and task.plan(asking.facts) is not None:
            return replace(task, placed=placed)
    raise InfeasibleTask(
        f"no task of kind {kind!r} can be asked here: no things that words can single out could be arranged so"
    )
