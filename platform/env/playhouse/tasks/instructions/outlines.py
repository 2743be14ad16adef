"""Lay objects out as a triangle, a square or a circle."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from interplay.env.playhouse.language.templates import fill_template
from interplay.env.playhouse.planning.layouts import is_steady
from interplay.env.playhouse.tasks.context import TaskContext
from interplay.env.playhouse.tasks.instructions.arrangement import Arrangement, sample_arrangement
from interplay.env.playhouse.tasks.instructions.object_group import described_groups, listed_groups
from interplay.env.playhouse.tasks.task_kind import TaskKind

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


def outline_sampler(
    kind: str, counts: tuple[int, ...], wordings: tuple[str, ...]
) -> Callable[[TaskContext, np.random.Generator], Arrangement]:
    """Returns the sampler of one shape; `counts`: numbers of objects that it may have."""

    def sample(context: TaskContext, rng: np.random.Generator) -> Arrangement:
        groups = [*described_groups(context, counts, is_steady), *listed_groups(context, counts, rng, is_steady)]
        choices = [(fill_template(wordings, rng, things=group.words), group) for group in groups]
        return sample_arrangement(context, rng, kind, kind, choices)

    return sample


def _kind(name: str, counts: tuple[int, ...], wordings: tuple[str, ...], probe_steps: int) -> TaskKind:
    return TaskKind(
        name=name,
        task=Arrangement,
        sample=outline_sampler(name, counts, wordings),
        wordings=wordings,
        probe_steps=probe_steps,
    )


KINDS = (
    _kind("triangle", (3,), TRIANGLE_WORDINGS, 180),
    _kind("square", (4,), SQUARE_WORDINGS, 240),
    _kind("circle", (3, 4, 5), CIRCLE_WORDINGS, 280),
)
