"""The interface of a metrics logger; and `metrics.jsonl`, the record of a run.

The file has one JSON object per step, written to disk when it is logged.
"""

from __future__ import annotations

import logging
import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from interplay.core.files import JsonLines


class Tracker(ABC):
    """Logs the metrics of a run, one row per step. Steps are the run's own counter and never decrease."""

    @abstractmethod
    def log(self, step: int, metrics: Mapping[str, float]) -> None:
        """Logs the metrics at a step."""

    @abstractmethod
    def close(self) -> None:
        """Flushes and closes; no more rows follow."""


log = logging.getLogger(__name__)

RENAMED_METRICS = {"unpaid": "unscored"}  # old names in files of earlier commits
SIGNIFICANT_DIGITS = 7  # the precision of a float32; whole numbers are counts, which are written exactly


class MetricsFile(Tracker):
    """Appends rows to `path`.

    A run that resumes from the checkpoint of `resume_step` drops the later rows, because it repeats those updates; a
    run without a checkpoint starts an empty file.
    """

    def __init__(self, path: Path | str, *, resume_step: int | None = None) -> None:
        self._rows = JsonLines(path, key="step")
        self._rows.drop_after(resume_step)
        self._warned: set[str] = set()

    def log(self, step: int, metrics: Mapping[str, float]) -> None:
        """Writes {"step": step, name: number, ...}. NaN and infinity become null, with one warning per metric."""
        row: dict[str, Any] = {"step": step}
        for name, value in metrics.items():
            row[name] = self._finite(step, name, float(value))
        self._rows.append(row)

    def close(self) -> None:
        """Nothing to do: every row has been written already."""

    def _finite(self, step: int, name: str, value: float) -> float | None:
        if math.isfinite(value):
            return value if value.is_integer() else float(f"{value:.{SIGNIFICANT_DIGITS}g}")
        if name not in self._warned:
            self._warned.add(name)
            log.warning("%s is %s at step %d; non-finite values of it are written as null", name, value, step)
        return None


def read_metrics(path: Path | str) -> list[dict[str, Any]]:
    """Returns the rows of a metrics file, without a last line that a kill cut short, under current names of metrics.

    Raises:
        FileNotFoundError: there is no such file.
        ValueError: another line is not a row of metrics.
    """
    path = Path(path)
    if not path.exists():
        raise FileNotFoundError(
            f"there is no metrics file {path}; give the metrics.jsonl of a training stage that has begun, as "
            "runs/demo/reinforce/metrics.jsonl"
        )
    return [with_current_metrics(row) for row in JsonLines(path, key="step").read()]


def with_current_metrics(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row of a metrics file with old names of metrics replaced."""
    return {RENAMED_METRICS.get(name, name): value for name, value in row.items()}
