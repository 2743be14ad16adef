"""Crash reports: why workers failed, one file per worker in the run's folder, and the error that ends a run."""

from __future__ import annotations

import hashlib
import json
import logging
import re
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from interplay.runtime.worker_log import WorkerLog

logger = logging.getLogger(__name__)

ANSI_COLORS = re.compile(r"\x1b\[[0-9;]*m")


class WorkerFailed(RuntimeError):
    """A worker failed more often than allowed. The message ends with its traceback and its last output."""


@dataclass(frozen=True)
class CrashReports:
    """Writes `folder`/<worker>.txt."""

    folder: Path
    seed: int
    config: str  # `config_hash` of the run's configuration
    limit: int  # restarts of a worker within the window
    window: float  # seconds

    def record_failure(self, worker: str, number: int, cause: str, episodes: list[str]) -> Path:
        """Appends one failure to the worker's file; returns the file.

        If the file can't be written, as on a full disk, the report is logged: the disk must not hide the failure.

        Args:
            number: of the failure among those within the window, from 1.
            episodes: of the worker's last unroll; empty if it has made none.
        """
        file = self.folder / f"{worker}.txt"
        when = datetime.now(UTC).isoformat(timespec="seconds")
        named = f", episodes of its last unroll: {', '.join(episodes)}" if episodes else ""
        report = (
            f"{when}  {worker} went down, {number} of at most {self.limit} times in {self.window:g} s\n"
            f"seed {self.seed}, config {self.config}{named}\n"
            f"{self._with_output(worker, cause)}\n\n"
        )
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            with file.open("a", encoding="utf-8") as opened:
                opened.write(report)
        except OSError as error:
            logger.error("%s can't be written (%s); it would say:\n%s", file, error, report)
        return file

    def restarts_exhausted(self, worker: str, cause: str, file: Path) -> WorkerFailed:
        """Returns the error to raise when a worker has failed more often than allowed."""
        return WorkerFailed(
            f"{worker} went down more often than runtime.restarts={self.limit} allows in runtime.restart_window="
            f"{self.window:g} seconds; the same command continues from the newest checkpoint. All failures: {file}. "
            f"The last one:\n{self._with_output(worker, cause)}"
        )

    @property
    def stacks(self) -> Path:
        """Folder of the workers' stack dumps."""
        return self.folder / "stacks"

    def worker_log(self, worker: str) -> WorkerLog:
        """Captured output of a worker."""
        return WorkerLog(self.folder / "logs", worker)

    def _with_output(self, worker: str, cause: str) -> str:
        """The cause, followed by the worker's last output if there is any."""
        cause, log = ANSI_COLORS.sub("", cause).strip(), self.worker_log(worker)
        tail = ANSI_COLORS.sub("", log.tail())
        return f"{cause}\nThe last output of {worker} ({log.file}):\n{tail}" if tail else cause


def config_hash(config: Any) -> str:
    """Twelve hexadecimal digits that identify a configuration of plain values."""
    return hashlib.sha256(json.dumps(config, sort_keys=True, default=str).encode()).hexdigest()[:12]
