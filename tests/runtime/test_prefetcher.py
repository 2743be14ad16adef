"""The prefetching thread: a consumer that waits for a stuck thread logs the thread's stack."""

from __future__ import annotations

import threading

import pytest
from actor_pipelines import TIMEOUT_SECONDS

from interplay.runtime.interruption import StopRequested
from interplay.runtime.prefetcher import Prefetcher


def test_the_stack_of_a_stuck_thread_is_logged(capfd: pytest.CaptureFixture[str]) -> None:
    began, goes_on = threading.Event(), threading.Event()

    def is_stuck_here() -> None:
        began.set()
        goes_on.wait(TIMEOUT_SECONDS)

    prefetcher = Prefetcher("rollouts", is_stuck_here, time_limit=0.1)
    try:
        prefetcher.start()
        assert began.wait(TIMEOUT_SECONDS)
        with pytest.raises(
            RuntimeError, match=r"rollouts has not moved for 0\.1 seconds; .* crashes/logs/learner\.txt"
        ):
            prefetcher.take()
    finally:
        goes_on.set()
        prefetcher.close()
    printed = capfd.readouterr().err
    assert " in is_stuck_here\n" in printed and " in take\n" in printed


def test_a_wait_is_given_up_and_the_item_is_left_for_the_next_one() -> None:
    goes_on = threading.Event()
    prefetcher = Prefetcher("rollouts", lambda: 7 if goes_on.wait(0.01) else None)
    waits = threading.Thread(target=wait_until_stopped, args=(prefetcher, given_up := threading.Event()), daemon=True)
    waits.start()
    try:
        assert given_up.wait(TIMEOUT_SECONDS)
        goes_on.set()
        prefetcher.await_item()
        assert prefetcher.ready and prefetcher.take() == 7
    finally:
        goes_on.set()
        prefetcher.close()


def wait_until_stopped(prefetcher: Prefetcher[int], given_up: threading.Event) -> None:
    asked = iter((False, True))
    with pytest.raises(StopRequested):
        prefetcher.await_item(lambda: next(asked))
    given_up.set()
