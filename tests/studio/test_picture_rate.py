"""How often and how large pictures are drawn."""

from __future__ import annotations

import pytest

from interplay.studio.live.frame_clock import TICKS, PictureLadder


@pytest.mark.parametrize(("every", "shown"), [(1, 30), (2, 15), (3, 10)])
def test_pictures_are_as_frequent_as_the_settings_allow(every: int, shown: int) -> None:
    ladder = PictureLadder(0.0, every=every)
    assert sum(ladder.shows(frame) for frame in range(30)) == shown


def test_slow_ticks_make_pictures_fewer_and_then_smaller() -> None:
    ladder, now = PictureLadder(0.0), 0.0
    seen = []
    for _ in range(8 * TICKS):
        now += 0.1
        if ladder.tick(0.05, 0.0, now):
            seen.append((sum(ladder.shows(frame) for frame in range(30)), ladder.size((288, 384))))
    assert seen == [(15, (288, 384)), (15, (216, 288)), (15, (144, 192))]
