"""Limits on how often something may happen, per person or address."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict, deque

KEPT_KEYS = 10_000  # the longest unused are forgotten


class RateLimit:
    """At most `count` events of one key within `seconds`."""

    def __init__(self, count: int, *, seconds: float) -> None:
        self._count = count
        self._seconds = seconds
        self._lock = threading.Lock()
        self._times: OrderedDict[str, deque[float]] = OrderedDict()

    def allows(self, key: str) -> bool:
        """Counts an event of this key, unless there are too many already."""
        now = time.monotonic()
        with self._lock:
            times = self._times.setdefault(key, deque())
            self._times.move_to_end(key)
            while len(self._times) > KEPT_KEYS:
                self._times.popitem(last=False)
            while times and times[0] <= now - self._seconds:
                times.popleft()
            if len(times) >= self._count:
                return False
            times.append(now)
            return True
