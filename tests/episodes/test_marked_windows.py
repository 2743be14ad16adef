"""Windows around marks: each has its mark after its first row, every mark is drawn, and a cursor resumes exactly."""

from __future__ import annotations

import dataclasses
import json
from collections import Counter
from pathlib import Path

import pytest
from fake_corridor import Corridor, record_episode

from interplay.episodes.encoding import DamagedEpisode
from interplay.episodes.episode import Mark
from interplay.episodes.lane_reader import EpisodeSource, EpisodeWindow
from interplay.episodes.moment_windows import MomentReader, marked_moments
from interplay.episodes.snapshot import Snapshot
from interplay.episodes.store import EpisodeStore

STEPS = [12, 30, 3, 9]
MARKED = {0: ((2, "ann"), (11, "ann")), 1: ((20, "bob"),), 2: ((0, "ann"),)}  # episode: (step, rater); 3 has none


def name(number: int) -> str:
    return f"{number:028x}"


@pytest.fixture
def snapshot(tmp_path: Path) -> Snapshot:
    store = EpisodeStore(tmp_path, create=True)
    for number, steps in enumerate(STEPS):
        episode = record_episode(Corridor(), seed=number, steps=steps)[0]
        store.append(dataclasses.replace(episode, meta=dataclasses.replace(episode.meta, id=name(number))))
    frames = Corridor().spec.frames_per_step
    store.add_marks(
        [Mark(name(number), who, step * frames, 1) for number, marks in MARKED.items() for step, who in marks]
    )
    return store.snapshot("run")


def reader_of(snapshot: Snapshot, seed: int) -> MomentReader:
    return MomentReader(EpisodeSource(snapshot, Corridor(), "solver", 2**20), marked_moments(snapshot), seed)


def drawn(reader: MomentReader, times: int, rows: int = 5) -> list[list[EpisodeWindow]]:
    return [reader.next(0, rows) for _ in range(times)]


def test_every_window_shows_a_mark_of_its_rater_after_its_first_row(snapshot: Snapshot) -> None:
    for pieces in drawn(reader_of(snapshot, 0), 60):
        assert sum(piece.stop - piece.start for piece in pieces) == 5
        first = pieces[0]  # the last of several may be cut too short for that
        clicks = first.episode.marks[str(first.rater)]
        assert first.cut and any(first.start < step + 1 < first.stop for step, _ in clicks)
        assert first.episode.meta.id != name(3)


def test_every_rank_finds_the_only_readable_file(snapshot: Snapshot) -> None:
    for path in (snapshot.root / "episodes").glob("*/*.npz"):
        if path.stem != name(1):
            path.unlink()
    for seed in range(20):
        source = EpisodeSource(snapshot, Corridor(), "solver", 2**20)
        reader = MomentReader(source, marked_moments(snapshot), seed, rank=1, world_size=4)
        assert {piece.episode.meta.id for pieces in drawn(reader, 9) for piece in pieces} == {name(1)}
    (snapshot.root / "episodes").rename(snapshot.root / "elsewhere")
    source = EpisodeSource(snapshot, Corridor(), "solver", 2**20)
    with pytest.raises(DamagedEpisode, match=r"all episodes of .* are unreadable"):
        MomentReader(source, marked_moments(snapshot), 1).next(0, 5)


def test_marks_are_drawn_equally_often_and_at_every_position(snapshot: Snapshot) -> None:
    windows = [pieces[0] for pieces in drawn(reader_of(snapshot, 1), 400)]
    counts = Counter(piece.episode.meta.id for piece in windows)
    assert counts[name(0)] > 1.5 * counts[name(1)] > 0
    assert {piece.start for piece in windows if piece.episode.meta.id == name(1)} == {17, 18, 19, 20}


def test_short_episodes_are_followed_by_another_window(snapshot: Snapshot) -> None:
    for pieces in drawn(reader_of(snapshot, 0), 20, rows=8):
        if pieces[0].episode.meta.id == name(2):
            assert (pieces[0].start, pieces[0].stop) == (0, 4) and len(pieces) > 1
            break
    else:
        pytest.fail("the short episode never came up")


def test_a_cursor_resumes_exactly(snapshot: Snapshot) -> None:
    reader = reader_of(snapshot, 5)
    drawn(reader, 7)
    state = json.loads(json.dumps(reader.state()))
    resumed = reader_of(snapshot, 5)
    resumed.load_state(state)
    places = [[(p.episode.meta.id, p.start, p.stop, p.position) for p in w] for w in drawn(reader, 9)]
    assert [[(p.episode.meta.id, p.start, p.stop, p.position) for p in w] for w in drawn(resumed, 9)] == places


def test_a_cursor_of_other_windows_is_refused(snapshot: Snapshot) -> None:
    with pytest.raises(ValueError, match="resume with the settings of the checkpoint"):
        reader_of(snapshot, 5).load_state(reader_of(snapshot, 6).state())


def test_without_marks_there_are_no_windows(tmp_path: Path) -> None:
    store = EpisodeStore(tmp_path, create=True)
    store.append(record_episode(Corridor(), seed=0, steps=4)[0])
    with pytest.raises(ValueError, match="mark some first: interplay mark"):
        reader_of(store.snapshot("run"), 0)
