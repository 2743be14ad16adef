"""Kills parts of a run under Ray, as the machine does where it runs out of memory."""

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

LONG = 600.0  # seconds; the longest that anything here may take: where others want the cores, a restart takes minutes


class Killer(threading.Thread):
    """Kills the named parts, each once it has a process and something has been learned; waits for its successor."""

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

    def _until(self, victim: str, is_it: Callable[[int], bool]) -> int:
        return pid_once(self._folder, victim, lambda worker: is_it(worker["pid"]))


def pid_once(folder: Path, name: str, is_so: Callable[[Mapping[str, Any]], bool]) -> int:
    """The process of a part, once something has been learned and what the run's status says of the part is so."""
    ends = time.monotonic() + LONG
    while time.monotonic() < ends:
        time.sleep(0.05)
        file = folder / "status.json"
        status = json.loads(file.read_text()) if file.exists() else {"workers": []}
        found = [worker for worker in status["workers"] if worker["name"] == name]
        saved = checkpoint.latest(folder / "checkpoints") is not None
        if saved and found and is_so(found[0]):
            return int(found[0]["pid"])
    raise AssertionError(f"{name} did not come to that in {LONG} s")
