"""Parts see the GPUs that are set aside for them, and no others: here two that are not there, but are accounted for."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import fake_workers
import pytest
import ray

from interplay.runtime.config import Resources, RuntimeConfig
from interplay.runtime.crashes import CrashReports
from interplay.runtime.ray.learner_context import LearnerContext
from interplay.runtime.ray.learner_host import DriverTerminal, LearnerHost
from interplay.runtime.ray.worker_handle import remote_class
from interplay.runtime.ray.worker_placement import LEARNER, ResourceRequest, WorkerPlacement, reserve_resources

LONG = 300.0  # seconds
CONFIG = RuntimeConfig("ray", start_limit=300, stall_limit=300)


pytestmark = pytest.mark.usefixtures("ray_cluster")
ray.cloudpickle.register_pickle_by_value(fake_workers)  # the parts' processes don't find the tests' modules


@pytest.fixture
def placement() -> Iterator[WorkerPlacement]:
    """Of a learner with half of the GPUs, two replicas that share the rest, and an actor that asks for none."""
    gpus = {LEARNER: 1.0, "reward-0": 0.5, "reward-1": 0.5, "actor-0": 0.0}
    completed = reserve_resources(
        [ResourceRequest(name, Resources(0.2, share)) for name, share in gpus.items()], CONFIG
    )
    yield completed
    completed.release()


def crashes(folder: Path) -> CrashReports:
    return CrashReports(folder / "crashes", seed=7, config="abc", limit=2, window=3600.0)


def seen(context: LearnerContext, name: str) -> str | None:
    worker = context.add_worker(name, fake_workers.GpuReporter)
    worker.start()
    sees: str | None = ray.get(worker.submit("visible_devices", "reports"), timeout=LONG)
    return sees


def test_parts_see_what_is_set_aside_for_them(placement: WorkerPlacement, tmp_path: Path) -> None:
    context = LearnerContext(CONFIG, placement, crashes(tmp_path), 0, 0)
    try:
        assert seen(context, "actor-0") == ""
        shared = seen(context, "reward-0")
        assert shared in ("4", "7") and seen(context, "reward-1") == shared
        assert {seen(context, LEARNER), shared} == {"4", "7"}
    finally:
        context.close()


@pytest.mark.parametrize(("name", "sees"), [("actor-0", {""}), (LEARNER, {"4", "7"})])
def test_so_does_the_learner(placement: WorkerPlacement, tmp_path: Path, name: str, sees: set[str]) -> None:
    """In its own place, and in one without GPUs."""
    screen, told = DriverTerminal(is_tty=False, columns=80), tmp_path / "sees"
    completed = remote_class(LearnerHost, placement, name)
    host = completed.remote(str(tmp_path), screen, CONFIG, placement, crashes(tmp_path), 0, 0)
    try:
        ray.get(host.run.remote(partial(fake_workers.write_visible_gpus, told)), timeout=LONG)
    finally:
        ray.kill(host)
    assert told.read_text() in sees
