"""Workers whose resources the cluster does not have, as after the loss of a node."""

from __future__ import annotations

from pathlib import Path

import pytest
from ray.util.placement_group import placement_group

from interplay.runtime.config import Resources, RuntimeConfig
from interplay.runtime.crashes import CrashReports
from interplay.runtime.ray.learner_context import NO_ROOM, LearnerContext
from interplay.runtime.ray.worker_placement import ResourceRequest, WorkerPlacement

MANY = 1000  # CPUs that no machine has


@pytest.mark.parametrize(("cpus", "named"), [(MANY, True), (0.2, False)])
def test_a_worker_that_waits_for_room_is_reported_so(
    ray_cluster: None, tmp_path: Path, cpus: float, named: bool
) -> None:
    group = placement_group([{"CPU": cpus}])
    assert named or group.wait(timeout_seconds=120)
    placement = WorkerPlacement(group, (ResourceRequest("actor-0", Resources(cpus)),))
    config = RuntimeConfig("ray", control_limit=0.01)
    context = LearnerContext(config, placement, CrashReports(tmp_path, 7, "abc", limit=2, window=60), 0, 0)
    context.add_worker("actor-0", dict).start()  # in a process that has not started when it is asked
    reported = context.dump_stacks()["actor-0"]
    assert reported.startswith("has not answered in 0.01 s") and reported.endswith(NO_ROOM) == named
    context.close()
    placement.release()
