"""A worker devices the GPUs reserved for it and no others; the two GPUs are fake, only Ray's accounting knows them."""

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
from interplay.runtime.ray.learner_host import LearnerHost
from interplay.runtime.ray.worker_placement import LEARNER, ResourceRequest, WorkerPlacement, reserve_resources
from interplay.runtime.ray.worker_restarts import remote_class

TIMEOUT_SECONDS = 300.0
CONFIG = RuntimeConfig("ray", start_limit=300, stall_limit=300)


pytestmark = pytest.mark.usefixtures("ray_cluster")
ray.cloudpickle.register_pickle_by_value(fake_workers)  # the workers' processes cannot import the tests' modules


@pytest.fixture
def placement() -> Iterator[WorkerPlacement]:
    """The placement of a learner with one GPU, two replicas that share the other, and an actor without."""
    gpus = {LEARNER: 1.0, "reward-0": 0.5, "reward-1": 0.5, "actor-0": 0.0}
    placement = reserve_resources(
        [ResourceRequest(name, Resources(0.2, share)) for name, share in gpus.items()], CONFIG
    )
    yield placement
    placement.release()


def crashes(folder: Path) -> CrashReports:
    return CrashReports(folder / "crashes", seed=7, config="abc", limit=2, window=3600.0)


def visible_devices(context: LearnerContext, name: str) -> str | None:
    worker = context.add_worker(name, fake_workers.GpuReporter)
    worker.start()
    devices: str | None = ray.get(worker.submit("visible_devices", "reports"), timeout=TIMEOUT_SECONDS)
    return devices


@pytest.mark.slow
def test_workers_see_the_gpus_reserved_for_them(placement: WorkerPlacement, tmp_path: Path) -> None:
    context = LearnerContext(CONFIG, placement, crashes(tmp_path), 0, 0)
    try:
        assert visible_devices(context, "actor-0") == ""
        shared = visible_devices(context, "reward-0")
        assert shared in ("4", "7") and visible_devices(context, "reward-1") == shared
        assert {visible_devices(context, LEARNER), shared} == {"4", "7"}
    finally:
        context.close()


@pytest.mark.parametrize(
    ("name", "devices"), [("actor-0", {""}), pytest.param(LEARNER, {"4", "7"}, marks=pytest.mark.slow)]
)
def test_the_learner_sees_the_gpus_reserved_for_it(
    placement: WorkerPlacement, tmp_path: Path, name: str, devices: set[str]
) -> None:
    """Both in its own bundle and in one without GPUs."""
    file = tmp_path / "devices"
    placement = remote_class(LearnerHost, placement, name)
    host = placement.remote(str(tmp_path), False, CONFIG, placement, crashes(tmp_path), 0, 0)
    try:
        ray.get(host.run.remote(partial(fake_workers.write_visible_gpus, file)), timeout=TIMEOUT_SECONDS)
    finally:
        ray.kill(host)
    assert file.read_text() in devices
