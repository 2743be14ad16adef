"""A stage whose learner kills a process of Ray and saves when requested; prints the error that the driver raises.

python ray_killer.py FOLDER raylet|gcs_server

A separate program, because Ray may end it.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from functools import partial
from pathlib import Path

import ray

from interplay.runtime.config import Resources, RuntimeConfig
from interplay.runtime.crashes import CrashReports
from interplay.runtime.interruption import Interrupted, StopRequest
from interplay.runtime.ray.cluster_session import ClusterError
from interplay.runtime.ray.learner_context import LearnerContext
from interplay.runtime.ray.learner_supervision import SupervisedStage, supervise
from interplay.runtime.ray.worker_placement import LEARNER, ResourceRequest


def kill_child(parent: int, name: str) -> None:
    """Kills the child of a process that has this name."""
    for child in Path(f"/proc/{parent}/task").glob("*/children"):
        for process in child.read_text().split():
            if Path(f"/proc/{process}/comm").read_text().strip() == name:
                os.kill(int(process), signal.SIGKILL)


def stage(driver: int, name: str, folder: Path, context: LearnerContext) -> None:
    """Kills a process that the driver has started, and saves when that is requested."""
    with StopRequest() as stop:
        kill_child(driver, name)
        for _ in range(6000):
            if stop.requested:
                (folder / "saved").touch()
                raise Interrupted("saved")
            threading.Event().wait(timeout=0.1)


if __name__ == "__main__":
    ray.cloudpickle.register_pickle_by_value(sys.modules[__name__])
    folder = Path(sys.argv[1])
    config = RuntimeConfig("ray", cpus=1, object_store_mb=80, start_limit=300.0, stall_limit=600.0)
    crashes = CrashReports(folder / "crashes", seed=1, config="abc", limit=1, window=3600.0)
    wanted = (ResourceRequest(LEARNER, Resources(cpus=0.2)),)
    work = partial(stage, os.getpid(), sys.argv[2], folder)
    try:
        supervise(SupervisedStage("clone", folder, work, wanted, config, crashes, on_accepted=bool))
    except ClusterError as error:
        sys.stdout.write(f"{error}\n")
        sys.exit(1)
