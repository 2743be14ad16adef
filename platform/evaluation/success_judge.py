"""Judge of one play of a task: whether it succeeded, and when it ended."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from interplay.env.task import Task
from interplay.env.world import WorldSpec


class SuccessJudge:
    """Judges a task step by step. An instruction succeeds once it has stayed done for `hold` steps.

    Passing by a place, or bumping into the thing to move, therefore does not count. The success counts from the step at
    which the task was done, which must lie within `limit`; a play in which it is done at the limit continues until it
    has been held, or no longer is. A world that ends the episode while the task is done leaves no time to undo it, so
    that counts as held. A question is answered once, by the first utterance.

    A task of whole episodes (`Task.whole_episode`) succeeds if it is done when the world ends the episode, or at
    `limit`, and the play ends only then.
    """

    def __init__(self, task: Task, *, limit: int, hold: int) -> None:
        self._task = task
        self._limit = limit
        self._hold = 0 if task.answer is not None else hold
        self._done_since: int | None = None
        self.success_step: int | None = None  # step at which the task was done; None: no success so far

    def is_over(self, step: int, facts: Any, said: Sequence[str], *, world_done: bool) -> bool:
        """Judges the moment after `step` steps; returns whether the play is over.

        Args:
            said: the solver's utterances since it heard the task, oldest first.
            world_done: the world has ended the episode.
        """
        if not self._task.success(facts, said):
            self._done_since = None
        elif self._done_since is None:
            self._done_since = step
        whole = self._task.whole_episode
        ended = world_done or (whole and step >= self._limit)
        held = not whole and self._done_since is not None and step - self._done_since >= self._hold
        if ended or held:
            self.success_step = self._done_since
        answered = self._task.answer is not None and bool(said)
        out_of_time = step >= self._limit and self._done_since is None
        return ended or held or answered or out_of_time


def holding_steps(spec: WorldSpec, stated: int | None) -> int:
    """The steps for which success must last: as `stated`, else those that come nearest to a second in this world, at
    least 1."""
    return max(1, round(spec.frames_per_second / spec.frames_per_step)) if stated is None else stated
