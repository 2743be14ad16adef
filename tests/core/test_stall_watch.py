"""Warnings about work that does not go on."""

from __future__ import annotations

import re
import threading

import pytest
from processes import becomes_true

from interplay.core import stall_watch
from interplay.core.running_clock import RunningClock
from interplay.core.stall_watch import StallWatch, _Pulse

SOON = 0.05


@pytest.fixture(autouse=True)
def _short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stall_watch, "STALL_SECONDS", SOON)


def a_call_that_hangs(caplog: pytest.LogCaptureFixture) -> bool:
    """Whether its stack is logged twice."""
    return becomes_true(lambda: sum("in a_call_that_hangs" in message for message in caplog.messages) > 1)


def test_the_stack_of_a_call_that_hangs_is_logged_again_and_again_and_no_more_after_it(
    caplog: pytest.LogCaptureFixture,
) -> None:
    before = set(threading.enumerate())
    with StallWatch("collect: nothing has been finished"):
        (thread,) = set(threading.enumerate()) - before
        assert a_call_that_hangs(caplog)
    said = re.compile(r"collect: nothing has been finished for \d+ s; the stack of its thread:\n")
    assert all(said.match(message) for message in caplog.messages)
    thread.join(timeout=60)
    assert not thread.is_alive()


class Clock:
    """Stands in for the time and for the event of a watch: a wait passes at once, with beats at the given times."""

    def __init__(self, pulse: _Pulse, beats: list[float], end: float) -> None:
        self._pulse, self._beats, self._end = pulse, beats, end
        self.now = 0.0

    def monotonic(self) -> float:
        return self.now

    def wait(self, seconds: float) -> bool:
        """Whether the watch has ended."""
        self.now += seconds
        while self._beats and self._beats[0] <= self.now:
            self._pulse.beat_at = self._beats.pop(0)
        return self.now >= self._end


def test_a_warning_comes_two_minutes_after_the_last_beat_and_then_each_time_after_twice_the_time(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(stall_watch, "STALL_SECONDS", 120.0)
    pulse = _Pulse("clone: no update has ended")
    pulse.beat_at = 0.0
    clock = Clock(pulse, [10.0, 119.0, 1000.0], end=1200.0)
    monkeypatch.setattr(pulse, "clock", RunningClock(clock.monotonic))
    monkeypatch.setattr(pulse, "_ended", clock)
    warned: list[float] = []
    monkeypatch.setattr(stall_watch, "stack_of", lambda thread: warned.append(clock.now) or "")
    pulse.watch()
    assert warned == [239.0, 359.0, 599.0, 1120.0]
    logged = [record.getMessage().partition(";")[0] for record in caplog.records]
    assert logged == [f"clone: no update has ended for {quiet} s" for quiet in (120, 240, 480, 120)]


def test_a_process_that_was_suspended_has_not_stalled(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(stall_watch, "STALL_SECONDS", 120.0)
    pulse = _Pulse("clone: no update has ended")
    pulse.beat_at = 0.0
    clock = Clock(pulse, [], end=3700.0)
    monkeypatch.setattr(pulse, "clock", RunningClock(clock.monotonic))
    monkeypatch.setattr(pulse, "_ended", clock)
    clock.now = 3600.0
    pulse.watch()
    assert not caplog.records


def test_a_watch_that_is_never_left_ends_with_its_owner() -> None:
    before = set(threading.enumerate())
    watch = StallWatch("evaluate: nothing has been finished").__enter__()
    (thread,) = set(threading.enumerate()) - before
    del watch
    thread.join(timeout=20)
    assert not thread.is_alive()
