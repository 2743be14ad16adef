"""Kills parts of a run under Ray, as the machine does where it runs out of memory."""

from __future__ import annotations

import json
import os
import signal
import threading
import time
from collections.abc import Callable
from pathlib import Path

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
        ends = time.monotonic() + LONG
        while time.monotonic() < ends:
            time.sleep(0.05)
            file = self._folder / "status.json"
            status = json.loads(file.read_text()) if file.exists() else {"parts": [], "update": 0}
            pids = {part["name"]: part["pid"] for part in status["parts"]}
            saved = checkpoint.latest(self._folder / "checkpoints") is not None
            if saved and is_it(pids.get(victim, 0)):
                return int(pids[victim])
        raise AssertionError(f"{victim} did not come in {LONG} s")
