"""A small Ray cluster for tests, and runs in it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import ray
from tiny_runs import tiny

from interplay.runtime.ray.session import patiently

SMALL = (
    "runtime=ray",
    *(f"runtime.{part}.cpus=0.2" for part in ("learner", "actor", "dataset", "reward.resources")),
    "runtime.start_limit=300",
    "tracking.wandb=disabled",
)

START_LIMIT = 240.0  # seconds in which a node of Ray has to start


@contextmanager
def cluster(gpus: int = 0) -> Iterator[None]:
    """One that this process is connected to; runs find it by themselves. Its GPUs are accounts only."""
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    patiently(
        lambda: ray.init(
            num_cpus=2,
            num_gpus=gpus,
            object_store_memory=80 * 2**20,
            include_dashboard=False,
            log_to_driver=False,
            logging_level="ERROR",
        ),
        START_LIMIT,
    )
    try:
        yield
    finally:
        ray.shutdown()


def small(root: Path, *more: str) -> list[str]:
    """The settings of a tiny run under Ray."""
    return tiny(root, *SMALL, *more)
