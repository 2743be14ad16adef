"""One piece ahead: the same pieces whether overlapped or not, and nothing that goes wrong is lost."""

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
    """Makes 0, 1, 2, ... and notes in which thread."""

    def __init__(self) -> None:
        self.completed = 0
        self.threads: list[int] = []

    def __call__(self) -> int:
        self.completed += 1
        self.threads.append(threading.get_ident())
        return self.completed - 1


def taken(overlap: bool, make: Callable[[], int], pieces: int = 7) -> list[int]:
    """As a training loop does it: a piece ahead, except before every third, where a checkpoint is written."""
    ahead: Lookahead[int] = Lookahead(overlap)
    found = []
    for number in range(pieces):
        found.append(ahead.take(make))
        if number % 3 != 2:
            ahead.begin(make)
    ahead.close()
    return found


@pytest.mark.parametrize("overlap", [False, True])
def test_pieces_come_in_order_each_once(overlap: bool) -> None:
    counter = Counter()
    assert taken(overlap, counter) == list(range(7))
    assert (threading.get_ident() in counter.threads) == (not overlap)
    assert len(set(counter.threads)) == 1
    assert counter.completed == (8 if overlap else 7)  # the last one begun was never asked for


@pytest.mark.parametrize("overlap", [False, True])
def test_work_with_a_random_state_is_the_same_overlapped_or_not(overlap: bool) -> None:
    generator = torch.Generator().manual_seed(3)
    found = taken(overlap, lambda: int(torch.randint(1000, (), generator=generator)))
    expected = torch.Generator().manual_seed(3)
    assert found == [int(torch.randint(1000, (), generator=expected)) for _ in found]


def broken() -> int:
    raise ArithmeticError("no piece")


@pytest.mark.parametrize("overlap", [False, True])
def test_what_making_raises_is_raised_where_the_piece_is_taken(overlap: bool) -> None:
    ahead: Lookahead[int] = Lookahead(overlap)
    ahead.begin(broken)
    with pytest.raises(ArithmeticError, match="no piece"):
        ahead.take(broken)
    assert ahead.take(lambda: 5) == 5  # and it is ready for the next one
    ahead.close()


def test_the_next_piece_is_made_while_this_one_is_used() -> None:
    ahead: Lookahead[int] = Lookahead(overlap=True)
    started, used = threading.Event(), threading.Event()

    def make() -> int:
        started.set()
        assert used.wait(20), "nobody used the piece before this one meanwhile"
        return 1

    ahead.begin(make)
    assert started.wait(20)  # it has begun although nobody has asked for it
    used.set()
    assert ahead.take(make) == 1
    ahead.close()


def test_two_pieces_ahead_are_one_too_many() -> None:
    ahead: Lookahead[int] = Lookahead(overlap=True)
    ahead.begin(lambda: 1)
    with pytest.raises(AssertionError, match="one item ahead"):
        ahead.begin(lambda: 2)
    ahead.close()


def test_where_a_piece_is_that_takes_long_is_said(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("interplay.runtime.prefetcher.LOG_WAIT_SECONDS", 0.05)
    told = threading.Event()

    class Told(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            told.set()

    def late() -> int:
        assert told.wait(60.0), "nothing was said"
        return 7

    handler = Told()
    logging.getLogger("interplay.runtime.prefetcher").addHandler(handler)
    try:
        ahead: Lookahead[int] = Lookahead(overlap=True)
        assert ahead.take(late) == 7
        assert "in late" in caplog.text and "told.wait" in caplog.text
        ahead.close()
    finally:
        logging.getLogger("interplay.runtime.prefetcher").removeHandler(handler)


def test_a_piece_that_hangs_is_left_alone_when_the_work_is_stopped_at_once(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("interplay.runtime.prefetcher.CLOSE_SECONDS", 0.1)
    started, released = threading.Event(), threading.Event()

    def hangs() -> int:
        started.set()
        assert released.wait(60.0), "nobody let it go on"
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


# Does what the command does where it is stopped at once while a piece goes on that only torch knows the end of.
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
    pieces = prefetcher.Lookahead(overlap=True)
    pieces.begin(slow)
    assert started.wait(60)
    pieces.close()
    return 130

prefetcher.CLOSE_SECONDS, cli.main = 0.1, main
cli.console()
"""


def test_a_piece_that_is_left_alone_does_not_abort_the_process() -> None:
    ended = subprocess.run([sys.executable, "-c", STOPPED_AT_ONCE], capture_output=True, text=True, timeout=300)
    assert ended.returncode == 130 and "is abandoned" in ended.stderr and " in slow\n" in ended.stderr, ended


def test_a_time_out_of_the_piece_itself_is_raised_as_any_other() -> None:
    def times_out() -> int:
        raise TimeoutError("the world did not answer")

    ahead: Lookahead[int] = Lookahead(overlap=True)
    with pytest.raises(TimeoutError, match="the world did not answer"):
        ahead.take(times_out)
    ahead.begin(times_out)
    ahead.close()
