"""Build a tower."""

from __future__ import annotations

import numpy as np

from interplay.env.playhouse.language.templates import PHRASES, phrase
from interplay.env.playhouse.planning.stacks import is_stackable
from interplay.env.playhouse.tasks.context import TaskContext
from interplay.env.playhouse.tasks.instructions.arrangement import Arrangement, draw_arrangement
from interplay.env.playhouse.tasks.instructions.object_group import described

COUNTS = (2, 3)  # things on top of each other: more are rarely there, and rarely stand

PHRASES["tower"] = (
    "build a tower with {things}",
    "build a tower of {things}",
    "make a tower with {things}",
    "make a tower out of {things}",
    "stack {things}",
    "pile up {things}",
    "put {things} on top of each other",
)


def draw_tower(asking: TaskContext, rng: np.random.Generator) -> Arrangement:
    choices = [(phrase("tower", rng, things=some.words), some) for some in described(asking, COUNTS, is_stackable)]
    return draw_arrangement(asking, rng, "tower", "tower", choices)
