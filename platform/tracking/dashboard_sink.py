"""The base class of trackers that send metrics to a dashboard. The record of a run is its `metrics.jsonl`."""

from __future__ import annotations

import logging
from abc import abstractmethod
from collections.abc import Callable, Mapping

from interplay.tracking.metrics import Tracker

log = logging.getLogger(__name__)


class DashboardSink(Tracker):
    """Sends rows to a dashboard. If that fails, one warning is logged and the run continues without the dashboard.

    Subclasses may raise any exception in `_begin`, `_write` and `_finish`.
    """

    name: str  # of the dashboard
    remedy: str  # the settings to type, such as "tracking.tensorboard=false turns TensorBoard off"

    def __init__(self) -> None:
        self._open = False

    def start(self) -> None:
        """Opens the dashboard's run."""
        self._open = self._succeeds("start", self._begin)

    def log(self, step: int, metrics: Mapping[str, float]) -> None:
        if self._open:
            self._open = self._succeeds("log", lambda: self._write(step, metrics))

    def close(self) -> None:
        if self._open:
            self._succeeds("finish", self._finish)
            self._open = False

    @abstractmethod
    def _begin(self) -> None:
        """Opens the dashboard's run."""

    @abstractmethod
    def _write(self, step: int, metrics: Mapping[str, float]) -> None:
        """Sends a row."""

    @abstractmethod
    def _finish(self) -> None:
        """Sends what is left, and closes."""

    def _succeeds(self, action: str, call: Callable[[], None]) -> bool:
        try:
            call()
        except Exception as error:  # noqa: BLE001 - dashboards raise many types, and none may end a training run
            log.warning(
                "%s failed to %s (%r): the run continues without it, its metrics are in metrics.jsonl; %s",
                self.name,
                action,
                error,
                self.remedy,
            )
            return False
        return True
