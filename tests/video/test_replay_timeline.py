"""The timeline of a replay: readable subtitles, marks in the row that shows them, the solver's controller."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from fake_world import FRAMES, LineWorld, record_episode

from interplay.episodes.episode import Mark, Utterance
from interplay.video.timeline import EpisodeTimeline, build_timeline

A_ROW = FRAMES / 30.0  # seconds


def make_timeline(
    steps: int = 200, said: Sequence[tuple[int, str, str]] = (), marks: Sequence[Mark] = (), **more: Any
) -> EpisodeTimeline:
    """Of an episode in which roles say things in steps."""
    world = LineWorld()
    episode, _ = record_episode(world, 1, steps)
    control = more.pop("control", episode.meta.control)
    utterances = tuple(Utterance(step * FRAMES, who, text) for step, who, text in said)
    return build_timeline(replace(episode.meta, utterances=utterances, control=control), world.spec, marks, **more)


def read(timeline: EpisodeTimeline, row: int) -> list[tuple[str, bool]]:
    return [(caption.subtitle.text, caption.is_new) for caption in timeline.captions_at(row)]


def test_a_line_appears_in_the_row_that_hears_it_and_stays_fresh_while_it_is_read() -> None:
    timeline = make_timeline(said=[(3, "setter", "walk to two")])
    assert read(timeline, 3) == []
    assert read(timeline, 4) == [("walk to two", True)]
    seconds = next(row for row in range(4, 200) if not timeline.captions_at(row)[0].is_new) * A_ROW - 4 * A_ROW
    assert 2.0 <= seconds < 2.0 + A_ROW
    assert read(timeline, 200) == [("walk to two", False)]  # what was asked stays


def test_a_long_line_stays_longer_and_speed_does_not_shorten_it() -> None:
    long = "x" * 140  # 11 seconds
    for speed in (1.0, 4.0):
        timeline = make_timeline(said=[(0, "setter", long), (1, "setter", "and")], speed=speed)
        rows = [row for row in range(201) if (long, True) in read(timeline, row)]
        shown = len(rows) * A_ROW / speed if rows[-1] < 200 else float("inf")
        assert shown >= 11.0 or timeline.end_rows * A_ROW / speed + shown >= 11.0
        assert ("and", False) in read(make_timeline(said=[(0, "setter", long), (1, "setter", "and")]), 200)


def test_what_was_read_gives_way_to_the_speakers_next_line_alone() -> None:
    timeline = make_timeline(said=[(0, "setter", "one"), (100, "solver", "two"), (101, "setter", "three")])
    assert read(timeline, 102) == [("two", True), ("three", True)]
    assert read(timeline, 200) == [("two", False), ("three", False)]


def test_the_end_is_held_until_its_last_line_can_be_read() -> None:
    assert make_timeline(said=[]).end_rows * A_ROW >= 2.0
    timeline = make_timeline(steps=10, said=[(9, "solver", "y" * 70)])  # 6 seconds
    assert 6.0 <= timeline.end_rows * A_ROW + A_ROW < 6.0 + 2 * A_ROW


def test_a_mark_shows_from_the_row_that_its_step_led_to() -> None:
    episode = record_episode(LineWorld(), 1, 10)[0].meta.id
    marks = [Mark(episode, "ben", 5 * FRAMES + 1, -1), Mark(episode, "anna", 5 * FRAMES + 1, 1)]
    timeline = make_timeline(marks=[*marks, Mark(episode, "ben", 10_000, 1)])
    assert timeline.marks_at(5) == []
    assert [(click.rater, click.sign) for click in timeline.marks_at(6)] == [("anna", 1), ("ben", -1)]
    assert len(timeline.marks_at(6 + int(1.5 / A_ROW))) == 2
    assert timeline.marks_at(100) == []
    assert timeline.shown_marks[-1].row == 200  # one beyond the end belongs to it


def test_who_steers_changes_with_the_row() -> None:
    control = {"setter": [(0, "human")], "solver": [(0, "agent"), (4 * FRAMES, "human")]}
    timeline = make_timeline(steps=6, control=control)
    assert [timeline.controller_at(row) for row in range(7)] == ["agent"] * 4 + ["human"] * 3
    late = make_timeline(steps=6, control={**control, "solver": [(0, "agent"), (6 * FRAMES, "human")]})
    assert late.controller_at(6) == "agent"  # who would have steered after the end never did


def test_several_tasks_are_counted_and_their_ends_told() -> None:
    world = LineWorld()
    meta = replace(
        record_episode(world, 1, 20)[0].meta,
        tasks=((2 * FRAMES, {"kind": "walk"}), (8 * FRAMES, {"kind": "walk"})),
        endings=((5 * FRAMES, "given up"),),
    )
    timeline = build_timeline(meta, world.spec, ())
    assert [timeline.task_status_at(row) for row in (0, 2, 3, 4)] == ["", "", "task 1 of 2", "task 1 of 2"]
    assert [timeline.task_status_at(row) for row in (5, 8, 9, 20)] == ["task 1 of 2: given up"] * 2 + [
        "task 2 of 2"
    ] * 2
    assert make_timeline(20).task_status_at(20) == ""  # it goes without saying
