"""Gather things: near each other, or at a piece of furniture."""

from __future__ import annotations

import numpy as np

from interplay.env.playhouse.language.templates import PHRASES, phrase
from interplay.env.playhouse.planning.layouts import is_steady
from interplay.env.playhouse.tasks.context import TaskContext
from interplay.env.playhouse.tasks.instructions.arrangement import Arrangement, draw_arrangement
from interplay.env.playhouse.tasks.instructions.object_group import described, named
from interplay.env.playhouse.tasks.sampling import one_of
from interplay.env.task import InfeasibleTask

COUNTS = (2, 3, 4)
AT_FURNITURE = 0.5  # of all groups, how many are gathered at a piece of furniture

PHRASES["group"] = (
    "gather {things}",
    "bring {things} together",
    "put {things} close together",
    "collect {things} in one place",
    "group {things} together",
    "put {things} near each other",
)
PHRASES["group at"] = (
    "gather {things} near the {other}",
    "bring {things} to the {other}",
    "put {things} near the {other}",
    "collect {things} near the {other}",
    "group {things} around the {other}",
    "move {things} close to the {other}",
)


def draw_group(asking: TaskContext, rng: np.random.Generator) -> Arrangement:
    groups = [*described(asking, COUNTS, is_steady, some=False), *named(asking, COUNTS[:2], rng, is_steady)]
    furniture = [thing for thing in asking.told_apart() if thing.furniture]
    if furniture and rng.random() < AT_FURNITURE:
        other = one_of(furniture, rng, "group", "no furniture can be named")
        name = asking.call(other, rng)
        choices = [(phrase("group at", rng, things=group.words, other=name), group) for group in groups]
        try:
            return draw_arrangement(asking, rng, "group", "group", choices, beside=other.index)
        except InfeasibleTask:
            pass  # then together, wherever they are
    choices = [(phrase("group", rng, things=group.words), group) for group in groups]
    return draw_arrangement(asking, rng, "group", "group", choices)
