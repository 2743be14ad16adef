"""The tasks of an episode, each with its time: asked in a step, judged at a row.

The solver hears a task from the row after the step in which it was asked. It is judged by the row at which the setter
put an end to it; the one that was open to the end of the episode, by the last row. Between two tasks none is wanted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from interplay.episodes.episode import EpisodeMeta


@dataclass(frozen=True)
class DialogueTask:
    """A task of an episode; steps and rows count from its start."""

    fields: Mapping[str, Any]  # as the task's `to_json` told them
    step: int  # in which it was asked
    ended: int | None  # the row at which the setter put an end to it
    how: str | None  # the end that it took; None where it had none
    judged: int  # the row at which it is seen whether it was done

    def answers(self, said: Sequence[str | None]) -> list[str]:
        """What was said to it, of what was said in each step [steps]: nothing that was said before it was heard."""
        return [text for text in said[self.step + 1 : self.judged] if text is not None]


def dialogue(meta: EpisodeMeta) -> list[DialogueTask]:
    """The tasks of an episode, in the order in which they were asked."""
    frames = meta.frames_per_step
    steps = [frame // frames for frame, _ in meta.tasks]
    ends: list[tuple[int | None, str | None]] = [(frame // frames, how) for frame, how in meta.endings]
    ends += [(None, None)] * (len(steps) - len(ends))  # of tasks that were open to the end
    return [
        DialogueTask(fields, step, ended, how, meta.steps if ended is None else ended)
        for (_, fields), step, (ended, how) in zip(meta.tasks, steps, ends, strict=True)
    ]
