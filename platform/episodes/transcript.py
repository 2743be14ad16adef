"""What was said in an episode, and its tasks: the last utterance heard and said by each player at each row; the step in
which each task was asked, and the row at which it is judged.

The solver hears a task from the row after the step in which it was asked. A task is judged at the row at which the
setter ended it; one that stayed open, at the last row. Between two tasks none is active.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from interplay.episodes.episode import EpisodeMeta

WORLD = "world"  # speaker of texts that no player uttered, such as a mission shown from the start


def heard(meta: EpisodeMeta, role: str) -> list[str]:
    """The last utterance of the other speakers, as shown in the view of each row; [steps + 1]."""
    return _last(meta, [(u.frame, u.text) for u in meta.utterances if u.role != role])


def said(meta: EpisodeMeta, role: str) -> list[str]:
    """The role's own last utterance, as shown in the view of each row; [steps + 1]."""
    return _last(meta, [(u.frame, u.text) for u in meta.utterances if u.role == role])


def _last(meta: EpisodeMeta, spoken: list[tuple[int, str]]) -> list[str]:
    rows = [""] * (meta.steps + 1)
    new = {frame // meta.frames_per_step + 1: text for frame, text in spoken}  # heard from the next row on
    text = ""
    for row in range(len(rows)):
        text = new.get(row, text)
        rows[row] = text
    return rows


@dataclass(frozen=True)
class DialogueTask:
    """A task of an episode; steps and rows count from its start."""

    fields: Mapping[str, Any]  # as returned by the task's `to_json`
    step: int  # the step in which it was asked
    ended: int | None  # row at which the setter ended it; None if it stayed open
    how: str | None  # how it ended, such as "done"; None if it stayed open
    judged: int  # row at which its success is evaluated

    def answers(self, said: Sequence[str | None]) -> list[str]:
        """The utterances in answer to it, from those of each step [steps]; none from before the solver heard it."""
        return [text for text in said[self.step + 1 : self.judged] if text is not None]


def dialogue(meta: EpisodeMeta) -> list[DialogueTask]:
    """Returns the tasks of an episode in the order in which they were asked."""
    frames = meta.frames_per_step
    steps = [frame // frames for frame, _ in meta.tasks]
    ends: list[tuple[int | None, str | None]] = [(frame // frames, how) for frame, how in meta.endings]
    ends += [(None, None)] * (len(steps) - len(ends))  # tasks that stayed open
    return [
        DialogueTask(fields, step, ended, how, meta.steps if ended is None else ended)
        for (_, fields), step, (ended, how) in zip(meta.tasks, steps, ends, strict=True)
    ]
