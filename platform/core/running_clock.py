"""A clock that does not advance while its process is suspended, as by Ctrl-Z or in a frozen container."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

MAX_GAP_SECONDS = 10.0  # between two readings


class RunningClock:
    """Returns the seconds in which the process has run, if it is read regularly, by any of its threads.

    Of a gap between two readings only the first `MAX_GAP_SECONDS` count: the process was suspended for the others. A
    process that runs but is too busy to read it gets more time, and a limit that is compared with it still expires.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._seconds, self._read_at = 0.0, clock()

    def __call__(self) -> float:
        with self._lock:
            now = self._clock()
            self._seconds += min(now - self._read_at, MAX_GAP_SECONDS)
            self._read_at = now
            return self._seconds
