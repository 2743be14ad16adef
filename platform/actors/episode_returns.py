"""Returns of the episodes and of the tasks that end within a stream of unrolls."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from interplay.agent.unroll import Unroll

FEW_ROWS = 8  # with fewer, adding rows costs less than one call that accumulates them


class TaskReturn(NamedTuple):
    """A finished task with the rewards from its beginning to that of the next one, or to the episode's end.

    The tasks of an episode share its whole return; rewards before the first one is asked count for that one.
    """

    kind: str
    done: bool
    answered: bool | None  # None for an instruction
    total: float


@dataclass(frozen=True)
class FinishedEpisodes:
    """Finished episodes: their returns, and the share of their tasks that was done (NaN if unknown)."""

    returns: NDArray[np.float32]  # [episodes]
    success: NDArray[np.float32]  # [episodes]
    tasks: tuple[TaskReturn, ...] = ()  # that finished in the same unrolls, also of unfinished episodes


def concatenate_finished(parts: Sequence[FinishedEpisodes]) -> FinishedEpisodes:
    """Concatenates finished episodes."""
    return FinishedEpisodes(
        np.concatenate([part.returns for part in parts]),
        np.concatenate([part.success for part in parts]),
        tuple(task for part in parts for task in part.tasks),
    )


class EpisodeReturns:
    """Accumulates rewards per lane, across unrolls."""

    def __init__(self, lanes: int) -> None:
        self._sums = np.zeros((2, lanes), np.float32)  # since the start of the episode, and of the task

    def add(self, unroll: Unroll) -> FinishedEpisodes:
        """Add a scored unroll; returns the episodes that ended in rows 0 .. T - 1 of it."""
        returns, success, tasks = [], [], []
        of_episode, of_task = self._sums
        finished = iter([*unroll.tasks, None])
        task = next(finished)
        last, truth, reward = (unroll.arrays[key] for key in ("last", "success", "reward"))
        self._sums[:, unroll.arrays["first"][0]] = 0  # 0 already, unless an episode was lost before a resume
        earned = np.where(last[:-1], 0, reward)
        ends = np.flatnonzero(last[:-1].any(axis=1)).tolist()
        start = 0
        for t in sorted({*ends, *(each.row for each in unroll.tasks if each.row < unroll.steps)}):
            self._earn(earned[start:t])
            start = t
            while task is not None and task.row == t:
                total = float(of_task[task.lane])
                tasks.append(TaskReturn(task.kind, task.done, task.answered, total))
                of_task[task.lane] = 0
                task = next(finished)
            for lane in np.flatnonzero(last[t]):
                returns.append(of_episode[lane])
                success.append(truth[t, lane])
                self._sums[:, lane] = 0
        self._earn(earned[start:])
        assert task is None, f"{task} does not lie in rows 0 to {unroll.steps - 1}, by row"
        return FinishedEpisodes(np.array(returns, np.float32), np.array(success, np.float32), tuple(tasks))

    def _earn(self, rewards: NDArray[np.float32]) -> None:
        """Adds rows of rewards [N, lanes] one after another, because the order of additions decides how they round."""
        if len(rewards) < FEW_ROWS:
            for row in rewards:
                self._sums += row
        else:
            rows = np.empty((1 + len(rewards), *self._sums.shape), np.float32)
            rows[0], rows[1:] = self._sums, rewards[:, None]
            self._sums[:] = np.add.accumulate(rows)[-1]

    def state(self) -> Any:
        """The resumable state: [lanes, 2]."""
        return torch.from_numpy(self._sums.T.copy())

    def load_state(self, state: Any) -> None:
        """Restores a result of `state`, or the sums of episodes alone [lanes] that older versions saved."""
        self._sums[:] = state.numpy().T
