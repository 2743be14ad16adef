"""The prefetching thread: a consumer that waits for a stuck thread logs the thread's stack."""

from __future__ import annotations

import threading

import pytest
from actor_pipelines import TIMEOUT_SECONDS

from interplay.runtime.prefetcher import Prefetcher


def test_the_stack_of_a_stuck_thread_is_logged(capfd: pytest.CaptureFixture[str]) -> None:
    goes_on = threading.Event()

    def is_stuck_here() -> None:
        goes_on.wait(TIMEOUT_SECONDS)

    prefetcher = Prefetcher("rollouts", is_stuck_here, time_limit=0.1)
    try:
        with pytest.raises(
            RuntimeError, match=r"rollouts has not moved for 0\.1 seconds; .* crashes/logs/learner\.txt"
        ):
            prefetcher.take()
    finally:
        goes_on.set()
        prefetcher.close()
    printed = capfd.readouterr().err
    assert " in is_stuck_here\n" in printed and " in take\n" in printed
