"""A hanging learner is killed, and its stacks are saved, whether or not it still responds."""

from __future__ import annotations

import ctypes
import os
import shutil
import signal
import sys
import threading
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import ray
from actor_pipelines import TIMEOUT_SECONDS

from interplay.core.running_clock import RunningClock
from interplay.runtime.config import Resources, RuntimeConfig
from interplay.runtime.crashes import CrashReports, WorkerFailed
from interplay.runtime.ray.learner_context import LearnerContext
from interplay.runtime.ray.learner_supervision import LearnerDied, SupervisedStage, _LearnerProcess, supervise
from interplay.runtime.ray.worker_placement import LEARNER, ResourceRequest

pytestmark = pytest.mark.usefixtures("ray_cluster")
ray.cloudpickle.register_pickle_by_value(
    sys.modules[__name__]
)  # the learner's process cannot import the tests' modules


def hang_after_report(reported: Path, hang: Callable[[], object], context: LearnerContext) -> None:
    """A stage that hangs after its first report to the driver."""
    context.heartbeat.set_busy("learns")
    deadline = time.monotonic() + TIMEOUT_SECONDS
    while not reported.exists() and time.monotonic() < deadline:
        context.heartbeat.set_busy("learns")
        time.sleep(0.05)
    hang()


def wait_on_event() -> None:
    threading.Event().wait(TIMEOUT_SECONDS)


def hold_the_gil() -> None:
    ctypes.PyDLL(None).sleep(int(TIMEOUT_SECONDS))


def error_of_hanging_learner(folder: Path, hang: Callable[[], object], control_limit: float) -> str:
    """The error message of a run whose learner hangs and may not be restarted."""
    config = RuntimeConfig("ray", start_limit=300, stall_limit=5.0, control_limit=control_limit)
    crashes = CrashReports(folder / "crashes", seed=7, config="abc", limit=0, window=3600.0)
    wanted = (ResourceRequest(LEARNER, Resources(cpus=0.2)),)
    (folder / "clone").mkdir()
    stage = partial(hang_after_report, folder / "clone" / "status.json", hang)
    work = SupervisedStage("clone", folder / "clone", stage, wanted, config, crashes, on_accepted=bool)
    with pytest.raises(WorkerFailed) as raised:
        supervise(work)
    message = str(raised.value)
    kept = (crashes.folder / "learner.txt").read_text()
    assert "the learner has not moved for " in kept and "config abc\n" in kept
    return message


@pytest.mark.slow
def test_a_hanging_learner_that_responds_writes_its_stacks(tmp_path: Path) -> None:
    message = error_of_hanging_learner(tmp_path, wait_on_event, control_limit=60.0)
    stacks = tmp_path / "crashes" / "stacks"
    assert f": it reports: learns; the stack of every worker is in {stacks}" in message
    assert " in wait_on_event\n" in (stacks / "learner.txt").read_text()
    assert "learner reports: learns, for " in (stacks / "blocked.txt").read_text()


@pytest.mark.slow
def test_the_watchdog_writes_the_stack_of_an_unresponsive_learner(tmp_path: Path) -> None:
    message = error_of_hanging_learner(tmp_path, hold_the_gil, control_limit=1.0)
    file = tmp_path / "crashes" / "stacks" / "learner.txt"
    assert f": it does not answer; the stacks that its watchdog has written are in {file}" in message
    assert " in hold_the_gil\n" in file.read_text()


def terminate_itself(context: LearnerContext) -> None:
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(1.0)  # for Ray to take notice
    sys.stderr.write("the learner goes on\n")


def test_a_learner_that_is_terminated_goes_on_and_answers(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config = RuntimeConfig("ray", start_limit=300)
    crashes = CrashReports(tmp_path / "crashes", seed=7, config="abc", limit=0, window=3600.0)
    wanted = (ResourceRequest(LEARNER, Resources(cpus=0.2)),)
    supervise(SupervisedStage("clone", tmp_path / "clone", terminate_itself, wanted, config, crashes, on_accepted=bool))
    assert "the learner goes on" in capsys.readouterr().err


def show_widths(seen_33: Path, context: LearnerContext) -> None:
    """A stage that makes a file once its lines are to have 33 columns, and ends once they are to have 21."""
    seen, deadline = [0], time.monotonic() + TIMEOUT_SECONDS
    while seen[-1] != 21 and time.monotonic() < deadline:
        if (width := shutil.get_terminal_size().columns) != seen[-1]:
            seen.append(width)
        if width == 33:
            seen_33.touch()
        time.sleep(0.02)
    sys.stderr.write(f"columns: {seen}\n")


@pytest.mark.slow
def test_lines_of_the_learner_have_the_width_of_a_terminal_that_is_resized(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    seen_33 = tmp_path / "seen"
    monkeypatch.setattr(shutil, "get_terminal_size", lambda: os.terminal_size((21 if seen_33.exists() else 33, 24)))
    config = RuntimeConfig("ray", start_limit=300)
    crashes = CrashReports(tmp_path / "crashes", seed=7, config="abc", limit=0, window=3600.0)
    wanted = (ResourceRequest(LEARNER, Resources(cpus=0.2)),)
    stage = partial(show_widths, seen_33)
    supervise(SupervisedStage("clone", tmp_path / "clone", stage, wanted, config, crashes, on_accepted=bool))
    assert "33, 21]" in capsys.readouterr().err


def test_a_learner_that_cannot_report_its_status_is_stopped(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    @ray.remote(num_cpus=0)
    def fails(*message: str) -> None:
        raise OSError("stale file handle")

    config = RuntimeConfig("ray", start_limit=300, stall_limit=300.0)
    crashes = CrashReports(tmp_path / "crashes", seed=7, config="abc", limit=0, window=3600.0)
    none: Any = None
    life = _LearnerProcess.__new__(_LearnerProcess)
    life._work = SupervisedStage("clone", tmp_path / "clone", none, (), config, crashes, on_accepted=bool)
    life._host, life._clock = SimpleNamespace(report=fails, dump=fails), RunningClock()
    life._pending_report, life._logged_error, life._has_reported, life._reported_at = None, "", True, life._clock()
    for _ in range(2):
        life._poll(TIMEOUT_SECONDS)
    assert caplog.text.count("the learner can't report its status: OSError('stale file handle')") == 1
    life._reported_at -= 301.0
    with pytest.raises(
        LearnerDied, match=r"it can't report its status; its stacks could not be written(.|\n)*stale file"
    ):
        life._poll(TIMEOUT_SECONDS)
