"""Loss of a node, as by a power failure: its workers continue on another node, and each failure counts once."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

PROGRAM = Path(__file__).with_name("lost_node.py")
TESTS = Path(__file__).parents[1]  # where `tiny_runs` is
TIMEOUT_SECONDS = 1200.0  # Ray detects the loss after 15 s, and eight processes start


@pytest.mark.slow
def test_the_workers_of_a_lost_node_continue_on_another(tmp_path: Path) -> None:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("RAY_")}
    with tempfile.TemporaryDirectory(
        prefix="ray-", ignore_cleanup_errors=True
    ) as own:  # a short path, because sockets have it in their names
        done = subprocess.run(
            [sys.executable, str(PROGRAM), str(tmp_path)],
            env={**environment, "RAY_TMPDIR": own, "RAY_USAGE_STATS_ENABLED": "0", "PYTHONPATH": str(TESTS)},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=TIMEOUT_SECONDS,
        )
    assert done.returncode == 0, done.stderr
    found = json.loads((tmp_path / "found.json").read_text())
    assert found["numbers"] == [0, 1, 2, 3, 4, 5]  # none lost, none twice
    assert found["paid"] == [2.0 * number for number in found["numbers"]]
    assert found["scored_unrolls"] == 6  # by the lane states, which pass from one replica to the next
    assert found["restarts"] == {"actor-0": 1, "reward-0": 1}
    for worker in found["restarts"]:
        assert (tmp_path / f"{worker}.txt").read_text().count("went down, 1 of at most 1 times") == 1
