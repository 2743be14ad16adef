"""Gather objects near each other, or at a piece of furniture."""

from __future__ import annotations

import numpy as np

from interplay.env.playhouse.language.templates import fill_template
from interplay.env.playhouse.planning.layouts import is_steady
from interplay.env.playhouse.tasks.context import TaskContext
from interplay.env.playhouse.tasks.instructions.arrangement import Arrangement, sample_arrangement
from interplay.env.playhouse.tasks.instructions.object_group import described_groups, listed_groups
from interplay.env.playhouse.tasks.sampling import sample_one
from interplay.env.playhouse.tasks.task_kind import TaskKind
from interplay.env.task import InfeasibleTask

COUNTS = (2, 3, 4)
AT_FURNITURE_PROBABILITY = 0.5

GROUP_WORDINGS = (
    "gather {things}", "bring {things} together", "put {things} close together", "collect {things} in one place",
    "group {things} together", "put {things} near each other",
)  # fmt: skip
GROUP_AT_WORDINGS = (
    "gather {things} near the {other}", "bring {things} to the {other}", "put {things} near the {other}",
    "collect {things} near the {other}", "group {things} around the {other}", "move {things} close to the {other}",
)  # fmt: skip


def sample_group(context: TaskContext, rng: np.random.Generator) -> Arrangement:
    """Draws a group of objects and, half of the time, the furniture at which it is gathered."""
    groups = [
        *described_groups(context, COUNTS, is_steady, subsets=False),
        *listed_groups(context, COUNTS[:2], rng, is_steady),
    ]
    furniture = [thing for thing in context.nameable_things() if thing.furniture]
    if furniture and rng.random() < AT_FURNITURE_PROBABILITY:
        other = sample_one(furniture, rng, "group", "no furniture can be named")
        name = context.name(other, rng)
        choices = [(fill_template(GROUP_AT_WORDINGS, rng, things=group.words, other=name), group) for group in groups]
        try:
            return sample_arrangement(context, rng, "group", "group", choices, furniture=other.index)
        except InfeasibleTask:
            pass  # gather them anywhere
    choices = [(fill_template(GROUP_WORDINGS, rng, things=group.words), group) for group in groups]
    return sample_arrangement(context, rng, "group", "group", choices)


KIND = TaskKind(
    name="group", task=Arrangement, sample=sample_group, wordings=(*GROUP_WORDINGS, *GROUP_AT_WORDINGS), probe_steps=180
)
