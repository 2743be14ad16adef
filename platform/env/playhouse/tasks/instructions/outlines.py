"""Lay things out as a triangle, a square or a circle."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from interplay.env.playhouse.language.templates import PHRASES, phrase
from interplay.env.playhouse.planning.layouts import is_steady
from interplay.env.playhouse.tasks.context import TaskContext
from interplay.env.playhouse.tasks.instructions.arrangement import Arrangement, draw_arrangement
from interplay.env.playhouse.tasks.instructions.object_group import described, named

ON_A_CIRCLE = (3, 4, 5)

PHRASES["triangle"] = (
    "make a triangle with {things}",
    "form a triangle with {things}",
    "make a triangle of {things}",
    "put {things} in a triangle",
    "arrange {things} in a triangle",
    "lay out {things} as a triangle",
)
PHRASES["square"] = (
    "make a square with {things}",
    "form a square with {things}",
    "make a square of {things}",
    "put {things} in a square",
    "arrange {things} in a square",
    "lay out {things} as a square",
)
PHRASES["circle"] = (
    "form a circle with {things}",
    "make a circle with {things}",
    "make a circle of {things}",
    "put {things} in a circle",
    "arrange {things} in a circle",
    "lay out {things} as a circle",
)


def draw_triangle(asking: TaskContext, rng: np.random.Generator) -> Arrangement:
    return _draw(asking, rng, "triangle", (3,))


def draw_square(asking: TaskContext, rng: np.random.Generator) -> Arrangement:
    return _draw(asking, rng, "square", (4,))


def draw_circle(asking: TaskContext, rng: np.random.Generator) -> Arrangement:
    return _draw(asking, rng, "circle", ON_A_CIRCLE)


def _draw(asking: TaskContext, rng: np.random.Generator, kind: str, counts: Sequence[int]) -> Arrangement:
    groups = [*described(asking, counts, is_steady), *named(asking, counts, rng, is_steady)]
    return draw_arrangement(
        asking, rng, kind, kind, [(phrase(kind, rng, things=group.words), group) for group in groups]
    )
