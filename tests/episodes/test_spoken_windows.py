"""Windows around utterances: each shows one of its role, every utterance is drawn, and a cursor resumes exactly.
Windows after instructions begin in the steps after what another role says, unless it is answered in words."""

from __future__ import annotations

import dataclasses
import json
import logging
from collections import Counter
from pathlib import Path

import pytest
from fake_corridor import Corridor, record_episode

from interplay.episodes.catalog_index import EpisodeFilter
from interplay.episodes.episode import Utterance
from interplay.episodes.lane_reader import EpisodeSource, EpisodeWindow
from interplay.episodes.moment_windows import MomentReader, instruction_moments, spoken_moments
from interplay.episodes.snapshot import Snapshot
from interplay.episodes.store import EpisodeStore

STEPS = [12, 30, 3, 9]
SPOKEN = {0: (2, 11), 1: (20,), 2: (0,)}  # episode: steps in which the solver speaks; in 3 the setter alone does


def name(number: int) -> str:
    return f"{number:028x}"


@pytest.fixture
def snapshot(tmp_path: Path) -> Snapshot:
    store, frames = EpisodeStore(tmp_path, create=True), Corridor().spec.frames_per_step
    for number, steps in enumerate(STEPS):
        episode = record_episode(Corridor(), seed=number, steps=steps)[0]
        said = [Utterance(step * frames, "solver", "yes") for step in SPOKEN.get(number, ())]
        meta = dataclasses.replace(episode.meta, id=name(number), utterances=(Utterance(0, "setter", "walk"), *said))
        store.append(dataclasses.replace(episode, meta=meta))
    return store.snapshot("run")


def reader_of(snapshot: Snapshot, seed: int = 0, role: str = "solver", **settings: object) -> MomentReader:
    source, said = EpisodeSource(snapshot, Corridor(), role, 2**20), spoken_moments(snapshot, role)
    return MomentReader(source, said, seed, **settings)  # type: ignore[arg-type]


def drawn(reader: MomentReader, times: int, rows: int = 5) -> list[EpisodeWindow]:
    return [reader.next(0, rows)[0] for _ in range(times)]


def test_every_window_shows_an_utterance_of_the_role(snapshot: Snapshot) -> None:
    for window in drawn(reader_of(snapshot), 60):
        spoken = [step for step, text in enumerate(window.episode.spoke) if text is not None]
        assert window.cut and any(window.start <= step < window.stop for step in spoken)


def test_utterances_are_drawn_equally_often_and_at_every_row(snapshot: Snapshot) -> None:
    windows = drawn(reader_of(snapshot, 1), 400, rows=4)  # as many as the shortest episode has
    counts = Counter(window.episode.meta.id for window in windows)
    assert counts == {name(0): 200, name(1): 100, name(2): 100}
    assert {window.start for window in windows if window.episode.meta.id == name(1)} == {17, 18, 19}


def test_a_cursor_resumes_exactly(snapshot: Snapshot) -> None:
    def places(reader: MomentReader) -> list[tuple[str, int, int, int]]:
        return [(w.episode.meta.id, w.start, w.stop, w.position) for w in drawn(reader, 9)]

    reader, resumed = reader_of(snapshot, 5), reader_of(snapshot, 5)
    drawn(reader, 7)
    resumed.load_state(json.loads(json.dumps(reader.state())))
    assert places(reader) == places(resumed)
    with pytest.raises(ValueError, match="the checkpoint has a position in other windows"):
        reader_of(snapshot, 6).load_state(reader.state())
    with pytest.raises(ValueError, match="the checkpoint has a position in other windows"):
        reader_of(snapshot, 5, role="setter").load_state(reader.state())


def test_two_readers_share_the_utterances(snapshot: Snapshot) -> None:
    shares = [
        Counter((w.episode.meta.id, w.position) for w in drawn(reader_of(snapshot, 3, rank=rank, world_size=2), 2))
        for rank in range(2)
    ]
    assert not shares[0] & shares[1] and {episode for share in shares for episode, _ in share} == set(map(name, SPOKEN))


def test_a_role_that_says_nothing_is_refused(snapshot: Snapshot) -> None:
    silent = EpisodeFilter(split="heldout")
    with pytest.raises(ValueError, match=r"the solver says nothing.*around_utterances=0"):
        spoken_moments(snapshot, "solver", silent)
    with pytest.raises(ValueError, match=r"set reward\.dataset\.around_utterances=0$"):
        spoken_moments(snapshot, "solver", silent, section="reward.dataset")


def test_an_unreadable_episode_is_left_out(snapshot: Snapshot, caplog: pytest.LogCaptureFixture) -> None:
    path = next(snapshot.root.rglob(f"*{name(1)}*.npz"))
    path.write_bytes(path.read_bytes()[:100])
    with caplog.at_level(logging.WARNING):
        windows = drawn(reader_of(snapshot), 30)
    assert {window.episode.meta.id for window in windows} == {name(0), name(2)} and "is damaged" in caplog.text


def with_dialogue(root: Path, *said: tuple[int, str]) -> Snapshot:
    """A store of one episode of 30 steps with these utterances, by step and role."""
    store, frames = EpisodeStore(root, create=True), Corridor().spec.frames_per_step
    episode = record_episode(Corridor(), seed=1, steps=30)[0]
    utterances = tuple(Utterance(step * frames, role, "walk") for step, role in said)
    meta = dataclasses.replace(episode.meta, id=name(0), utterances=utterances)
    store.append(dataclasses.replace(episode, meta=meta))
    return store.snapshot("run")


def test_instructions_are_what_is_not_answered_in_words(tmp_path: Path) -> None:
    frames = Corridor().spec.frames_per_step
    snapshot = with_dialogue(tmp_path, (0, "setter"), (9, "setter"), (11, "solver"), (20, "setter"))
    moments = instruction_moments(snapshot, "solver", 3)
    assert [moment.frame // frames for moment in moments.found] == [0, 20]
    reader = MomentReader(EpisodeSource(snapshot, Corridor(), "solver", 2**20), moments, 1)
    assert {(w.start, w.stop) for w in drawn(reader, 60, rows=4)} == {(at, at + 4) for at in (0, 1, 2, 20, 21, 22)}


def test_questions_alone_are_not_instructions(tmp_path: Path) -> None:
    snapshot = with_dialogue(tmp_path, (0, "setter"), (4, "solver"))
    with pytest.raises(ValueError, match=r"no instruction to the solver.*around_instructions=0"):
        instruction_moments(snapshot, "solver", 3)
