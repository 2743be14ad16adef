"""`metrics.jsonl`: the record of a run, one line a step, on disk as soon as it is logged."""

from __future__ import annotations

import json
import logging
import math
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from interplay.tracking.tracker import Tracker

log = logging.getLogger(__name__)

DIGITS = 7  # what a float32 can tell apart


class MetricsFile(Tracker):
    """Appends to `path`. A run that resumes from the checkpoint of `resume_step` drops the rows after it, because
    it will live through them again; without a checkpoint the file begins anew."""

    def __init__(self, path: Path | str, *, resume_step: int | None = None) -> None:
        self._path = Path(path)
        self._path.parent.mkdir(parents=True, exist_ok=True)
        _keep(self._path, resume_step)
        self._file = self._path.open("a", encoding="utf-8")
        self._warned: set[str] = set()

    def log(self, step: int, metrics: Mapping[str, float]) -> None:
        """One line: {"step": step, name: number, ...}. NaN and infinity become null, with a warning the first time."""
        row: dict[str, Any] = {"step": step}
        for name, value in metrics.items():
            row[name] = self._finite(step, name, float(value))
        self._file.write(json.dumps(row) + "\n")
        self._file.flush()

    def close(self) -> None:
        self._file.close()

    def _finite(self, step: int, name: str, value: float) -> float | None:
        if math.isfinite(value):
            return float(f"{value:.{DIGITS}g}")
        if name not in self._warned:
            self._warned.add(name)
            log.warning("%s is %s at step %d; it is written as null from here on", name, value, step)
        return None


def read_metrics(path: Path | str) -> Iterator[dict[str, Any]]:
    """The rows of a metrics file. A last line cut short by a kill is left out.

    Raises:
        ValueError: another line is no row of metrics.
    """
    lines = Path(path).read_text(encoding="utf-8").splitlines(keepends=True)
    for number, line in enumerate(lines, 1):
        if number == len(lines) and not line.endswith("\n"):
            return
        yield _row(path, line, f"line {number}")


def newest_metrics(path: Path | str, count: int) -> list[dict[str, Any]]:
    """The last rows of a metrics file, at most `count`, without reading a long one from its beginning.

    Raises:
        ValueError: see `read_metrics`.
    """
    size = Path(path).stat().st_size
    with Path(path).open("rb") as file:
        for tail in (2**16, 2**20, 2**24, size):
            start = max(0, size - tail)
            file.seek(start)
            lines = file.read().split(b"\n")[:-1]  # after the last newline there is nothing, or half a line
            lines = lines if start == 0 else lines[1:]  # the first may be half a line, too
            if start == 0 or len(lines) >= count:
                break
    return [_row(path, line.decode("utf-8"), "near its end,") for line in lines[-count:]]


def _row(path: Path | str, line: str, where: str) -> dict[str, Any]:
    try:
        row: dict[str, Any] = json.loads(line)
        int(row["step"])
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(f"{path}, {where} is no row of metrics: {line.strip()[:80]!r}") from error
    return row


def _keep(path: Path, resume_step: int | None) -> None:
    """Leaves the rows up to a step in the file: all at once or, if killed meanwhile, not at all."""
    rows = [] if resume_step is None or not path.exists() else list(read_metrics(path))
    kept = [row for row in rows if resume_step is not None and row["step"] <= resume_step]
    unfinished = path.with_name(f"{path.name}.tmp")
    with unfinished.open("w", encoding="utf-8") as file:
        file.writelines(json.dumps(row) + "\n" for row in kept)
        file.flush()
        os.fsync(file.fileno())
    unfinished.replace(path)
