"""`Lookahead`: the same items with and without overlap, and every error is raised."""

from __future__ import annotations

import logging
import subprocess
import sys
import threading
from collections.abc import Callable

import pytest
import torch

from interplay.runtime.prefetcher import Lookahead, has_abandoned_thread


class Counter:
    """Makes 0, 1, 2, ... and records the thread of each call."""

    def __init__(self) -> None:
        self.completed = 0
        self.threads: list[int] = []

    def __call__(self) -> int:
        self.completed += 1
        self.threads.append(threading.get_ident())
        return self.completed - 1


def take_items(overlap: bool, make: Callable[[], int], items: int = 7) -> list[int]:
    """Takes items as a training loop does: one item ahead, except before every third, where a checkpoint is saved."""
    ahead: Lookahead[int] = Lookahead(overlap)
    found = []
    for number in range(items):
        found.append(ahead.take(make))
        if number % 3 != 2:
            ahead.begin(make)
    ahead.close()
    return found


@pytest.mark.parametrize("overlap", [False, True])
def test_items_arrive_in_order_and_once(overlap: bool) -> None:
    counter = Counter()
    assert take_items(overlap, counter) == list(range(7))
    assert (threading.get_ident() in counter.threads) == (not overlap)
    assert len(set(counter.threads)) == 1
    assert counter.completed == (8 if overlap else 7)  # the last item begun was never taken


@pytest.mark.parametrize("overlap", [False, True])
def test_work_with_a_random_state_is_the_same_overlapped_or_not(overlap: bool) -> None:
    generator = torch.Generator().manual_seed(3)
    found = take_items(overlap, lambda: int(torch.randint(1000, (), generator=generator)))
    expected = torch.Generator().manual_seed(3)
    assert found == [int(torch.randint(1000, (), generator=expected)) for _ in found]


def failing() -> int:
    raise ArithmeticError("no item")


@pytest.mark.parametrize("overlap", [False, True])
def test_an_error_of_the_producer_is_raised_by_take(overlap: bool) -> None:
    ahead: Lookahead[int] = Lookahead(overlap)
    ahead.begin(failing)
    with pytest.raises(ArithmeticError, match="no item"):
        ahead.take(failing)
    assert ahead.take(lambda: 5) == 5  # the next item can be made
    ahead.close()


def test_the_next_item_is_made_while_this_one_is_used() -> None:
    ahead: Lookahead[int] = Lookahead(overlap=True)
    started, used = threading.Event(), threading.Event()

    def make() -> int:
        started.set()
        assert used.wait(60.0), "the previous item was not used meanwhile"
        return 1

    ahead.begin(make)
    assert started.wait(60.0)  # it begins before `take`
    used.set()
    assert ahead.take(make) == 1
    ahead.close()


def test_two_items_ahead_are_refused() -> None:
    ahead: Lookahead[int] = Lookahead(overlap=True)
    ahead.begin(lambda: 1)
    with pytest.raises(AssertionError, match="one item ahead"):
        ahead.begin(lambda: 2)
    ahead.close()


def test_the_stack_of_a_slow_producer_is_logged(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("interplay.runtime.prefetcher.LOG_WAIT_SECONDS", 0.05)
    logged = threading.Event()

    class EventHandler(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            if "logged.wait" in record.getMessage():  # the thread may begin after the first message
                logged.set()

    def late() -> int:
        assert logged.wait(60.0), "nothing was logged"
        return 7

    handler = EventHandler()
    logging.getLogger("interplay.runtime.prefetcher").addHandler(handler)
    try:
        ahead: Lookahead[int] = Lookahead(overlap=True)
        assert ahead.take(late) == 7
        assert "in late" in caplog.text and "logged.wait" in caplog.text
        ahead.close()
    finally:
        logging.getLogger("interplay.runtime.prefetcher").removeHandler(handler)


def test_a_hanging_producer_is_abandoned_after_an_interrupt(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("interplay.runtime.prefetcher.CLOSE_SECONDS", 0.1)
    started, released = threading.Event(), threading.Event()

    def hangs() -> int:
        started.set()
        assert released.wait(60.0), "it was not released"
        return 1

    def stopped(timeout: float) -> None:
        assert started.wait(60.0)
        raise KeyboardInterrupt

    ahead: Lookahead[int] = Lookahead(overlap=True)
    with monkeypatch.context() as interrupted:
        ahead.begin(hangs)
        assert started.wait(60.0)
        interrupted.setattr(ahead._prefetcher._changed, "wait", stopped)
        with pytest.raises(KeyboardInterrupt):
            ahead.take(hangs)
    ahead.close()
    assert not released.is_set() and "and its thread is abandoned" in caplog.text and "in hangs" in caplog.text
    assert has_abandoned_thread()
    released.set()
    ahead._prefetcher._thread.join(60.0)
    assert not has_abandoned_thread()


# The command is interrupted while a producer runs in torch without returning.
STOPPED_AT_ONCE = """
import threading, torch
from interplay.launch import cli
from interplay.runtime import prefetcher

started = threading.Event()

def slow():
    product = torch.rand(300, 300)
    started.set()
    while True:
        product = (product @ product).tanh()

def main():
    items = prefetcher.Lookahead(overlap=True)
    items.begin(slow)
    assert started.wait(60)
    items.close()
    return 130

prefetcher.CLOSE_SECONDS, cli.main = 0.1, main
cli.console()
"""


def test_an_abandoned_producer_does_not_abort_the_process() -> None:
    result = subprocess.run([sys.executable, "-c", STOPPED_AT_ONCE], capture_output=True, text=True, timeout=300)
    assert result.returncode == 130 and "is abandoned" in result.stderr and " in slow\n" in result.stderr, result


def test_a_timeout_error_of_the_producer_is_raised_unchanged() -> None:
    def times_out() -> int:
        raise TimeoutError("the world did not answer")

    ahead: Lookahead[int] = Lookahead(overlap=True)
    with pytest.raises(TimeoutError, match="the world did not answer"):
        ahead.take(times_out)
    ahead.begin(times_out)
    ahead.close()
