"""Returns of the episodes that end within a stream of unrolls."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from interplay.agent.unroll import Unroll


@dataclass(frozen=True)
class FinishedEpisodes:
    """Finished episodes: their returns, and the share of their tasks that was done (NaN if unknown)."""

    returns: NDArray[np.float32]  # [episodes]
    success: NDArray[np.float32]  # [episodes]


def concatenate_finished(parts: Sequence[FinishedEpisodes]) -> FinishedEpisodes:
    """Concatenates finished episodes."""
    return FinishedEpisodes(
        np.concatenate([part.returns for part in parts]), np.concatenate([part.success for part in parts])
    )


class EpisodeReturns:
    """Accumulates rewards per lane, across unrolls."""

    def __init__(self, lanes: int) -> None:
        self._sums = np.zeros(lanes, np.float32)

    def add(self, unroll: Unroll) -> FinishedEpisodes:
        """Add a scored unroll; returns the episodes that ended in rows 0 .. T - 1 of it."""
        returns, success = [], []
        last, truth, reward = (unroll.arrays[key] for key in ("last", "success", "reward"))
        for t in range(unroll.steps):
            for lane in np.flatnonzero(last[t]):
                returns.append(self._sums[lane])
                success.append(truth[t, lane])
                self._sums[lane] = 0
            self._sums += np.where(last[t], 0, reward[t])
        return FinishedEpisodes(np.array(returns, np.float32), np.array(success, np.float32))

    def state(self) -> Any:
        """The resumable state."""
        return torch.from_numpy(self._sums.copy())

    def load_state(self, state: Any) -> None:
        """Restores a result of `state`."""
        self._sums = state.numpy().copy()
