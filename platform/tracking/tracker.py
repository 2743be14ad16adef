"""Where the numbers of a run go."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence


class Tracker(ABC):
    """Takes the metrics of a run, one row a step. Steps are the run's own counter and never go back."""

    @abstractmethod
    def log(self, step: int, metrics: Mapping[str, float]) -> None:
        """The metrics at a step."""

    @abstractmethod
    def close(self) -> None:
        """Nothing more will come."""


class Trackers(Tracker):
    """Several trackers as one; each gets every row, in this order."""

    def __init__(self, trackers: Sequence[Tracker]) -> None:
        self._trackers = tuple(trackers)

    def log(self, step: int, metrics: Mapping[str, float]) -> None:
        for tracker in self._trackers:
            tracker.log(step, metrics)

    def close(self) -> None:
        for tracker in self._trackers:
            tracker.close()
