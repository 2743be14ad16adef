"""A cluster that a run starts for itself keeps no record of every call."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from interplay.runtime.ray.session import TASK_EVENTS

HERE = Path(__file__).parent

# In a process of its own, as the tests' own one may be connected to another cluster. Records are sent once a second: as
# many as are wanted are awaited, or where none is, two reports that do not come.
CALLS = """
import sys, time
from contextlib import ExitStack
from clusters import patiently
from interplay.runtime.config import RuntimeConfig
from interplay.runtime.ray.session import session
import ray
from ray._private.state import state

class Part:
    def call(self):
        return 1

with ExitStack() as stack:
    config = RuntimeConfig("ray", cpus=1, object_store_mb=80, start_limit=600)
    patiently(lambda: stack.enter_context(session(config, 1)))
    part = ray.remote(Part).remote()
    for _ in range(50):
        ray.get(part.call.remote(), timeout=300)
    wanted, ends = int(sys.argv[1]), time.monotonic() + (300 if int(sys.argv[1]) else 3)
    kept = 0
    while time.monotonic() < ends and (not wanted or kept < wanted):
        kept = len(state._connect_and_get_accessor().get_task_events())
        time.sleep(0.2)
print(kept)
"""


@pytest.mark.parametrize(("set_before", "kept"), [(None, 0), ("1000", 50)])
def test_the_head_keeps_no_record_of_every_call_unless_asked_to(set_before: str | None, kept: int) -> None:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("RAY_")}
    environment["PYTHONPATH"] = os.pathsep.join(str(folder) for folder in (HERE, HERE.parent))
    if set_before is not None:
        environment[TASK_EVENTS] = set_before
    said = subprocess.run(
        [sys.executable, "-c", CALLS, str(kept)], env=environment, capture_output=True, text=True, timeout=1200
    )
    assert said.returncode == 0, said.stderr
    found = int(said.stdout.split()[-1])  # after what Ray may have said
    assert found >= kept if kept else found == 0
