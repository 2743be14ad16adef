"""A small Ray cluster for tests, and runs in it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

import ray
from tiny_runs import tiny

SMALL = (
    "runtime=ray",
    *(f"runtime.{part}.cpus=0.2" for part in ("learner", "actor", "dataset", "reward.resources")),
    "runtime.start_limit=300",
    "tracking.wandb=disabled",
)


Started = TypeVar("Started")
TRIES = 8
TOO_SLOW = "timed out during startup"


def patiently(start: Callable[[], Started]) -> Started:
    """Starts a node of Ray, which gives it half a minute: where others want the cores, it is tried again."""
    for _ in range(TRIES - 1):
        try:
            return start()
        except Exception as error:
            if TOO_SLOW not in str(error):
                raise
    return start()


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
        )
    )
    try:
        yield
    finally:
        ray.shutdown()


def small(root: Path, *more: str) -> list[str]:
    """The settings of a tiny run under Ray."""
    return tiny(root, *SMALL, *more)
