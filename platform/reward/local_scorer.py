"""Scorer with a reward model in this process; requests are scored one at a time."""

from __future__ import annotations

import threading
from collections.abc import Callable

from interplay.agent.observation import Arrays
from interplay.agent.weights import Weights
from interplay.reward.reward_functions import LaneState, RewardFunction, ScoredUnroll

ReadVersion = Callable[[str], tuple[Weights, int]]  # the weights and the version of a checkpoint, by its path


class LocalScorer:
    """A `Scorer` without replicas. `read` reads the checkpoints of `load`."""

    def __init__(self, function: RewardFunction, read: ReadVersion) -> None:
        self._function = function
        self._read = read
        self._lock = threading.Lock()  # no unroll is scored with half of one version and half of another

    @property
    def version(self) -> int:
        return self._function.version

    def score(self, arrays: Arrays, lane_state: LaneState) -> ScoredUnroll:
        with self._lock:
            return self._function.score(arrays, lane_state)

    def load(self, checkpoint: str) -> int:
        weights, version = self._read(checkpoint)
        with self._lock:
            self._function.load_version(weights, version)
        return version
