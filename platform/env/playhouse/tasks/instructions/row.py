"""Lay objects out in a row, in any order or from small to big."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from interplay.env.playhouse.language.templates import fill_template
from interplay.env.playhouse.planning.layouts import is_steady
from interplay.env.playhouse.tasks.context import TaskContext
from interplay.env.playhouse.tasks.instructions.arrangement import Arrangement, sample_arrangement
from interplay.env.playhouse.tasks.instructions.object_group import ObjectGroup, described_groups, listed_groups
from interplay.env.playhouse.tasks.task_kind import TaskKind
from interplay.env.playhouse.truth import predicates
from interplay.env.playhouse.truth.facts import HouseFacts

COUNTS = (3, 4)
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


def sample_row(context: TaskContext, rng: np.random.Generator) -> Arrangement:
    """Draws the objects of a row."""
    ordered = rng.random() < ORDERED_PROBABILITY
    groups = [
        *described_groups(context, COUNTS, is_steady, subsets=not ordered),
        *listed_groups(context, COUNTS, rng, is_steady),
    ]
    if ordered:
        by_size = [group for group in groups if _differ_in_size(context.facts, group)]
        choices = [(fill_template(ROW_BY_SIZE_WORDINGS, rng, things=group.words), group) for group in by_size]
        if choices:
            return sample_arrangement(context, rng, "row", "ordered row", choices)
    choices = [(fill_template(ROW_WORDINGS, rng, things=group.words), group) for group in groups]
    return sample_arrangement(context, rng, "row", "row", choices)


def _differ_in_size(facts: HouseFacts, group: ObjectGroup) -> bool:
    """Tests whether all objects of a group are needed and each clearly differs from the others in size."""
    volumes = sorted(predicates.volume(facts.things[index]) for index in group.candidates)
    return group.count == len(group.candidates) and all(b >= MIN_VOLUME_RATIO * a for a, b in pairwise(volumes))


KIND = TaskKind(
    name="row", task=Arrangement, sample=sample_row, wordings=(*ROW_WORDINGS, *ROW_BY_SIZE_WORDINGS), probe_steps=240
)
