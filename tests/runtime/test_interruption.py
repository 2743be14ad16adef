"""Stopping: the first signal asks, the second stops, and afterwards the handlers are what they were."""

from __future__ import annotations

import os
import signal
import threading

import pytest

from interplay.runtime.interruption import StopRequest

SIGNALS = (signal.SIGINT, signal.SIGTERM)


def handlers() -> list[object]:
    return [signal.getsignal(number) for number in SIGNALS]


@pytest.mark.parametrize("number", SIGNALS)
def test_the_first_signal_asks_and_the_second_stops(number: signal.Signals) -> None:
    before = handlers()
    with StopRequest() as stop:
        assert not stop.requested
        os.kill(os.getpid(), number)
        assert stop.requested
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), number)
    assert handlers() == before


def test_either_signal_counts_as_the_second() -> None:
    with StopRequest():
        os.kill(os.getpid(), signal.SIGTERM)
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGINT)


def test_the_handlers_are_put_back_after_an_error() -> None:
    before = handlers()
    with pytest.raises(ZeroDivisionError), StopRequest():
        assert handlers() != before
        raise ZeroDivisionError
    assert handlers() == before


def test_another_thread_leaves_the_handlers_alone() -> None:
    before, seen = handlers(), []

    def work() -> None:
        with StopRequest() as stop:
            seen.append((handlers(), stop.requested))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [(before, False)]
    assert handlers() == before
