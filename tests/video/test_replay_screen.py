"""What a drawn row shows, by its pixels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from fake_world import FRAMES
from numpy.typing import NDArray
from PIL import Image, ImageDraw
from test_replay_timeline import make_timeline

from interplay.episodes.episode import Mark
from interplay.video import style
from interplay.video.pictures import side_views
from interplay.video.screen import ReplayScreen, UtilityCurve
from interplay.video.style import font, wrap
from interplay.video.timeline import EpisodeTimeline

HEIGHT, WIDTH = 480, 640
BLUE, RED = (1, 2, 250), (250, 2, 1)


def plain(color: tuple[int, int, int], height: int = HEIGHT, width: int = WIDTH) -> NDArray[np.uint8]:
    return np.full((height, width, 3), color, np.uint8)


def drawn(timeline: EpisodeTimeline, row: int, titles: Sequence[str] = ("map",)) -> NDArray[np.uint8]:
    screen = ReplayScreen(timeline, height=HEIGHT, width=WIDTH, titles=titles)
    pictures = {"solver": plain(BLUE), **{title: plain(RED) for title in titles}}
    picture = screen.draw(row, pictures)
    assert picture.shape == (*screen.shape, 3)
    return picture


def count(picture: NDArray[np.uint8], color: style.Color) -> int:
    return int((picture == np.array(color, np.uint8)).all(-1).sum())


def clicked(*marks: tuple[int, int]) -> list[Mark]:
    return [Mark("e", f"rater-{step}", step * FRAMES, sign) for step, sign in marks]


def test_the_solvers_picture_is_large_and_the_map_beside_it() -> None:
    picture = drawn(make_timeline(20), 3)
    assert count(picture[:HEIGHT, :WIDTH], BLUE) > 0.95 * HEIGHT * WIDTH
    assert count(picture[: HEIGHT * 3 // 8, WIDTH:], RED) > 0.7 * (HEIGHT * 3 / 8) * (WIDTH * 3 / 8)
    assert count(picture, BLUE) > 6 * count(picture, RED)


def test_small_pictures_are_enlarged_whole_with_hard_edges() -> None:
    screen = ReplayScreen(make_timeline(20), height=HEIGHT, width=WIDTH, titles=())
    eyes = plain(BLUE, 8, 8)
    eyes[:, 4:] = RED
    picture = screen.draw(0, {"solver": eyes})[30:HEIGHT, :WIDTH]
    assert count(picture[:, 80:320], BLUE) == picture[:, 80:320].size // 3
    assert count(picture[:, 320:560], RED) == picture[:, 320:560].size // 3
    assert not count(picture[:, :80], BLUE)  # square as it was, in the middle


@pytest.mark.parametrize(("height", "width"), [(121, 163), (480, 640), (333, 555)])
def test_its_shape_is_even_whatever_is_asked(height: int, width: int) -> None:
    down, across = ReplayScreen(make_timeline(9), height=height, width=width, titles=()).shape
    assert down % 2 == across % 2 == 0
    assert down > height and across > width


def test_captions_appear_and_fade() -> None:
    timeline = make_timeline(200, [(3, "setter", "walk to the street"), (5, "solver", "yes")])
    (asked, asked_old), (said, _) = (
        style.caption_colors("setter", "solver"),
        style.caption_colors("solver", "solver"),
    )
    assert not count(drawn(timeline, 3), asked)
    assert count(drawn(timeline, 4), asked) > 50
    assert not count(drawn(timeline, 5), said)
    assert count(drawn(timeline, 6), said) > 10
    assert not count(drawn(timeline, 200), asked)
    assert count(drawn(timeline, 200), asked_old) > 50


def test_a_long_caption_is_wrapped_within_the_picture_and_whole() -> None:
    words = [f"word{number}" for number in range(60)]
    timeline = make_timeline(200, [(0, "setter", " ".join(words))])
    screen = ReplayScreen(timeline, height=HEIGHT, width=WIDTH, titles=())
    short = ReplayScreen(make_timeline(200, [(0, "setter", "word")]), height=HEIGHT, width=WIDTH, titles=())
    assert screen.shape[0] > short.shape[0] + 30
    bright, _ = style.caption_colors("setter", "solver")
    picture = screen.draw(1, {"solver": plain(BLUE)})
    assert not count(picture[:, -8:], bright)
    assert count(picture, bright) > 20 * count(short.draw(1, {"solver": plain(BLUE)}), bright)


def test_nothing_gives_way_before_it_could_be_read() -> None:
    long = "the large yellow duck on the shelf " * 5
    timeline = make_timeline(
        200, [(0, "setter", long), (10, "solver", "which one do you mean?"), (20, "setter", "that one")]
    )
    together, alone = drawn(timeline, 25), drawn(timeline, 5)
    asked, said = style.caption_colors("setter", "solver")[0], style.caption_colors("solver", "solver")[0]
    assert count(together, asked) > 1.02 * count(alone, asked)
    assert count(together, said) > 50


def test_more_captions_than_fit_leave_the_newest() -> None:
    said = [(step, "setter", f"setter {step}") for step in range(20)] + [(20, "solver", "no")]
    timeline = make_timeline(200, said)
    _, old = style.caption_colors("solver", "solver")
    picture = drawn(timeline, 21)
    assert count(picture, style.caption_colors("solver", "solver")[0]) > 10
    assert not count(picture, old)


@pytest.mark.parametrize(("sign", "color", "other"), [(1, style.UP, style.DOWN), (-1, style.DOWN, style.UP)])
def test_a_mark_is_large_while_it_is_new_and_then_small(sign: int, color: Any, other: Any) -> None:
    timeline = make_timeline(200, marks=clicked((7, sign)))
    before, new, later = (count(drawn(timeline, row), color) for row in (7, 8, 120))
    assert before == 0
    assert new > 1000
    assert 10 < later < 200
    assert not any(count(drawn(timeline, row), other) for row in (7, 8, 120))


def test_two_marks_of_one_moment_are_both_seen() -> None:
    both = [Mark("e", "anna", 7 * FRAMES, 1), Mark("e", "ben", 7 * FRAMES, -1)]
    for row in (8, 150):
        picture = drawn(make_timeline(200, marks=both), row)
        alone = {sign: drawn(make_timeline(200, marks=[mark]), row) for sign, mark in zip((1, -1), both, strict=True)}
        assert count(picture, style.UP) >= 0.9 * count(alone[1], style.UP) > 0
        assert count(picture, style.DOWN) >= 0.9 * count(alone[-1], style.DOWN) > 0


def test_the_curve_of_utility_grows_with_the_rows() -> None:
    timeline = make_timeline(100, utility=np.linspace(-1, 1, 101, dtype=np.float32))
    curve = UtilityCurve(timeline, box=(0, 0, 400, 100), face=font(10))
    rightmost, highest = [], []
    for row in (10, 50, 100):
        sheet = Image.new("RGB", (400, 100), style.PAPER)
        curve.draw(ImageDraw.Draw(sheet), row)
        on_it = (np.asarray(sheet)[:75, 60:] == np.array(style.CURVE, np.uint8)).all(-1)  # without the words
        columns = on_it.any(0).nonzero()[0]
        assert (np.diff(columns) == 1).all()  # unbroken
        rightmost.append(int(columns.max()))
        highest.append(int(on_it.any(1).nonzero()[0].min()))
    assert rightmost[0] < rightmost[1] - 100 < rightmost[2] - 200
    assert highest[0] > highest[1] + 20 > highest[2] + 40


def test_a_utility_that_never_changes_is_drawn() -> None:
    assert count(drawn(make_timeline(20, utility=np.full(21, 3.0, np.float32)), 20), style.CURVE) > 100


def test_a_takeover_stands_out() -> None:
    control = {"setter": [(0, "human")], "solver": [(0, "agent"), (4 * FRAMES, "human")]}
    timeline = make_timeline(20, control=control)
    assert not count(drawn(timeline, 3), style.TAKEN_OVER)
    assert count(drawn(timeline, 4), style.TAKEN_OVER) > 20


def test_text_is_broken_between_words_and_within_one_that_is_too_long() -> None:
    face = font(14)
    lines = wrap("lift the red duck and " + "q" * 80, face, 120)
    assert all(face.getlength(line) <= 120 for line in lines)
    assert " ".join(lines).replace(" ", "") == "lifttheredduckand" + "q" * 80
    assert lines[0].startswith("lift the")
    assert wrap("", face, 120) == [""]
    assert "".join(wrap("wide", face, 1)) == "wide"  # a letter a line rather than none


def test_what_shows_nothing_is_left_out() -> None:
    rng = np.random.default_rng(0)
    eyes, house, plan = rng.integers(256, size=(3, 8, 8, 3)).astype(np.uint8)
    blank = plain((9, 200, 30), 8, 8)
    seen = {"setter": eyes, "solver": eyes, "house": house, "map": plan}
    assert side_views(seen, solver="solver", setter="setter") == ("map", "setter")
    assert side_views({**seen, "setter": blank}, solver="solver", setter="setter") == ("map", "house")
    assert side_views({"solver": eyes}, solver="solver", setter="solver") == ()
