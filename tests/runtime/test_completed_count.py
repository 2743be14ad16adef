"""The count of what a worker has completed, which the stage and the status of the run change in two threads."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import cast

from interplay.runtime.config import RuntimeConfig
from interplay.runtime.crashes import CrashReports
from interplay.runtime.heartbeat import HeartbeatReading
from interplay.runtime.ray.worker_placement import WorkerPlacement
from interplay.runtime.ray.worker_restarts import WorkerHandle


class Counted(int):
    """The count in a heartbeat, while whose addition another thread counts one more."""

    adds: threading.Thread

    def __radd__(self, before: int) -> int:
        self.adds.start()
        self.adds.join(timeout=0.2)  # it may have to wait until the heartbeat has been taken
        return before + int(self)


def test_an_item_that_is_counted_while_a_heartbeat_is_taken_is_not_lost(tmp_path: Path) -> None:
    crashes = CrashReports(tmp_path, seed=1, config="abc", limit=1, window=3600.0)
    placement = cast("WorkerPlacement", None)  # the worker is never started
    worker = WorkerHandle("actor-0", object, placement=placement, crashes=crashes, config=RuntimeConfig("ray"))
    counted = Counted(0)
    counted.adds = threading.Thread(target=worker.add_completed)
    worker.heard(HeartbeatReading("plays", 0.0, 0.0, 0.0, 1, counted))
    counted.adds.join(timeout=60.0)
    assert worker.completed == 1
    worker.heard(HeartbeatReading("plays", 0.0, 0.0, 0.0, 1, 7))
    assert worker.completed == 7
