"""How often and how large pictures are drawn."""

from __future__ import annotations

import time
from typing import cast

import pytest
from starlette.websockets import WebSocket

from interplay.studio.live.frame_clock import STARTING_TICKS, TICKS, PictureLadder
from interplay.studio.live.viewer import Viewer


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


def test_the_start_of_a_session_is_not_called_slow() -> None:
    """The first ticks compile functions and wait for agents to load; pages load their scripts."""
    ladder, now = PictureLadder(0.0), 0.0
    for tick in range(STARTING_TICKS + 2 * TICKS):
        seconds, lag = (1.0, 5.0) if tick < STARTING_TICKS else (0.005, 0.0)
        now += max(seconds, 1 / 30)
        assert not ladder.tick(seconds, lag, now), tick


def test_a_viewer_lags_only_once_it_has_shown_a_picture_and_while_it_gives_signs_of_life() -> None:
    viewer = Viewer(cast(WebSocket, None), "solver")
    viewer._sent.append((500, time.monotonic() - 20))
    viewer.seen = time.monotonic() - 10
    viewer.shown(0)
    assert viewer.lag() == 0.0, "the page loads"
    viewer.shown(500)
    viewer._sent.append((501, viewer.seen))
    assert viewer.lag() == 0.0, "the page has been silent since: its person is away"
    viewer.seen += 5
    assert viewer.lag() == pytest.approx(5)
