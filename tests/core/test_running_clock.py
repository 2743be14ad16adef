"""A clock that does not advance while its process is suspended."""

from __future__ import annotations

from interplay.core.running_clock import MAX_GAP_SECONDS, RunningClock


def test_a_suspended_process_does_not_count_and_a_busy_one_does() -> None:
    now = [100.0]
    clock = RunningClock(lambda: now[0])
    assert clock() == 0.0
    for _ in range(20):
        now[0] += 3.0
        clock()
    assert clock() == 60.0
    now[0] += 3600.0
    assert clock() == 60.0 + MAX_GAP_SECONDS
    now[0] += 2.0
    assert clock() == 62.0 + MAX_GAP_SECONDS
