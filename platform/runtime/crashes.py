"""Why a part went down: kept in the run's folder, one file a part, and told where the run has to be given up."""

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

COLORS = re.compile(r"\x1b\[[0-9;]*m")


class WorkerFailed(RuntimeError):
    """A part went down more often than it may. The message ends with its traceback, and what it printed last."""


@dataclass(frozen=True)
class CrashReports:
    """Writes `folder`/<part>.txt."""

    folder: Path
    seed: int
    config: str  # `config_hash` of the run's configuration
    limit: int  # restarts of a part within the window
    window: float  # seconds

    def record_failure(self, worker: str, number: int, cause: str, episodes: list[str]) -> Path:
        """Appends one crash, the part's `number`-th of late; returns the file. `episodes`: those of its last unroll;
        none where it has made none, or makes none at all.

        Where it can't be written, as on a full disk, it is logged: that must not hide what it is about.
        """
        file = self.folder / f"{worker}.txt"
        when = datetime.now(UTC).isoformat(timespec="seconds")
        named = f", episodes of its last unroll: {', '.join(episodes)}" if episodes else ""
        message = (
            f"{when}  {worker} went down, {number} of at most {self.limit} times in {self.window:g} s\n"
            f"seed {self.seed}, config {self.config}{named}\n"
            f"{self._whole(worker, cause)}\n\n"
        )
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            with file.open("a", encoding="utf-8") as opened:
                opened.write(message)
        except OSError as error:
            logger.error("%s can't be written (%s); it would say:\n%s", file, error, message)
        return file

    def restarts_exhausted(self, worker: str, cause: str, file: Path) -> WorkerFailed:
        """What to raise where a part went down once too often."""
        return WorkerFailed(
            f"{worker} went down more often than runtime.restarts={self.limit} allows in runtime.restart_window="
            f"{self.window:g} seconds; the same command goes on from the newest checkpoint. All of them: {file}. The "
            f"last one:\n{self._whole(worker, cause)}"
        )

    @property
    def stacks(self) -> Path:
        """Where the parts write their stacks."""
        return self.folder / "stacks"

    def worker_log(self, worker: str) -> WorkerLog:
        """What the part's processes print."""
        return WorkerLog(self.folder / "logs", worker)

    def _whole(self, worker: str, cause: str) -> str:
        """The cause, and the last lines that the part has printed, where there are any."""
        cause, worker_log = COLORS.sub("", cause).strip(), self.worker_log(worker)
        last = COLORS.sub("", worker_log.last())
        return f"{cause}\nThe last that {worker} printed ({worker_log.file}):\n{last}" if last else cause


def config_hash(config: Any) -> str:
    """Twelve hexadecimal digits that name a configuration of plain values."""
    return hashlib.sha256(json.dumps(config, sort_keys=True, default=str).encode()).hexdigest()[:12]
