"""Stopping: the first signal requests a stop, the second interrupts, and the handlers are restored afterwards."""

from __future__ import annotations

import os
import signal
import threading

import pytest

from interplay.runtime import interruption
from interplay.runtime.interruption import StopRequest, grace_period, signals_as_keyboard_interrupt

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@pytest.fixture(autouse=True)
def _keeps_its_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Signal handling ignores a closed terminal; the terminal of the tests stays open."""
    monkeypatch.setattr(interruption, "_terminals", list)


def handlers() -> list[object]:
    return [signal.getsignal(number) for number in SIGNALS]


@pytest.mark.parametrize("number", SIGNALS[:2])
def test_the_first_signal_asks_and_the_second_stops(number: signal.Signals) -> None:
    before = handlers()
    with StopRequest() as stop:
        assert not stop.requested
        os.kill(os.getpid(), number)
        assert stop.requested
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), number)
    assert handlers() == before


@pytest.mark.parametrize(("typed", "logged"), [({}, "stopping: saving after"), ({"notice": "stops"}, "stops")])
def test_the_first_signal_is_logged(typed: dict[str, str], logged: str, caplog: pytest.LogCaptureFixture) -> None:
    with StopRequest(**typed):
        os.kill(os.getpid(), signal.SIGTERM)
    assert [record.message.startswith(logged) for record in caplog.records] == [True]


def test_what_is_under_way_has_a_limit_after_a_stop_request_unless_something_would_be_lost(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    over = grace_period(lambda: False, "the unroll")
    assert not over() and not caplog.records
    for keeps_all in (True, False):
        over = grace_period(lambda: True, "the unroll", keeps_all=keeps_all)
        assert not over() and not over()
        monkeypatch.setattr(interruption, "GRACE_SECONDS", 0.0)
        assert [over(), over()] == [keeps_all, keeps_all]
        monkeypatch.undo()
    first, second, told = (record.message for record in caplog.records)
    assert first == "waiting for up to 20 s for the unroll" and second == "waiting for the unroll"
    assert "another Ctrl-C or SIGTERM stops at once" in told


def test_either_signal_counts_as_the_second() -> None:
    with StopRequest():
        os.kill(os.getpid(), signal.SIGTERM)
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGINT)


def test_repeated_hangups_request_one_stop() -> None:
    with StopRequest() as stop:
        os.kill(os.getpid(), signal.SIGHUP)
        assert stop.requested
        os.kill(os.getpid(), signal.SIGHUP)
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGTERM)


def test_a_stop_request_too_late_for_one_stage_stops_the_command() -> None:
    with StopRequest() as whole:
        with StopRequest() as worker:
            os.kill(os.getpid(), signal.SIGTERM)
            assert worker.requested and not whole.requested
        assert whole.requested
    with StopRequest() as later:
        assert not later.requested


def test_a_stop_requested_before_a_stage_listens_stops_that_stage() -> None:
    with StopRequest() as whole:
        os.kill(os.getpid(), signal.SIGTERM)
        with StopRequest() as worker:
            assert worker.requested
            with pytest.raises(KeyboardInterrupt):
                os.kill(os.getpid(), signal.SIGINT)
        assert whole.requested


def test_the_first_signal_is_logged_once() -> None:
    told: list[int] = []
    with StopRequest(told.append):
        os.kill(os.getpid(), signal.SIGTERM)
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGINT)
    assert told == [signal.SIGTERM]


def test_an_ignored_hangup_stays_ignored() -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)  # as nohup does
    try:
        with signals_as_keyboard_interrupt(), StopRequest() as stop:
            os.kill(os.getpid(), signal.SIGHUP)
            assert not stop.requested
    finally:
        signal.signal(signal.SIGHUP, before)


@pytest.mark.parametrize("number", SIGNALS)
def test_without_a_listener_every_signal_is_ctrl_c(number: signal.Signals) -> None:
    before = handlers()
    with pytest.raises(KeyboardInterrupt), signals_as_keyboard_interrupt():
        os.kill(os.getpid(), number)
    assert handlers() == before


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
