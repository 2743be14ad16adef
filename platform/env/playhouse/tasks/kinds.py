"""All kinds of task of the Playhouse. A new kind is defined in its own module and added to this list.

Tasks that version 0.1 stored in episodes are migrated when they are loaded.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from interplay.core.renamed_settings import RENAMED_TASK_KINDS
from interplay.env.playhouse.tasks.context import TaskContext
from interplay.env.playhouse.tasks.instructions import (
    arrangement,
    bring_and_reposition,
    go_and_stand,
    lift_and_throw,
    push_and_tools,
    put,
    sequence,
)
from interplay.env.playhouse.tasks.playhouse_task import PlayhouseTask, TaskKind
from interplay.env.playhouse.tasks.questions import (
    color_and_size_questions,
    fact_and_count_questions,
    view_and_location_questions,
)
from interplay.env.playhouse.tasks.questions.question import Question

RENAMED_MODIFIERS = {"by_colour": "by_color", "location_by_colour": "location_by_color"}
RENAMED_FIELDS = {"things": "candidates", "among": "candidates", "wanted": "count", "beside": "furniture"}
# Fields that are now values of the baseline.
BASELINE_FIELDS = {
    "start": "walk",
    "apart": "carry",
    "asked": "since",
    "rest_height": "height",
    "away": "doorway",
    "placed": "placed",
    "spot_x": "spot_x",
    "spot_y": "spot_y",
}


def migrated(stored: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the fields of a stored task under their present names; those of the present version unchanged."""
    kind, modifier = str(stored["kind"]), stored.get("modifier")
    fields = {**stored, "kind": RENAMED_TASK_KINDS.get(kind, kind)}
    if modifier is not None:
        fields["modifier"] = RENAMED_MODIFIERS.get(modifier, modifier)
    if "baseline" in fields:
        return fields
    for part in ("first", "second"):
        if part in fields:
            fields[part] = migrated(fields[part])
    if "mistakes" in fields:
        return {"scope": "house" if "room" in fields else "room", **fields}
    fields = {RENAMED_FIELDS.get(name, name): value for name, value in fields.items()}
    baseline = {new: fields.pop(old) for old, new in BASELINE_FIELDS.items() if old in fields}
    return fields | ({"baseline": baseline | _baseline_of_candidates(fields)} if baseline else {})


def _baseline_of_candidates(fields: dict[str, Any]) -> dict[str, float]:
    """Moves the lists of `starts`, `aparts` and `origins` of the candidates to values of the baseline."""
    indices = fields.get("candidates", ())
    walks, carries, origins = (fields.pop(name, ()) for name in ("starts", "aparts", "origins"))
    baseline = {f"walk_{i}": walk for i, walk in zip(indices, walks, strict=False)}
    baseline |= {f"carry_{i}": carry for i, carry in zip(indices, carries, strict=False)}
    axes = [f"{axis}_{i}" for i in indices for axis in "xy"]
    return baseline | dict(zip(axes, origins, strict=False))


# The order is that of the probes in a report, and that in which a setter draws kinds.
KINDS: dict[str, TaskKind] = {kind.name: kind for kind in (
    go_and_stand.go_kind, lift_and_throw.lift_kind, put.position_kind,
    color_and_size_questions.color_kind, fact_and_count_questions.count_kind, fact_and_count_questions.exist_kind,
    *put.PUT_KINDS, bring_and_reposition.reposition_kind,
    bring_and_reposition.bring_kind, bring_and_reposition.hand_over_kind,
    put.remove_kind, lift_and_throw.lift_container_kind, put.fill_kind,
    go_and_stand.stand_kind, go_and_stand.stand_between_kind, go_and_stand.go_room_kind,
    push_and_tools.push_kind, *push_and_tools.TOOL_KINDS,
    lift_and_throw.throw_kind, lift_and_throw.throw_out_kind,
    arrangement.tower_kind, arrangement.row_kind, *arrangement.OUTLINE_KINDS, arrangement.group_kind,
    sequence.sequence_kind,
    color_and_size_questions.larger_kind, color_and_size_questions.same_color_kind,
    view_and_location_questions.nearest_kind, view_and_location_questions.on_top_kind,
    view_and_location_questions.where_kind, view_and_location_questions.seen_kind,
    fact_and_count_questions.fact_kind, view_and_location_questions.whereabouts_kind,
    fact_and_count_questions.how_many_kind, view_and_location_questions.noticed_kind,
    color_and_size_questions.color_of_kind,
    color_and_size_questions.same_or_different_kind, fact_and_count_questions.number_fact_kind,
    fact_and_count_questions.present_kind, color_and_size_questions.size_kind,
)}  # fmt: skip


def is_question(kind: str) -> bool:
    """Tests whether tasks of a kind ask for an answer."""
    return issubclass(KINDS[kind].task, Question)


def sample_task(context: TaskContext, rng: np.random.Generator) -> PlayhouseTask:
    """Draws a feasible task of the context's kind, with its baseline.

    Raises:
        InfeasibleTask: no task of this kind is feasible.
    """
    return KINDS[context.kind].sample(context, rng).with_baseline(context.facts)


def load_task(stored: Mapping[str, Any]) -> PlayhouseTask:
    """Rebuilds the task that `to_json` described, also of episodes that version 0.1 recorded."""
    fields = migrated(stored)
    return KINDS[fields["kind"]].task.from_json(fields)
