"""Arrange several objects as a tower, a row, a triangle, a square, a circle or a group."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import ClassVar

import numpy as np

from interplay.env.playhouse.language.templates import fill_template
from interplay.env.playhouse.planning.layouts import ArrangementPlan, is_steady, plan_gathering, plan_layout
from interplay.env.playhouse.planning.stacks import Stack, is_stackable, plan_stack
from interplay.env.playhouse.tasks.context import TaskContext
from interplay.env.playhouse.tasks.instructions.object_instruction import ObjectGroup, described_groups, listed_groups
from interplay.env.playhouse.tasks.playhouse_task import PlayhouseTask, Potential, TaskKind, fraction_covered, task_kind
from interplay.env.playhouse.truth import predicates
from interplay.env.playhouse.truth.facts import HouseFacts, Thing
from interplay.env.playhouse.truth.formations import SHAPES, Formation, gathered_at
from interplay.env.task import InfeasibleTask

MAX_GROUPS_TRIED = 8  # groups of objects, drawn at random, that are tested for a plan
APPROACH_RANGE_M = (4.0, 1.0)  # distance from an object to fetch at which approaching it begins to count, and ends
CARRIED_M = 1.0  # from what a held object joins, where it has been carried there
WEIGHTS = Potential(look=0.0, approach=0.2, hold=0.4, carry=0.4)
CONFUSABLE_SHAPES = {  # no shape may satisfy the test of one it is mistaken for
    "tower": ("row", "group"),
    "row": ("triangle", "tower"),
    "ordered row": ("row",),
    "triangle": ("row",),
    "square": ("row", "tower"),
    "circle": ("row", "tower"),
    "group": (),
}


@dataclass(frozen=True, kw_only=True)
class Arrangement(PlayhouseTask):
    """Arrange `count` of the candidates. Baseline `placed`: how many of them were in place already."""

    shape: str  # a key of SHAPES
    candidates: tuple[int, ...]  # indices of the objects that may be used
    count: int  # number of objects that form the shape
    furniture: int | None = None  # index of the furniture at which a group is gathered
    lowest_is_best: ClassVar[bool] = False

    def is_done(self, facts: HouseFacts) -> bool:
        return self.formation(facts).is_formed_by(facts, self.candidates, self.count)

    def objects_in_place(self, facts: HouseFacts) -> tuple[Thing, ...]:
        """Returns the largest set of candidates that already are in place."""
        return self.formation(facts).placed(facts, self.candidates, self.count)

    def formation(self, facts: HouseFacts) -> Formation:
        """Returns the formation to make."""
        return SHAPES[self.shape] if self.furniture is None else gathered_at(facts.things[self.furniture])

    def plan(self, facts: HouseFacts) -> Stack | ArrangementPlan | None:
        """Plans which object the solver carries where; None if there is no way to do it."""
        if self.furniture is not None:
            return plan_gathering(facts, self.solver, self.candidates, self.count, facts.things[self.furniture])
        if self.shape == "tower":
            return plan_stack(facts, self.solver, self.candidates, self.count)
        return plan_layout(facts, self.solver, self.candidates, self.count, self.shape)

    def measure(self, facts: HouseFacts) -> Mapping[str, float]:
        return {"placed": len(self.objects_in_place(facts))}

    def partial_progress(self, facts: HouseFacts) -> float:
        """Each object that was not in place has the same weight: 0.2 of it for the way to the object, 0.4 for holding
        it, 0.4 for carrying it to the others, and all of it once it is in place."""
        in_place = self.objects_in_place(facts)
        partial = self._potential(facts, in_place)
        placed = self.baseline["placed"]
        return float(np.clip((len(in_place) - placed + partial) / (self.count - placed), 0.0, 1.0))

    def _potential(self, facts: HouseFacts, in_place: Sequence[Thing]) -> float:
        """Returns the potential of the nearest object to fetch, or of the held one on its way to the others."""
        start, goal = APPROACH_RANGE_M
        held = facts.bodies[self.solver].holding
        if held in self.candidates:
            ends = [facts.things[self.furniture]] if self.furniture is not None else in_place
            distances = [predicates.walking_distance(facts, facts.things[held].xy, thing) for thing in ends]
            remaining = min(distances, default=CARRIED_M)
            carried = fraction_covered(start, remaining, CARRIED_M)
            return WEIGHTS(looking=1.0, nearness=1.0, held=True, carried=carried)
        others = [facts.things[i] for i in self.candidates if facts.things[i] not in in_place]
        here = facts.bodies[self.solver].position
        remaining = min((predicates.walking_distance(facts, here, thing) for thing in others), default=start)
        return WEIGHTS(looking=1.0, nearness=fraction_covered(start, remaining, goal), held=False)

    def misreading(self, facts: HouseFacts, rng: np.random.Generator) -> PlayhouseTask | None:
        """Another shape of the same objects, or the same shape with an object that was not meant."""
        loose = [t.index for t in facts.things if not t.furniture and t.held_by is None]
        others = [i for i in loose if i not in self.candidates]
        shapes = [s for s in CONFUSABLE_SHAPES[self.shape] if self.count >= 3 or s in ("tower", "group")]
        readings = [replace(self, shape=shape, furniture=None) for shape in shapes]
        if others:
            wrong = others[int(rng.integers(len(others)))]
            rest = [i for i in rng.permutation(loose).tolist() if i != wrong][: self.count - 1]
            readings.append(replace(self, candidates=(wrong, *rest)))
        for number in rng.permutation(len(readings)).tolist():
            other: Arrangement = readings[number]
            if other.plan(facts) is not None and not other.is_done(facts):
                return other
        return None


def sample_arrangement(
    context: TaskContext,
    rng: np.random.Generator,
    shape: str,
    groups: Sequence[ObjectGroup],
    wordings: Sequence[str],
    furniture: Thing | None = None,
) -> Arrangement:
    """Draws a feasible arrangement, not yet done, of one of these groups of objects, gathered at `furniture` if given.

    Raises:
        InfeasibleTask: no arrangement is feasible, or the world lacks a movement.
    """
    names = {"other": context.name(furniture, rng)} if furniture is not None else {}
    texts = [fill_template(wordings, rng, things=group.words, **names) for group in groups]
    context.require_movement("push", "strafe")
    for number in rng.permutation(len(groups))[:MAX_GROUPS_TRIED].tolist():
        group = groups[number]
        task = Arrangement(
            kind=context.kind,
            instruction=texts[number],
            solver=context.solver,
            shape=shape,
            candidates=group.candidates,
            count=group.count,
            furniture=None if furniture is None else furniture.index,
        )
        if len(task.objects_in_place(context.facts)) < group.count and task.plan(context.facts) is not None:
            return task
    raise context.refusal("no things that words can single out could be arranged so")


TOWER_SIZES = (2, 3)  # objects on top of each other: houses rarely have more that fit, and higher towers rarely stay up
TOWER_WORDINGS = (
    "build a tower with {things}", "build a tower of {things}", "make a tower with {things}",
    "make a tower out of {things}", "stack {things}", "pile up {things}", "put {things} on top of each other",
)  # fmt: skip
ROW_SIZES = (3, 4)
ORDERED_PROBABILITY = 0.25  # of asking for an order from small to big
MIN_VOLUME_RATIO = 1.3  # of each object to the next smaller one, if they are to be ordered
ROW_WORDINGS = (
    "put {things} in a row", "make a row of {things}", "line up {things}", "arrange {things} in a row",
    "place {things} in a line", "form a row with {things}",
)  # fmt: skip
ROW_BY_SIZE_WORDINGS = (
    "put {things} in a row from small to big", "line up {things} from small to big",
    "make a row of {things}, the smallest first", "arrange {things} in a row by size",
    "order {things} in a row from small to large", "place {things} in a line, from the smallest to the largest",
)  # fmt: skip
TRIANGLE_WORDINGS = (
    "make a triangle with {things}", "form a triangle with {things}", "make a triangle of {things}",
    "put {things} in a triangle", "arrange {things} in a triangle", "lay out {things} as a triangle",
)  # fmt: skip
SQUARE_WORDINGS = (
    "make a square with {things}", "form a square with {things}", "make a square of {things}",
    "put {things} in a square", "arrange {things} in a square", "lay out {things} as a square",
)  # fmt: skip
CIRCLE_WORDINGS = (
    "form a circle with {things}", "make a circle with {things}", "make a circle of {things}",
    "put {things} in a circle", "arrange {things} in a circle", "lay out {things} as a circle",
)  # fmt: skip
GROUP_SIZES, LISTED_GROUP_SIZES = (2, 3, 4), (2, 3)
AT_FURNITURE_PROBABILITY = 0.5
GROUP_WORDINGS = (
    "gather {things}", "bring {things} together", "put {things} close together", "collect {things} in one place",
    "group {things} together", "put {things} near each other",
)  # fmt: skip
GROUP_AT_WORDINGS = (
    "gather {things} near the {other}", "bring {things} to the {other}", "put {things} near the {other}",
    "collect {things} near the {other}", "group {things} around the {other}", "move {things} close to the {other}",
)  # fmt: skip


@task_kind("tower", Arrangement, TOWER_WORDINGS, probe_steps=160)
def tower_kind(context: TaskContext, rng: np.random.Generator) -> Arrangement:
    """Draws the objects of a tower."""
    groups = described_groups(context, TOWER_SIZES, is_stackable)
    return sample_arrangement(context, rng, "tower", groups, TOWER_WORDINGS)


@task_kind("row", Arrangement, ROW_WORDINGS, ROW_BY_SIZE_WORDINGS, probe_steps=240)
def row_kind(context: TaskContext, rng: np.random.Generator) -> Arrangement:
    """Draws the objects of a row."""
    ordered = rng.random() < ORDERED_PROBABILITY
    groups = _steady_groups(context, ROW_SIZES, ROW_SIZES, rng, subsets=not ordered)
    by_size = [group for group in groups if ordered and _differ_in_size(context.facts, group)]
    if by_size:
        return sample_arrangement(context, rng, "ordered row", by_size, ROW_BY_SIZE_WORDINGS)
    return sample_arrangement(context, rng, "row", groups, ROW_WORDINGS)


@task_kind("group", Arrangement, GROUP_WORDINGS, GROUP_AT_WORDINGS, probe_steps=180)
def group_kind(context: TaskContext, rng: np.random.Generator) -> Arrangement:
    """Draws a group of objects and, half of the time, the furniture at which it is gathered."""
    groups = _steady_groups(context, GROUP_SIZES, LISTED_GROUP_SIZES, rng, subsets=False)
    furniture = [thing for thing in context.nameable_things() if thing.furniture]
    if furniture and rng.random() < AT_FURNITURE_PROBABILITY:
        other = context.sample_one(furniture, rng)
        try:
            return sample_arrangement(context, rng, "group", groups, GROUP_AT_WORDINGS, other)
        except InfeasibleTask:
            pass  # gather them anywhere
    return sample_arrangement(context, rng, "group", groups, GROUP_WORDINGS)


def _steady_groups(
    context: TaskContext, counts: Sequence[int], listed: Sequence[int], rng: np.random.Generator, *, subsets: bool
) -> list[ObjectGroup]:
    """Draws groups of objects that stay where they are put; `listed`: sizes of those named one by one."""
    described = described_groups(context, counts, is_steady, subsets=subsets)
    return [*described, *listed_groups(context, listed, rng, is_steady)]


def _differ_in_size(facts: HouseFacts, group: ObjectGroup) -> bool:
    """Tests whether all objects of a group are needed and each clearly differs from the others in size."""
    volumes = sorted(predicates.volume(facts.things[index]) for index in group.candidates)
    return group.count == len(group.candidates) and all(b >= MIN_VOLUME_RATIO * a for a, b in pairwise(volumes))


def _outline(name: str, counts: tuple[int, ...], wordings: tuple[str, ...], probe_steps: int) -> TaskKind:
    """Returns the kind of one outline; `counts`: numbers of objects that it may have."""

    @task_kind(name, Arrangement, wordings, probe_steps=probe_steps)
    def sample(context: TaskContext, rng: np.random.Generator) -> Arrangement:
        groups = _steady_groups(context, counts, counts, rng, subsets=True)
        return sample_arrangement(context, rng, name, groups, wordings)

    return sample


OUTLINE_KINDS = (
    _outline("triangle", (3,), TRIANGLE_WORDINGS, 180),
    _outline("square", (4,), SQUARE_WORDINGS, 240),
    _outline("circle", (3, 4, 5), CIRCLE_WORDINGS, 280),
)
