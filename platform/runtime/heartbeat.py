"""What a part says of itself: what it is doing, since when, and how much of its time it has been busy."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

WAITING = "waits"


@dataclass(frozen=True)
class Activity:
    """One reading of a pulse."""

    doing: str
    since: float  # seconds
    busy: float  # seconds, of `alive`
    alive: float  # seconds
    pid: int
    completed: int = 0  # by a part that counts for itself


class Heartbeat:
    """Kept by a part, read from another thread."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._doing = WAITING
        self._born = self._since = clock()
        self._busy = 0.0
        self._completed = 0

    @contextmanager
    def doing(self, what: str) -> Iterator[None]:
        """While entered, the part is busy with this; then it waits again."""
        self._turn_to(what)
        try:
            yield
        finally:
            self._turn_to(WAITING)

    @contextmanager
    def waiting(self, what: str) -> Iterator[None]:
        """While entered, the part is idle in the middle of what it does, and this is what it waits for."""
        with self.within(f"{WAITING} {what}"):
            yield

    @contextmanager
    def within(self, what: str) -> Iterator[Callable[[str], None]]:
        """While entered, the part is busy with a long piece of what it does; then it goes on with that.

        What is yielded is called as it gets on, and says how far it is: nobody takes what moves for stuck.
        """
        before = self._doing
        self._turn_to(what)
        try:
            yield self._turn_to
        finally:
            self._turn_to(before)

    def add_completed(self, count: int) -> None:
        """So many pieces more of what the part makes."""
        with self._lock:
            self._completed += count

    def waits(self, what: str) -> None:
        """The part is idle, and this is what it waits for; any other part of its time is busy."""
        self._turn_to(f"{WAITING} {what}")

    def works(self, what: str) -> None:
        """The part is busy with this until it says otherwise."""
        self._turn_to(what)

    def read(self) -> Activity:
        """The pulse now."""
        with self._lock:
            now = self._clock()
            busy = self._busy + (0.0 if self._idle() else now - self._since)
            return Activity(self._doing, now - self._since, busy, now - self._born, os.getpid(), self._completed)

    def _turn_to(self, what: str) -> None:
        with self._lock:
            now = self._clock()
            if not self._idle():
                self._busy += now - self._since
            self._doing, self._since = what, now

    def _idle(self) -> bool:
        return self._doing.startswith(WAITING)


class IdleFraction:
    """The idle share of a part between two readings of its pulse."""

    def __init__(self) -> None:
        self._before: Activity | None = None
        self._share = 0.0

    def of(self, activity: Activity) -> float:
        """From 0 to 1 since the last reading, or since the part began where there is none or it began anew."""
        before = self._before
        fresh = before is None or before.pid != activity.pid or activity.alive < before.alive
        busy = activity.busy - (0.0 if fresh or before is None else before.busy)
        alive = activity.alive - (0.0 if fresh or before is None else before.alive)
        self._before = activity
        if alive > 0:
            self._share = min(1.0, max(0.0, 1 - busy / alive))
        return self._share
