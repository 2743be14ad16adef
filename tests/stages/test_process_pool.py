"""A pool of processes: the errors of its processes reach the caller, with which they end."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from processes import becomes_true, is_running

from interplay.stages.process_pool import map_in_processes


def refuse(stopped: Callable[[], bool]) -> Callable[[int], int]:
    raise ValueError("no agent to load")


def test_what_a_process_cannot_prepare_is_raised_as_it_was() -> None:
    with pytest.raises(ValueError, match="no agent to load"):
        list(map_in_processes(refuse, [1, 2], workers=1))


def test_processes_end_with_the_one_that_started_them_even_if_it_is_killed(tmp_path: Path) -> None:
    script = Path(__file__).with_name("killed_pool.py")
    quiet = subprocess.DEVNULL  # processes that outlive the test would keep its output open
    with subprocess.Popen([sys.executable, str(script), str(tmp_path)], stdout=quiet, stderr=quiet) as parent:
        try:
            assert becomes_true(lambda: len([*tmp_path.iterdir()]) == 2), "the pool starts two processes"
        finally:
            parent.kill()
    workers = [int(path.name) for path in tmp_path.iterdir()]
    assert becomes_true(lambda: not any(is_running(worker) for worker in workers))
