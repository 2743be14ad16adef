"""Scores with the reward model of this process, whoever asks, one after the other."""

from __future__ import annotations

import threading
from collections.abc import Callable

from interplay.agent.observation import Arrays
from interplay.agent.weights import Weights
from interplay.reward.scoring_model import LaneState, ScoredUnroll, ScoringModel

ReadVersion = Callable[[str], tuple[Weights, int]]  # the weights and the version of a checkpoint, by its path


class LocalScorer:
    """A `Scorer` without replicas. `read` finds the checkpoints that it is asked to load."""

    def __init__(self, model: ScoringModel, read: ReadVersion) -> None:
        self._model = model
        self._read = read
        self._lock = threading.Lock()  # nothing is scored by half of one version and half of another

    @property
    def version(self) -> int:
        return self._model.version

    def score(self, arrays: Arrays, states: LaneState) -> ScoredUnroll:
        with self._lock:
            return self._model.score(arrays, states)

    def load(self, checkpoint: str) -> int:
        weights, version = self._read(checkpoint)
        with self._lock:
            self._model.load_version(weights, version)
        return version
