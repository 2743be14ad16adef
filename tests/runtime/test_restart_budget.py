"""Old restarts leave the budget, unless the worker made no progress since; each is explained in a line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from ray.exceptions import OutOfMemoryError

from interplay.runtime.config import RuntimeConfig
from interplay.runtime.crashes import CrashReports
from interplay.runtime.ray.worker_placement import WorkerPlacement
from interplay.runtime.ray.worker_restarts import WorkerHandle
from interplay.runtime.restart_budget import RestartBudget


class Clock:
    """A clock that advances only when it is set."""

    def __init__(self) -> None:
        self.now = 50.0

    def __call__(self) -> float:
        return self.now


def test_frequent_restarts_are_counted() -> None:
    clock = Clock()
    budget = RestartBudget(5, 3600.0, clock)
    for number in range(1, 7):
        assert budget.record_failure(completed=number) == number
        assert budget.exhausted == (number > 5)
        clock.now += 500


def test_daily_restarts_do_not_accumulate() -> None:
    clock = Clock()
    budget = RestartBudget(5, 3600.0, clock)
    for day in range(30):
        assert budget.record_failure(completed=1000 * day) == 1
        clock.now += 24 * 3600


def test_a_death_is_forgotten_only_after_the_window() -> None:
    clock = Clock()
    budget = RestartBudget(5, 3600.0, clock)
    assert budget.record_failure(completed=1) == 1
    clock.now += 3600
    assert budget.record_failure(completed=2) == 2
    clock.now += 1
    assert budget.record_failure(completed=3) == 2  # the first is forgotten, the second is not


def test_restarts_without_progress_are_counted_however_slow() -> None:
    clock = Clock()
    budget = RestartBudget(5, 3600.0, clock)
    assert budget.record_failure(completed=5) == 1
    for number in (2, 3, 4):
        clock.now += 7200
        assert budget.record_failure(completed=5) == number
    clock.now += 7200
    assert budget.record_failure(completed=6) == 1  # it has made progress


@pytest.mark.parametrize(
    ("cause", "says"),
    [
        ('waited 9 s\nThread 0x1:\n  File "worker.py", line 3 in <module>\n', "waited 9 s"),
        (OutOfMemoryError("1 worker was killed\nRefer to the documentation"), "OutOfMemoryError: 1 worker was killed"),
    ],
)
def test_a_restart_is_explained_by_its_reason_not_by_stacks_or_advice(
    cause: str | OutOfMemoryError, says: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    no_group: Any = None
    placement, crashes = WorkerPlacement(no_group, ()), CrashReports(tmp_path, seed=1, config="", limit=2, window=60.0)
    worker = WorkerHandle("actor-0", object, placement=placement, crashes=crashes, config=RuntimeConfig("ray"))
    worker.handle_failure(cause, [])
    assert caplog.messages[-1].endswith(f"actor-0.txt): {says}")
    assert str(cause).splitlines()[-1] in (tmp_path / "actor-0.txt").read_text()
