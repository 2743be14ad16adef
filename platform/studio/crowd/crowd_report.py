"""What the synthetic people of a crowd did: counts, times and errors."""

from __future__ import annotations

import threading
from collections import Counter, defaultdict
from typing import Any

import numpy as np

from interplay.core.counted import counted


class CrowdReport:
    """Counts and times that all people of a crowd share. Its methods may be called by several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.counts: Counter[str] = Counter()
        self.errors: Counter[str] = Counter()
        self._seconds: dict[str, list[float]] = defaultdict(list)
        self.ended = ""  # why the crowd left early
        self.marks: list[str] = []  # ids that the studio acknowledged and that were not undone

    def count(self, what: str, by: int = 1) -> None:
        """Counts an event."""
        with self._lock:
            self.counts[what] += by

    def time(self, what: str, seconds: float) -> None:
        """Adds a duration."""
        with self._lock:
            self._seconds[what].append(seconds)

    def error(self, error: Exception) -> None:
        """Counts an error by its type and message."""
        with self._lock:
            self.errors[f"{type(error).__name__}: {error}"[:200]] += 1

    def acknowledged(self, mark: str) -> None:
        """Records the id of a mark that the studio has confirmed as stored."""
        with self._lock:
            self.marks.append(mark)

    def to_json(self) -> dict[str, Any]:
        """Counts, errors, and the median and 95th percentile of each duration in milliseconds."""
        with self._lock:
            times = {what: _percentiles(seconds) for what, seconds in sorted(self._seconds.items())}
            return {"counts": dict(sorted(self.counts.items())), "ms": times, "errors": dict(self.errors)}

    def sentences(self) -> str:
        """The report as lines of text."""
        found = self.to_json()
        lines = [f"  {self.ended}"] if self.ended else []
        lines += [f"  {what}: {count}" for what, count in found["counts"].items()]
        lines += [
            f"  {what}: median {ms['p50']:.0f} ms, 95% within {ms['p95']:.0f} ms ({counted(ms['n'], 'time')})"
            for what, ms in found["ms"].items()
        ]
        lines += [f"  error, {counted(count, 'time')}: {words}" for words, count in found["errors"].items()]
        return "".join(f"{line}\n" for line in lines or ["  nothing happened"])


def _percentiles(seconds: list[float]) -> dict[str, float]:
    p50, p95 = np.percentile(np.array(seconds) * 1000, [50, 95])
    return {"n": len(seconds), "p50": round(float(p50), 1), "p95": round(float(p95), 1)}
