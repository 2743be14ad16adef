"""Lay things out in a row, in any order or from small to big."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from interplay.env.playhouse.language.templates import PHRASES, phrase
from interplay.env.playhouse.planning.layouts import is_steady
from interplay.env.playhouse.tasks.context import TaskContext
from interplay.env.playhouse.tasks.instructions.arrangement import Arrangement, draw_arrangement
from interplay.env.playhouse.tasks.instructions.object_group import ObjectGroup, described, named
from interplay.env.playhouse.truth import predicates
from interplay.env.playhouse.truth.facts import HouseFacts

COUNTS = (3, 4)
ORDERED = 0.25  # of all rows, how many are asked for from small to big
CLEARLY = 1.3  # volume over that of the next smaller, of what is to be ordered

PHRASES["row"] = (
    "put {things} in a row",
    "make a row of {things}",
    "line up {things}",
    "arrange {things} in a row",
    "place {things} in a line",
    "form a row with {things}",
)
PHRASES["row by size"] = (
    "put {things} in a row from small to big",
    "line up {things} from small to big",
    "make a row of {things}, the smallest first",
    "arrange {things} in a row by size",
    "order {things} in a row from small to large",
    "place {things} in a line, from the smallest to the largest",
)


def draw_row(asking: TaskContext, rng: np.random.Generator) -> Arrangement:
    ordered = rng.random() < ORDERED
    groups = [*described(asking, COUNTS, is_steady, some=not ordered), *named(asking, COUNTS, rng, is_steady)]
    if ordered:
        by_size = [group for group in groups if _differ(asking.facts, group)]
        choices = [(phrase("row by size", rng, things=group.words), group) for group in by_size]
        if choices:
            return draw_arrangement(asking, rng, "row", "ordered row", choices)
    return draw_arrangement(
        asking, rng, "row", "row", [(phrase("row", rng, things=group.words), group) for group in groups]
    )


def _differ(facts: HouseFacts, group: ObjectGroup) -> bool:
    """Are all of them clearly of different size?"""
    volumes = sorted(predicates.volume(facts.things[index]) for index in group.among)
    return group.count == len(group.among) and all(b >= CLEARLY * a for a, b in pairwise(volumes))
