"""Warnings about work that does not go on."""

from __future__ import annotations

import threading
import time

import pytest

from interplay.core import stall_watch
from interplay.core.stall_watch import StallWatch

SOON = 0.05


@pytest.fixture(autouse=True)
def _short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stall_watch, "STALL_SECONDS", SOON)


def a_call_that_hangs(caplog: pytest.LogCaptureFixture, warnings: int) -> None:
    until = time.monotonic() + 20
    while len(caplog.records) < warnings and time.monotonic() < until:
        time.sleep(0.01)


def test_the_stack_of_a_call_that_hangs_is_logged_again_and_again_and_no_more_after_it(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with StallWatch("collect: nothing has been finished"):
        a_call_that_hangs(caplog, warnings=2)
    first, second = (record.getMessage() for record in caplog.records)
    assert first.startswith("collect: nothing has been finished for 0 s; the stack of its thread:")
    assert "in a_call_that_hangs" in first and "in a_call_that_hangs" in second
    time.sleep(6 * SOON)
    assert len(caplog.records) == 2


def test_nothing_is_logged_while_there_are_beats(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(stall_watch, "STALL_SECONDS", 5.0)
    with StallWatch("clone: no update has ended") as watch:
        for _ in range(10):
            watch.beat()
            time.sleep(0.01)
    assert not caplog.records


def test_a_beat_puts_the_warning_off(caplog: pytest.LogCaptureFixture) -> None:
    with StallWatch("clone: no update has ended") as watch:
        a_call_that_hangs(caplog, warnings=2)
        watch.beat()
        caplog.clear()
        a_call_that_hangs(caplog, warnings=1)
    assert "for 0 s" in caplog.records[0].getMessage()  # counted from the beat


def test_a_watch_that_is_never_left_ends_with_its_owner() -> None:
    before = set(threading.enumerate())
    watch = StallWatch("evaluate: nothing has been finished").__enter__()
    (thread,) = set(threading.enumerate()) - before
    del watch
    thread.join(timeout=20)
    assert not thread.is_alive()
