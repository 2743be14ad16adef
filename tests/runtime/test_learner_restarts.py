"""The restarts of a learner process: their limit, and which failures count."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from interplay.core.running_clock import RunningClock
from interplay.learner import checkpoint
from interplay.runtime.config import RuntimeConfig
from interplay.runtime.crashes import CrashReports, WorkerFailed
from interplay.runtime.interruption import Interrupted, StopRequest
from interplay.runtime.ray import learner_supervision
from interplay.runtime.ray.cluster_session import ClusterSession
from interplay.runtime.ray.learner_supervision import LearnerDied, SupervisedStage, _LearnerProcess
from interplay.runtime.ray.worker_restarts import LOST_BEFORE_START_TEXTS

RESTART_WINDOW_SECONDS = 1e-6  # shorter than the time between any two failures


@pytest.fixture
def supervised(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[[list[Callable[[], None]]], list[int]]:
    """Runs the given learner processes one after the other; returns the restart count that each received."""

    def run(processes: list[Callable[[], None]]) -> list[int]:
        restart_counts: list[int] = []

        class FakeProcess:
            """Calls the next function in place of a process."""

            def __init__(
                self, work: SupervisedStage, session: object, placement: object, restarts: int, counted: int
            ) -> None:
                assert work.crashes.limit >= counted
                restart_counts.append(restarts)

            def follow(self, stop: object) -> None:
                processes[restart_counts[-1]]()

            def end(self) -> None:
                pass

        monkeypatch.setattr(learner_supervision, "_LearnerProcess", FakeProcess)
        config = RuntimeConfig("ray", restarts=1, restart_window=RESTART_WINDOW_SECONDS)
        crashes = CrashReports(tmp_path / "crashes", seed=1, config="abc", limit=1, window=RESTART_WINDOW_SECONDS)
        none: Any = None
        work = SupervisedStage("reinforce", tmp_path, none, (), config, crashes, on_accepted=bool)
        with StopRequest() as stop:
            learner_supervision._run_with_restarts(work, ClusterSession(), none, stop)
        return restart_counts

    return run


def fail(message: str = "killed") -> None:
    raise LearnerDied(message)


def test_a_learner_that_saves_between_failures_is_restarted(supervised: Any, tmp_path: Path) -> None:
    def save_and_fail(step: int) -> Callable[[], None]:
        def process() -> None:
            checkpoint.save(tmp_path / "checkpoints", step=step, description={}, weights={}, training={})
            fail()

        return process

    assert supervised([*map(save_and_fail, (10, 20, 30, 40)), lambda: None]) == [0, 1, 2, 3, 4]
    assert (tmp_path / "crashes/learner.txt").read_text().count("went down, 1 of at most 1 times in 1e-06 s") == 4


def test_a_learner_that_saves_nothing_between_failures_ends_the_run(supervised: Any, tmp_path: Path) -> None:
    checkpoint.save(tmp_path / "checkpoints", step=10, description={}, weights={}, training={})
    with pytest.raises(WorkerFailed, match=r"runtime\.restarts=1 allows in runtime\.restart_window=1e-06 seconds"):
        supervised([fail, fail, lambda: None])
    assert (tmp_path / "crashes/learner.txt").read_text().count("went down, ") == 2


def test_a_learner_scheduled_on_a_lost_node_is_not_counted_again(supervised: Any, tmp_path: Path) -> None:
    def never_runs() -> None:
        fail("ActorDiedError: " + "\n".join(LOST_BEFORE_START_TEXTS))

    assert supervised([fail, never_runs, never_runs, lambda: None]) == [0, 1, 2, 3]
    assert (tmp_path / "crashes/learner.txt").read_text().count("went down, ") == 1


def test_a_learner_that_dies_after_a_stop_is_not_started_again(supervised: Any) -> None:
    """As where the signal reached all processes of Ray: nothing would start any more."""

    def stop_and_die() -> None:
        StopRequest.request_stop()
        fail()

    with pytest.raises(Interrupted, match=r"see .*learner.*the same command continues from the newest checkpoint"):
        supervised([stop_and_die])


def test_a_driver_that_was_suspended_has_not_waited_for_the_learner(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    now = [0.0]
    call = SimpleNamespace(remote=lambda *given: object())
    made = SimpleNamespace(remote=lambda *given: SimpleNamespace(report=call, dump=call))
    monkeypatch.setattr(learner_supervision, "RunningClock", lambda: RunningClock(lambda: now[0]))
    monkeypatch.setattr(learner_supervision, "remote_class", lambda *given: made)
    monkeypatch.setattr(learner_supervision.ray, "wait", lambda *given, **named: ([], []))  # nothing is answered
    crashes = CrashReports(tmp_path / "crashes", seed=1, config="abc", limit=1, window=3600.0)
    none: Any = None
    work = SupervisedStage("reinforce", tmp_path, none, (), RuntimeConfig("ray"), crashes, on_accepted=bool)
    process = _LearnerProcess(work, ClusterSession(), none, 0, 0)
    process._has_reported = True
    now[0] += 3600.0
    process._poll()
    with pytest.raises(LearnerDied, match=r"not moved for 60\d s .* does not answer"):
        for _ in range(1000):
            now[0] += 1.0
            process._poll()
