"""A learner that hangs is ended, and why it did can be read afterwards, whether or not it could still answer."""

from __future__ import annotations

import ctypes
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

from interplay.runtime.config import Resources, RuntimeConfig
from interplay.runtime.crashes import CrashReports, WorkerFailed
from interplay.runtime.ray.learner_context import LearnerContext
from interplay.runtime.ray.supervision import LearnerDied, SupervisedStage, _LearnerProcess, supervise
from interplay.runtime.ray.worker_placement import LEARNER, ResourceRequest

pytestmark = pytest.mark.usefixtures("ray_cluster")
ray.cloudpickle.register_pickle_by_value(sys.modules[__name__])  # the learner doesn't find the tests' modules


def hangs(heard: Path, hang: Callable[[], object], context: LearnerContext) -> None:
    """A stage that hangs once its driver has heard of it."""
    context.heartbeat.set_busy("learns")
    ends = time.monotonic() + TIMEOUT_SECONDS
    while not heard.exists() and time.monotonic() < ends:
        context.heartbeat.set_busy("learns")
        time.sleep(0.05)
    hang()


def waits_for_nobody() -> None:
    threading.Event().wait(TIMEOUT_SECONDS)


def holds_the_interpreter() -> None:
    ctypes.PyDLL(None).sleep(int(TIMEOUT_SECONDS))


def given_up(folder: Path, hang: Callable[[], object]) -> str:
    """What is told of a learner that hangs, which may not be made anew."""
    config = RuntimeConfig("ray", start_limit=300, stall_limit=5.0, control_limit=1.0)
    crashes = CrashReports(folder / "crashes", seed=7, config="abc", limit=0, window=3600.0)
    wanted = (ResourceRequest(LEARNER, Resources(cpus=0.2)),)
    work = SupervisedStage("clone", folder / "clone", partial(hangs, folder / "heard", hang), wanted, config, crashes)
    with pytest.raises(WorkerFailed) as raised:
        supervise(work, lambda status: (folder / "heard").touch())
    told = str(raised.value)
    kept = (crashes.folder / "learner.txt").read_text()
    assert "the learner has not moved for " in kept and "config abc\n" in kept
    return told


def test_a_learner_that_answers_writes_down_where_it_hangs(tmp_path: Path) -> None:
    told = given_up(tmp_path, waits_for_nobody)
    stacks = tmp_path / "crashes" / "stacks"
    assert f": it says: learns; the stack of every worker is in {stacks}" in told
    assert " in waits_for_nobody\n" in (stacks / "learner.txt").read_text()
    assert "learner says: learns, for " in (stacks / "blocked.txt").read_text()


def test_a_learner_that_can_not_answer_has_kept_its_stack(tmp_path: Path) -> None:
    told = given_up(tmp_path, holds_the_interpreter)
    file = tmp_path / "crashes" / "stacks" / "learner.txt"
    assert f": it does not answer; the stacks that its watchdog has written are in {file}" in told
    assert " in holds_the_interpreter\n" in file.read_text()


def test_a_learner_that_can_not_say_how_it_stands_does_not_go_unwatched(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    @ray.remote(num_cpus=0)
    def fails(*told: str) -> None:
        raise OSError("stale file handle")

    config = RuntimeConfig("ray", start_limit=300, stall_limit=300.0)
    crashes = CrashReports(tmp_path / "crashes", seed=7, config="abc", limit=0, window=3600.0)
    none: Any = None
    life = _LearnerProcess.__new__(_LearnerProcess)
    life._work = SupervisedStage("clone", tmp_path / "clone", none, (), config, crashes)
    life._host = SimpleNamespace(report=fails, dump=fails)
    life._pending_report, life._logged_error, life._has_reported, life._reported_at = None, "", True, time.monotonic()
    for _ in range(2):
        life._poll(TIMEOUT_SECONDS)
    assert caplog.text.count("the learner can't report its status: OSError('stale file handle')") == 1
    life._reported_at -= 301.0
    with pytest.raises(
        LearnerDied, match=r"it can't report its status; its stacks could not be written(.|\n)*stale file"
    ):
        life._poll(TIMEOUT_SECONDS)
