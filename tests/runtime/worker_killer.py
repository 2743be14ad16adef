"""Kills workers of a run under Ray, as the operating system does when memory runs out."""

from __future__ import annotations

import json
import os
import signal
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from interplay.learner import checkpoint

TIMEOUT_SECONDS = 600.0  # of any wait; on a busy machine a restart takes minutes


class WorkerKiller(threading.Thread):
    """Kills the named workers in turn, each after the first checkpoint, and waits for its replacement."""

    def __init__(self, folder: Path, victims: tuple[str, ...]) -> None:
        super().__init__(daemon=True)
        self._folder, self._victims = folder, victims
        self.killed: dict[str, int] = {}

    def run(self) -> None:
        for victim in self._victims:
            before = self._until(victim, lambda pid: pid > 0)
            os.kill(before, signal.SIGKILL)
            self.killed[victim] = before
            self._until(victim, lambda pid, before=before: pid not in (0, before))  # type: ignore[misc]

    def _until(self, victim: str, accepts: Callable[[int], bool]) -> int:
        return await_worker_pid(self._folder, victim, lambda worker: accepts(worker["pid"]))


def await_worker_pid(folder: Path, name: str, accepts: Callable[[Mapping[str, Any]], bool]) -> int:
    """The process id of a worker, after the first checkpoint and once `accepts` holds for its row of `status.json`."""
    deadline = time.monotonic() + TIMEOUT_SECONDS
    while time.monotonic() < deadline:
        time.sleep(0.05)
        file = folder / "status.json"
        status = json.loads(file.read_text()) if file.exists() else {"workers": []}
        found = [worker for worker in status["workers"] if worker["name"] == name]
        saved = checkpoint.latest(folder / "checkpoints") is not None
        if saved and found and accepts(found[0]):
            return int(found[0]["pid"])
    raise AssertionError(f"{name} did not reach that state in {TIMEOUT_SECONDS} s")
