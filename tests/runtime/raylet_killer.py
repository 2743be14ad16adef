"""A stage whose learner kills Ray's process on this machine; prints the error that the driver raises.

python raylet_killer.py FOLDER

A separate program, because Ray may end it.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from pathlib import Path

import ray

from interplay.runtime.config import Resources, RuntimeConfig
from interplay.runtime.crashes import CrashReports
from interplay.runtime.ray.cluster_session import LEARNER, ClusterError, ResourceRequest
from interplay.runtime.ray.learner_context import LearnerContext
from interplay.runtime.ray.learner_supervision import SupervisedStage, supervise


def kill_raylet(context: LearnerContext) -> None:
    """Kills the process that started this one, and waits to end with it."""
    os.kill(os.getppid(), signal.SIGKILL)
    threading.Event().wait(timeout=600.0)


if __name__ == "__main__":
    ray.cloudpickle.register_pickle_by_value(sys.modules[__name__])
    folder = Path(sys.argv[1])
    config = RuntimeConfig("ray", cpus=1, object_store_mb=80, start_limit=300.0, stall_limit=600.0)
    crashes = CrashReports(folder / "crashes", seed=1, config="abc", limit=1, window=3600.0)
    wanted = (ResourceRequest(LEARNER, Resources(cpus=0.2)),)
    try:
        supervise(SupervisedStage("clone", folder, kill_raylet, wanted, config, crashes, on_accepted=bool))
    except ClusterError as error:
        sys.stdout.write(f"{error}\n")
        sys.exit(1)
