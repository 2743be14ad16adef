"""The interface of a metrics logger."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping


class Tracker(ABC):
    """Logs the metrics of a run, one row per step. Steps are the run's own counter and never decrease."""

    @abstractmethod
    def log(self, step: int, metrics: Mapping[str, float]) -> None:
        """Logs the metrics at a step."""

    @abstractmethod
    def close(self) -> None:
        """Flushes and closes; no more rows follow."""
