"""A worker that raises the same error again after a restart ends the run; one whose error may pass is tried again; what
ends a process without an error is explained."""

from __future__ import annotations

import ctypes
import os
import re
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import fake_workers
import pytest
import ray
from actor_pipelines import receive_numbers, start_pipeline

from interplay.actors.episode_note import add_episode_note
from interplay.runtime.config import Resources, RuntimeConfig
from interplay.runtime.crashes import CrashReports, WorkerFailed
from interplay.runtime.ray.learner_context import LearnerContext
from interplay.runtime.ray.rank_zero import RankWorkers
from interplay.runtime.ray.worker_placement import LEARNER, ResourceRequest, reserve_resources

pytestmark = pytest.mark.usefixtures("ray_cluster")
for module in (fake_workers, sys.modules[__name__]):
    ray.cloudpickle.register_pickle_by_value(module)  # the workers' processes cannot import the tests' modules


@pytest.fixture
def context(tmp_path: Path) -> Iterator[LearnerContext]:
    config = RuntimeConfig("ray", start_limit=300, stall_limit=300)
    placement = reserve_resources([ResourceRequest("actor-0", Resources(cpus=0.2))], config)
    crashes = CrashReports(tmp_path / "crashes", seed=7, config="abc", limit=2, window=3600.0)
    context = LearnerContext(config, placement, crashes, 0, 0)
    yield context
    context.close()
    placement.release()


def raise_the_same() -> None:
    raise ArithmeticError(f"no way out of {object()}")


def raise_in_another_step() -> None:
    """As a world that fails in another step after new weights have acted."""
    error = ArithmeticError("no way out")
    add_episode_note(error, time.monotonic_ns(), "the episode")
    raise error


def raise_of_a_connection() -> None:
    raise ConnectionRefusedError("the simulator refused")


def raise_another() -> None:
    raise ArithmeticError(f"no way out after {time.monotonic()} s")


def failures(context: LearnerContext, raises: Callable[[], object], reason: str) -> int:
    """How often an actor failed that raises this in unroll 1, until it ended the run for the reason."""
    pipeline = start_pipeline(context.add_worker("actor-0", partial(fake_workers.RaisingActor, raises)))
    with pytest.raises(WorkerFailed, match=reason):
        receive_numbers(pipeline, 2)
    return (context.crashes.folder / "actor-0.txt").read_text().count("went down, ")


@pytest.mark.parametrize(
    ("raises", "error"),
    [
        (raise_the_same, "ArithmeticError: no way out of <object object"),
        (raise_in_another_step, "ArithmeticError: no way out\n  raised after .* steps of the episode"),
        (breakpoint, r"RuntimeError: breakpoint\(\) was called in a worker of Ray, .* with runtime=in_process "),
        (partial(sys.exit, 3), r"SystemExit: 3(.|\n)* exited with 3;"),
    ],
)
def test_the_same_error_after_a_restart_ends_the_run(
    context: LearnerContext, raises: Callable[[], object], error: str
) -> None:
    assert failures(context, raises, rf"^actor-0 was restarted and raised the same error again(.|\n)*{error}") == 2


@pytest.mark.slow
@pytest.mark.parametrize("raises", [raise_of_a_connection, raise_another])
def test_an_error_that_may_pass_uses_all_restarts(context: LearnerContext, raises: Callable[[], object]) -> None:
    assert failures(context, raises, r"more often than runtime\.restarts=2") == 3


def end_process() -> None:
    os._exit(0)


def read_nowhere() -> None:
    ctypes.string_at(0)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("ends", "reason"),
    [
        (end_process, "without an error of Python: it was killed, .*, or code that it called ended it, as os._exit"),
        (read_nowhere, "with '.*(Segmentation fault|SIGSEGV).*'"),
    ],
)
def test_what_ends_a_process_without_an_error_is_explained(
    context: LearnerContext, caplog: pytest.LogCaptureFixture, ends: Callable[[], object], reason: str
) -> None:
    log = context.crashes.worker_log("actor-0").file
    explained = f"the process of actor-0 ended {reason}.*; its last output is in {log}\n"
    assert (
        failures(context, ends, rf"more often than(.|\n)* The last one:\n{explained}(.|\n)*\nThe cause: .*{reason}")
        == 3
    )
    assert re.search(f"actor-0 went down and is restarted, .*: {explained}", caplog.text)


@pytest.mark.slow
def test_a_full_disk_of_the_temporary_folder_explains_what_ended_a_process(
    context: LearnerContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shutil.disk_usage", lambda disk: SimpleNamespace(free=0))
    named = r"without an error of Python: Ray's temporary folder \S+ has 0\.0 MB free and needs 10 MB; free some space"
    assert failures(context, end_process, rf"more often than(.|\n)* The last one:\n.* {named}") == 3


def test_a_rank_whose_process_ends_is_named_with_what_ended_it(context: LearnerContext) -> None:
    """And not the learner, whose process goes on."""
    rank = context.add_worker("actor-0", partial(fake_workers.RaisingActor, end_process))
    rank.start(None)
    ended = rank.submit("unroll", "plays", 1)
    (line,) = RankWorkers([rank], context)._failed([ended], 60.0)
    file = context.crashes.folder / "actor-0.txt"
    assert line.startswith(f"actor-0 is lost, see {file}: the process of actor-0 ended without an error of Python")
    assert context.crashes.explained(LEARNER, line) == line
    assert "its worker process has died" in file.read_text()
