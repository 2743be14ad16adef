"""Heartbeat of a worker: current activity, since when, and the fraction of its time spent busy; the status of a run.

The status is plain values: shown by the run's driver, and written to `status.json` for live views.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from typing import Any

from interplay.core.running_clock import RunningClock

WAITING = "waits"


@dataclass(frozen=True)
class HeartbeatReading:
    """State of a heartbeat at one time."""

    activity: str
    activity_seconds: float  # since the activity began, as far as the process has run
    busy_seconds: float  # of `alive_seconds`
    alive_seconds: float
    pid: int
    completed: int = 0  # by a worker that counts for itself


@dataclass(frozen=True)
class WorkerReply:
    """Base of results that carry the heartbeat of the worker that sends them, which saves a request for it."""

    heartbeat: HeartbeatReading | None = field(default=None, kw_only=True)  # set by `Worker.call`


class Heartbeat:
    """Activity of one worker; written by the worker, read from another thread."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock, self._running = clock, RunningClock(clock)
        self._lock = threading.Lock()
        self._activity = WAITING
        self._created = self._since = clock()
        self._activity_began = self._running()
        self._busy_seconds = 0.0
        self._completed = 0

    @contextmanager
    def busy(self, activity: str) -> Iterator[None]:
        """Marks the worker as busy with this inside the block, and as waiting after it."""
        self.set_busy(activity)
        try:
            yield
        finally:
            self.set_busy(WAITING)

    @contextmanager
    def idle(self, reason: str) -> Iterator[None]:
        """Marks the worker as idle for `reason` inside the block; then its previous activity continues."""
        with self.nested(f"{WAITING} {reason}"):
            yield

    @contextmanager
    def nested(self, activity: str) -> Iterator[Callable[[str], None]]:
        """Marks a long step of the current activity inside the block; then the previous activity continues.

        Yields:
            A function to call with the progress of the step: what makes progress does not count as stuck.
        """
        before = self._activity
        self.set_busy(activity)
        try:
            yield self.set_busy
        finally:
            self.set_busy(before)

    def add_completed(self, count: int) -> None:
        """Counts `count` more completed items."""
        with self._lock:
            self._completed += count

    def set_idle(self, reason: str) -> None:
        """Marks the worker as idle until the next call."""
        self.set_busy(f"{WAITING} {reason}")

    def set_busy(self, activity: str) -> None:
        """Marks the worker as busy with this until the next call. An activity that begins with `WAITING` is idle."""
        with self._lock:
            now = self._clock()
            if not self._is_idle():
                self._busy_seconds += now - self._since
            self._activity, self._since, self._activity_began = activity, now, self._running()

    def read(self) -> HeartbeatReading:
        """State of the heartbeat now."""
        with self._lock:
            now = self._clock()
            current = self._running() - self._activity_began
            busy = self._busy_seconds + (0.0 if self._is_idle() else now - self._since)
            return HeartbeatReading(self._activity, current, busy, now - self._created, os.getpid(), self._completed)

    def _is_idle(self) -> bool:
        return self._activity.startswith(WAITING)


class IdleFraction:
    """Fraction of its time that a worker was idle between two readings of its heartbeat."""

    def __init__(self) -> None:
        self._before: HeartbeatReading | None = None
        self._fraction = 0.0

    def update(self, reading: HeartbeatReading) -> float:
        """From 0 to 1 since the previous reading; since the worker started if this is the first one of its process."""
        before, self._before = self._before, reading
        busy, alive = reading.busy_seconds, reading.alive_seconds
        if before is not None and before.pid == reading.pid and reading.alive_seconds >= before.alive_seconds:
            busy, alive = busy - before.busy_seconds, alive - before.alive_seconds
        if alive > 0:
            self._fraction = min(1.0, max(0.0, 1 - busy / alive))
        return self._fraction


@dataclass(frozen=True)
class WorkerStatus:
    """Status of one process: learner, further rank, actor, dataset actor, reward replica, or inference server."""

    name: str  # "actor-0"
    kind: str  # "actor"
    activity: str  # "plays unroll 12", "waits for unrolls"
    activity_seconds: float  # since it began
    idle_fraction: float  # 0 to 1
    completed: int  # unrolls, updates, scored unrolls
    restarts: int
    pid: int  # 0 while it starts


@dataclass(frozen=True)
class RunStatus:
    """Status of one stage that is running."""

    stage: str
    time: float  # seconds since 1970
    update: int
    workers: tuple[WorkerStatus, ...] = ()
    metrics: Mapping[str, float] = field(default_factory=dict)  # newest row of metrics.jsonl

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return asdict(self)
