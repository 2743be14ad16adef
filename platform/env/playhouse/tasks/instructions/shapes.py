"""Arrange objects as a tower, a row, a triangle, a square, a circle or a group."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from interplay.env.playhouse.planning.layouts import is_steady
from interplay.env.playhouse.planning.stacks import is_stackable
from interplay.env.playhouse.tasks.context import TaskContext
from interplay.env.playhouse.tasks.instructions.arrangement import Arrangement, sample_arrangement
from interplay.env.playhouse.tasks.instructions.object_group import ObjectGroup, described_groups, listed_groups
from interplay.env.playhouse.tasks.sampling import sample_one
from interplay.env.playhouse.tasks.task_kind import Sampler, TaskKind
from interplay.env.playhouse.truth import predicates
from interplay.env.playhouse.truth.facts import HouseFacts
from interplay.env.task import InfeasibleTask

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


def sample_tower(context: TaskContext, rng: np.random.Generator) -> Arrangement:
    """Draws the objects of a tower."""
    groups = described_groups(context, TOWER_SIZES, is_stackable)
    return sample_arrangement(context, rng, "tower", "tower", groups, TOWER_WORDINGS)


def sample_row(context: TaskContext, rng: np.random.Generator) -> Arrangement:
    """Draws the objects of a row."""
    ordered = rng.random() < ORDERED_PROBABILITY
    groups = _steady_groups(context, ROW_SIZES, ROW_SIZES, rng, subsets=not ordered)
    by_size = [group for group in groups if ordered and _differ_in_size(context.facts, group)]
    if by_size:
        return sample_arrangement(context, rng, "row", "ordered row", by_size, ROW_BY_SIZE_WORDINGS)
    return sample_arrangement(context, rng, "row", "row", groups, ROW_WORDINGS)


def sample_group(context: TaskContext, rng: np.random.Generator) -> Arrangement:
    """Draws a group of objects and, half of the time, the furniture at which it is gathered."""
    groups = _steady_groups(context, GROUP_SIZES, LISTED_GROUP_SIZES, rng, subsets=False)
    furniture = [thing for thing in context.nameable_things() if thing.furniture]
    if furniture and rng.random() < AT_FURNITURE_PROBABILITY:
        other = sample_one(furniture, rng, "group", "no furniture can be named")
        try:
            return sample_arrangement(context, rng, "group", "group", groups, GROUP_AT_WORDINGS, other)
        except InfeasibleTask:
            pass  # gather them anywhere
    return sample_arrangement(context, rng, "group", "group", groups, GROUP_WORDINGS)


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

    def sample(context: TaskContext, rng: np.random.Generator) -> Arrangement:
        groups = _steady_groups(context, counts, counts, rng, subsets=True)
        return sample_arrangement(context, rng, name, name, groups, wordings)

    return _kind(name, sample, wordings, probe_steps)


def _kind(name: str, sample: Sampler, wordings: tuple[str, ...], probe_steps: int) -> TaskKind:
    return TaskKind(name=name, task=Arrangement, sample=sample, wordings=wordings, probe_steps=probe_steps)


KINDS = (
    _kind("tower", sample_tower, TOWER_WORDINGS, 160),
    _kind("row", sample_row, (*ROW_WORDINGS, *ROW_BY_SIZE_WORDINGS), 240),
    _outline("triangle", (3,), TRIANGLE_WORDINGS, 180),
    _outline("square", (4,), SQUARE_WORDINGS, 240),
    _outline("circle", (3, 4, 5), CIRCLE_WORDINGS, 280),
    _kind("group", sample_group, (*GROUP_WORDINGS, *GROUP_AT_WORDINGS), 180),
)
