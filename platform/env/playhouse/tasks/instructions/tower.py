"""Build a tower."""

from __future__ import annotations

import numpy as np

from interplay.env.playhouse.language.templates import fill_template
from interplay.env.playhouse.planning.stacks import is_stackable
from interplay.env.playhouse.tasks.context import TaskContext
from interplay.env.playhouse.tasks.instructions.arrangement import Arrangement, sample_arrangement
from interplay.env.playhouse.tasks.instructions.object_group import described_groups
from interplay.env.playhouse.tasks.task_kind import TaskKind

COUNTS = (2, 3)  # objects on top of each other: houses rarely have more that fit, and higher towers rarely stay up

WORDINGS = (
    "build a tower with {things}", "build a tower of {things}", "make a tower with {things}",
    "make a tower out of {things}", "stack {things}", "pile up {things}", "put {things} on top of each other",
)  # fmt: skip


def sample_tower(context: TaskContext, rng: np.random.Generator) -> Arrangement:
    """Draws the objects of a tower."""
    groups = described_groups(context, COUNTS, is_stackable)
    choices = [(fill_template(WORDINGS, rng, things=group.words), group) for group in groups]
    return sample_arrangement(context, rng, "tower", "tower", choices)


KIND = TaskKind(name="tower", task=Arrangement, sample=sample_tower, wordings=WORDINGS, probe_steps=160)
