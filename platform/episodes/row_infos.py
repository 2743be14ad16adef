"""What was said, asked, judged and marked in an episode, with one row for its start and one for each step."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from interplay.episodes.episode import EpisodeMeta, Mark
from interplay.episodes.transcript import WORLD, dialogue


def row_infos(meta: EpisodeMeta, roles: Sequence[str], marks: Sequence[Mark]) -> dict[str, Any]:
    """By name, N + 1 rows: row t + 1 is about step t, row 0 about the start. Several texts of a row are lines of it.

    `uttered`: by speaker, the text uttered in the step, empty where silent. `task`: `instruction` and `kind` of the
    task asked in the step; `ended`, how the setter ended a task after it; `verdict`, that of a person on a request.
    `marks`: numbers of `positive` and `negative` marks, and in `by_rater` each as [rater, sign, frame], in JSON.
    """
    rows, frames = meta.steps + 1, meta.frames_per_step

    def texts(entries: Iterable[tuple[int, str]]) -> list[str]:
        found: list[list[str]] = [[] for _ in range(rows)]
        for row, text in entries:
            found[row].append(text)
        return ["\n".join(each) for each in found]

    tasks = dialogue(meta)
    speakers = (*roles, WORLD)
    marked: list[list[tuple[str, int, int]]] = [[] for _ in range(rows)]
    for mark in marks:
        marked[mark.frame // frames + 1].append((mark.rater, mark.sign, mark.frame))
    return {
        "uttered": {
            role: texts((each.frame // frames + 1, each.text) for each in meta.utterances if each.role == role)
            for role in speakers
        },
        "task": {
            "instruction": texts((task.step + 1, str(task.fields.get("instruction", ""))) for task in tasks),
            "kind": texts((task.step + 1, str(task.fields.get("kind", ""))) for task in tasks),
            "ended": texts((task.ended, task.how or "") for task in tasks if task.ended is not None),
            "verdict": texts(
                (each.judged // frames + 1, each.verdict)
                for each in meta.prompts
                if each.judged is not None and each.verdict is not None
            ),
        },
        "marks": {
            "positive": np.array([sum(sign > 0 for _, sign, _ in each) for each in marked], np.int64),
            "negative": np.array([sum(sign < 0 for _, sign, _ in each) for each in marked], np.int64),
            "by_rater": [json.dumps(each) for each in marked],
        },
    }
