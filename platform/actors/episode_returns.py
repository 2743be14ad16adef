"""Returns of the episodes and of the tasks that end within a stream of unrolls."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from interplay.agent.unroll import Unroll


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
        self._sums = np.zeros(lanes, np.float32)  # since the start of the episode
        self._task_sums = np.zeros(lanes, np.float32)  # since the start of the task

    def add(self, unroll: Unroll) -> FinishedEpisodes:
        """Add a scored unroll; returns the episodes that ended in rows 0 .. T - 1 of it."""
        returns, success, tasks = [], [], []
        finished = iter([*unroll.tasks, None])
        task = next(finished)
        last, truth, reward = (unroll.arrays[key] for key in ("last", "success", "reward"))
        for t in range(unroll.steps):
            while task is not None and task.row == t:
                total = float(self._task_sums[task.lane])
                tasks.append(TaskReturn(task.kind, task.done, task.answered, total))
                self._task_sums[task.lane] = 0
                task = next(finished)
            for lane in np.flatnonzero(last[t]):
                returns.append(self._sums[lane])
                success.append(truth[t, lane])
                self._sums[lane] = self._task_sums[lane] = 0
            earned = np.where(last[t], 0, reward[t])
            self._sums += earned
            self._task_sums += earned
        assert task is None, f"{task} does not lie in rows 0 to {unroll.steps - 1}, by row"
        return FinishedEpisodes(np.array(returns, np.float32), np.array(success, np.float32), tuple(tasks))

    def state(self) -> Any:
        """The resumable state: [lanes, 2]."""
        return torch.from_numpy(np.stack([self._sums, self._task_sums], axis=1))

    def load_state(self, state: Any) -> None:
        """Restores a result of `state`, or the sums of episodes alone [lanes] that older versions saved."""
        sums = state.numpy().copy()
        self._sums, self._task_sums = (sums, sums.copy()) if sums.ndim == 1 else (sums[:, 0].copy(), sums[:, 1].copy())
