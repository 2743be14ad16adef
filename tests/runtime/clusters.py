"""A small Ray cluster for tests, and runs in it."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import ray
from tiny_runs import tiny

from interplay.core.breakpoints import VARIABLE
from interplay.core.environment import keeps_variables
from interplay.runtime.ray.cluster_session import USAGE_VARIABLE, start_with_retries

SMALL = (
    "runtime=ray",
    *(f"runtime.{worker}.cpus=0.2" for worker in ("learner", "actor", "dataset", "reward.resources")),
    "runtime.start_limit=300",
    "tracking.wandb=disabled",
)

FAKE_GPUS = "4,7"  # values of CUDA_VISIBLE_DEVICES; no test computes on them
START_LIMIT = 240.0  # seconds within which a Ray node must start


@contextmanager
def cluster() -> Iterator[None]:
    """A cluster that this process is connected to and that runs find by themselves. Its two GPUs are fake."""
    sigterm = signal.getsignal(signal.SIGTERM)
    with pytest.MonkeyPatch.context() as patch, keeps_variables(VARIABLE):
        patch.setenv(USAGE_VARIABLE, "0")
        patch.setenv("CUDA_VISIBLE_DEVICES", FAKE_GPUS)
        start_with_retries(
            lambda: ray.init(
                address="local",  # not a cluster that another program has started on this machine
                num_cpus=2,
                num_gpus=2,
                object_store_memory=80 * 2**20,
                include_dashboard=False,
                log_to_driver=False,
                logging_level="ERROR",
            ),
            START_LIMIT,
        )
    signal.signal(signal.SIGTERM, sigterm)  # Ray replaces it in the main thread; a run connects in another one
    try:
        yield
    finally:
        ray.shutdown()


def small(root: Path, *more: str) -> list[str]:
    """The settings of a tiny run under Ray."""
    return tiny(root, *SMALL, *more)
