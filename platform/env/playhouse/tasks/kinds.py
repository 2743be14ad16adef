"""All kinds of task of the Playhouse. A new kind is defined in its own module and added to this list."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from interplay.env.playhouse.tasks.context import TaskContext
from interplay.env.playhouse.tasks.instructions import (
    bring,
    fill,
    go,
    lift,
    position,
    push,
    put,
    remove,
    reposition,
    sequence,
    shapes,
    stand,
    throw,
    use_tool,
)
from interplay.env.playhouse.tasks.playhouse_task import PlayhouseTask
from interplay.env.playhouse.tasks.questions import (
    color_questions,
    count_questions,
    fact_questions,
    location_questions,
    number_questions,
    size_questions,
    view_questions,
)
from interplay.env.playhouse.tasks.questions.question import Question
from interplay.env.playhouse.tasks.stored_tasks import migrated
from interplay.env.playhouse.tasks.task_kind import TaskKind

# The order is that of the probes in a report, and that in which a setter draws kinds.
_KINDS: tuple[TaskKind, ...] = (
    go.KIND,
    lift.LIFT_KIND,
    position.KIND,
    color_questions.COLOR_KIND,
    count_questions.COUNT_KIND,
    count_questions.EXIST_KIND,
    *put.KINDS,
    reposition.KIND,
    bring.BRING_KIND,
    bring.HAND_OVER_KIND,
    remove.KIND,
    lift.LIFT_CONTAINER_KIND,
    fill.KIND,
    *stand.KINDS,
    push.KIND,
    *use_tool.KINDS,
    *throw.KINDS,
    *shapes.KINDS,
    sequence.KIND,
    size_questions.LARGER_KIND,
    color_questions.SAME_COLOR_KIND,
    *location_questions.KINDS,
    view_questions.SEEN_KIND,
    fact_questions.KIND,
    location_questions.WHEREABOUTS_KIND,
    count_questions.HOW_MANY_KIND,
    view_questions.NOTICED_KIND,
    color_questions.COLOR_OF_KIND,
    color_questions.SAME_OR_DIFFERENT_KIND,
    number_questions.KIND,
    count_questions.PRESENT_KIND,
    size_questions.SIZE_KIND,
)
KINDS: dict[str, TaskKind] = {kind.name: kind for kind in _KINDS}


def is_question(kind: str) -> bool:
    """Tests whether tasks of a kind ask for an answer."""
    return issubclass(KINDS[kind].task, Question)


def sample_task(kind: str, context: TaskContext, rng: np.random.Generator) -> PlayhouseTask:
    """Draws a feasible task of a kind, with its baseline.

    Raises:
        InfeasibleTask: there is none.
    """
    return KINDS[kind].sample(context, rng).with_baseline(context.facts)


def load_task(stored: Mapping[str, Any]) -> PlayhouseTask:
    """Rebuilds the task that `to_json` described, also of episodes that version 0.1 recorded."""
    fields = migrated(stored)
    return KINDS[fields["kind"]].task.from_json(fields)
