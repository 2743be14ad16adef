"""Budget of restarts of a worker: failures older than the window are forgotten, unless nothing was produced since."""

from __future__ import annotations

import time
from collections.abc import Callable


class RestartBudget:
    """Decides whether a failed worker is restarted: counts its failures, over all its processes, against a limit."""

    def __init__(self, limit: int, window: float, clock: Callable[[], float] = time.monotonic) -> None:
        """
        Args:
            limit: restarts within the window; one failure more exhausts the budget and ends the run.
            window: seconds after which a failure is forgotten.
            clock: seconds since any fixed point.
        """
        self._limit = limit
        self._window = window
        self._clock = clock
        self._failures: list[tuple[float, int]] = []  # time, and the number of completed items by then

    @property
    def exhausted(self) -> bool:
        """Whether more failures count than the limit allows restarts, as of the last recorded one."""
        return len(self._failures) > self._limit

    def record_failure(self, completed: int) -> int:
        """Records a failure; returns how many failures count now, this one included.

        A failure older than the window still counts while no item was completed since: a worker that needs an hour to
        start and fails each time is given up, too.

        Args:
            completed: items that the worker has completed in all its processes.
        """
        now = self._clock()
        self._failures = [
            (at, before) for at, before in self._failures if now - at <= self._window or completed <= before
        ]
        self._failures.append((now, completed))
        return len(self._failures)
