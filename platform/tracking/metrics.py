"""`metrics.jsonl`: the record of a run, one line a step, on disk as soon as it is logged."""

from __future__ import annotations

import logging
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from interplay.core.files import JsonLines
from interplay.tracking.tracker import Tracker

log = logging.getLogger(__name__)

DIGITS = 7  # what a float32 can tell apart


class MetricsFile(Tracker):
    """Appends to `path`. A run that resumes from the checkpoint of `resume_step` drops the rows after it, because
    it will live through them again; without a checkpoint the file begins anew."""

    def __init__(self, path: Path | str, *, resume_step: int | None = None) -> None:
        self._rows = JsonLines(path, key="step")
        self._rows.drop_after(resume_step)
        self._warned: set[str] = set()

    def log(self, step: int, metrics: Mapping[str, float]) -> None:
        """One line: {"step": step, name: number, ...}. NaN and infinity become null, with a warning the first time."""
        row: dict[str, Any] = {"step": step}
        for name, value in metrics.items():
            row[name] = self._finite(step, name, float(value))
        self._rows.append(row)

    def close(self) -> None:
        """Nothing to do: every row has been written already."""

    def _finite(self, step: int, name: str, value: float) -> float | None:
        if math.isfinite(value):
            return float(f"{value:.{DIGITS}g}")
        if name not in self._warned:
            self._warned.add(name)
            log.warning("%s is %s at step %d; it is written as null from here on", name, value, step)
        return None


def read_metrics(path: Path | str) -> list[dict[str, Any]]:
    """The rows of a metrics file. A last line cut short by a kill is left out.

    Raises:
        ValueError: another line is no row of metrics.
    """
    return JsonLines(path, key="step").read()


def newest_metrics(path: Path | str, count: int) -> list[dict[str, Any]]:
    """The last rows of a metrics file, at most `count`, without reading a long one from its beginning.

    Raises:
        ValueError: see `read_metrics`.
    """
    return JsonLines(path, key="step").newest(count)
