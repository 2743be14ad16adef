from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fake_corridor import Corridor, record_episode
from hypothesis import given
from hypothesis import strategies as st

from interplay.episodes.catalog_index import EpisodeFilter
from interplay.episodes.decoded_episode import DecodedEpisode, decode_for_role
from interplay.episodes.encoding import DamagedEpisode
from interplay.episodes.episode import Mark
from interplay.episodes.episode_cache import EpisodeCache
from interplay.episodes.episode_order import EpisodeOrder
from interplay.episodes.lane_reader import EpisodeWindow, LaneReader
from interplay.episodes.snapshot import Snapshot
from interplay.episodes.store import EpisodeStore

STEPS = [3, 9, 1, 14, 5, 7]


@pytest.fixture
def snapshot(tmp_path: Path) -> Snapshot:
    """Six episodes of different lengths, ids 0 to 5 in hex."""
    store = EpisodeStore(tmp_path, create=True)
    for number, steps in enumerate(STEPS):
        episode = record_episode(Corridor(), seed=number, steps=steps)[0]
        store.append(dataclasses.replace(episode, meta=dataclasses.replace(episode.meta, id=f"{number:028x}")))
    store.add_marks([Mark(f"{3:028x}", "ann", 21, 1)])
    return store.snapshot("run")


def rows(pieces: list[EpisodeWindow]) -> list[tuple[int, str, int]]:
    """(position, episode, row) of every row delivered."""
    return [(piece.position, piece.episode.meta.id, row) for piece in pieces for row in range(piece.start, piece.stop)]


@given(st.integers(1, 12), st.integers(0, 100), st.integers(1, 5))
def test_ranks_together_go_through_every_epoch_once(count: int, seed: int, world_size: int) -> None:
    orders = [EpisodeOrder(count, seed, rank=rank, world_size=world_size) for rank in range(world_size)]
    total = 3 * count
    taken = {orders[k % world_size].position(k // world_size): k for k in range(total)}
    assert sorted(taken) == list(range(total))
    for epoch in range(3):
        numbers = [orders[0].at(epoch * count + place) for place in range(count)]
        assert sorted(numbers) == list(range(count))


def test_epochs_are_shuffled_each_in_its_own_way() -> None:
    order = EpisodeOrder(50, seed=1)
    first, second = [[order.at(50 * epoch + place) for place in range(50)] for epoch in (0, 1)]
    assert first != second != list(range(50)) != first
    assert [order.at(place) for place in range(50)] == first
    assert [EpisodeOrder(50, seed=2).at(place) for place in range(50)] != first


def test_a_lane_reads_complete_episodes_in_order(snapshot: Snapshot) -> None:
    reader = LaneReader(snapshot, lanes=1, seed=0, world=Corridor())
    total = sum(STEPS) + len(STEPS)
    delivered = [row for _ in range(total // 3) for row in rows(reader.next(0, 3))]
    expected = [
        (position, snapshot.ids[number], row)
        for position in range(len(STEPS))
        for number in [EpisodeOrder(len(STEPS), 0).at(position)]
        for row in range(STEPS[number] + 1)
    ]
    assert delivered == expected


def test_staggered_lanes_start_at_different_rows_marked_as_cut(snapshot: Snapshot) -> None:
    plain, staggered = (
        [LaneReader(snapshot, lanes=8, seed=2, world=Corridor(), stagger=flag).next(lane, 12) for lane in range(8)]
        for flag in (False, True)
    )
    starts = [windows[0].start for windows in staggered]
    assert len(set(starts)) > 2
    for ours, theirs in zip(staggered, plain, strict=True):
        assert ours[0].position == theirs[0].position
        assert ours[0].start <= ours[0].episode.rows - 2
        assert [window.cut for window in ours] == [ours[0].start > 0] + [False] * (len(ours) - 1)
        assert all(window.start == 0 for window in ours[1:])
    reader = LaneReader(snapshot, lanes=2, seed=2, world=Corridor(), stagger=True)
    cuts = [window.cut for _ in range(9) for lane in range(2) for window in reader.next(lane, 2)]
    assert any(cuts[:2]) and not any(cuts[2:])


@given(
    st.lists(st.tuples(st.integers(0, 2), st.integers(2, 9)), min_size=1, max_size=12),
    st.integers(0, 11),
    st.booleans(),
)
def test_resumed_lanes_go_on_bit_identically(
    tmp_path_factory: pytest.TempPathFactory, calls: list[tuple[int, int]], stop: int, stagger: bool
) -> None:
    opened = shared_snapshot(tmp_path_factory)
    whole = LaneReader(opened, lanes=3, seed=5, world=Corridor(), stagger=stagger)
    wanted = [whole.next(lane, size) for lane, size in calls]
    first = LaneReader(opened, lanes=3, seed=5, world=Corridor(), stagger=stagger)
    got = [first.next(lane, size) for lane, size in calls[:stop]]
    second = LaneReader(opened, lanes=3, seed=5, world=Corridor(), stagger=stagger)
    second.load_state(json.loads(json.dumps(first.state())))
    got += [second.next(lane, size) for lane, size in calls[stop:]]
    assert [rows(pieces) for pieces in got] == [rows(pieces) for pieces in wanted]
    assert [[piece.cut for piece in pieces] for pieces in got] == [[piece.cut for piece in pieces] for pieces in wanted]
    for one, other in zip(got, wanted, strict=True):
        for a, b in zip(one, other, strict=True):
            assert a.episode.images is not None and b.episode.images is not None
            assert a.episode.images[a.start : a.stop].tobytes() == b.episode.images[b.start : b.stop].tobytes()
    assert second.state() == whole.state()


def shared_snapshot(factory: pytest.TempPathFactory) -> Snapshot:
    """One snapshot for all examples of a property."""
    root = factory.getbasetemp() / "shared"
    if not root.exists():
        store = EpisodeStore(root, create=True)
        for number, steps in enumerate(STEPS):
            store.append(record_episode(Corridor(), seed=number, steps=steps)[0])
        store.snapshot("run")
        store.close()
    return Snapshot(root / "snapshots" / "run.db")


def test_lanes_share_one_order(snapshot: Snapshot) -> None:
    reader = LaneReader(snapshot, lanes=6, seed=1, world=Corridor())
    firsts = [reader.next(lane, 1)[0] for lane in range(6)]
    assert [piece.position for piece in firsts] == list(range(6))
    assert {piece.episode.meta.id for piece in firsts} == set(snapshot.ids)


def test_only_episodes_that_satisfy_the_condition_are_streamed(snapshot: Snapshot) -> None:
    reader = LaneReader(snapshot, lanes=1, seed=1, where=EpisodeFilter(marked=True), world=Corridor())
    assert {episode for _, episode, _ in rows(reader.next(0, 50))} == {f"{3:028x}"}
    with pytest.raises(ValueError, match="no episode to stream"):
        LaneReader(snapshot, lanes=1, seed=1, where=EpisodeFilter(split="heldout"), world=Corridor())


def test_a_cursor_of_another_stream_is_refused(snapshot: Snapshot) -> None:
    state = LaneReader(snapshot, lanes=2, seed=1).state()
    for other in (
        LaneReader(snapshot, lanes=2, seed=2),
        LaneReader(snapshot, lanes=3, seed=1),
        LaneReader(snapshot, lanes=2, seed=1, world_size=2),
        LaneReader(snapshot, lanes=2, seed=1, where=EpisodeFilter(marked=True)),
    ):
        with pytest.raises(ValueError, match="another stream"):
            other.load_state(state)


def test_damaged_files_are_named_skipped_and_counted(snapshot: Snapshot, caplog: pytest.LogCaptureFixture) -> None:
    damaged = snapshot.ids[3]
    next((snapshot.root / "episodes").glob(f"*/{damaged}.npz")).write_bytes(b"gone")
    reader = LaneReader(snapshot, lanes=2, seed=0, world=Corridor())
    seen = {episode for _ in range(30) for lane in range(2) for _, episode, _ in rows(reader.next(lane, 7))}
    assert seen == set(snapshot.ids) - {damaged}
    assert reader.source.unreadable.ids == {damaged}
    assert caplog.text.count(damaged) == 1


def test_a_snapshot_without_a_readable_file_ends_the_run(snapshot: Snapshot) -> None:
    for path in (snapshot.root / "episodes").glob("*/*.npz"):
        path.unlink()
    with pytest.raises(DamagedEpisode, match=r"all episodes of .*run\.db that are wanted here are unreadable"):
        LaneReader(snapshot, lanes=1, seed=0, world=Corridor()).next(0, 1)


def test_every_rank_finds_the_only_readable_file(snapshot: Snapshot) -> None:
    kept = snapshot.ids[2]
    for path in (snapshot.root / "episodes").glob("*/*.npz"):
        if path.stem != kept:
            path.unlink()
    for rank in range(4):
        for seed in range(10):
            reader = LaneReader(snapshot, lanes=1, seed=seed, rank=rank, world_size=4, world=Corridor())
            assert {episode for _, episode, _ in rows(reader.next(0, 60))} == {kept}


@pytest.mark.parametrize("poses", [True, False])
@pytest.mark.parametrize("role", ["setter", "solver"])
def test_an_episode_is_decoded_from_the_roles_point_of_view(poses: bool, role: str) -> None:
    episode, views, _ = record_episode(Corridor(poses=poses), seed=4, steps=12)
    marks = [
        Mark(episode.meta.id, "ann", 21, 1),
        Mark(episode.meta.id, "ann", 6, -1),
        Mark(episode.meta.id, "bob", 0, 1),
    ]
    decoded = decode_for_role(episode, role, marks=marks, world=Corridor(poses=poses))
    assert decoded.images is not None and decoded.vectors is not None
    assert decoded.images[:].shape == (13, 8, 8, 3)
    for row, seen in enumerate(views):
        np.testing.assert_array_equal(decoded.images[row], seen[role].image)
        np.testing.assert_array_equal(decoded.vectors[row], seen[role].vector)
        assert (decoded.heard[row], decoded.said[row]) == (seen[role].heard, seen[role].said)
    for step, text in enumerate(decoded.spoke):
        assert text is None or text == f"{role} {step}" == decoded.said[step + 1]
        np.testing.assert_array_equal(decoded.actions[step], episode.actions[role][4 * step : 4 * step + 4])
    assert decoded.marks == {"ann": ((1, -1), (5, 1)), "bob": ((0, 1),)}


def test_pictures_that_cannot_be_had_are_an_error() -> None:
    episode = record_episode(Corridor(), seed=4)[0]
    with pytest.raises(ValueError, match="give a 'corridor' world"):
        decode_for_role(episode, "solver")
    with pytest.raises(ValueError, match="no role 'judge'"):
        decode_for_role(episode, "judge")


def test_an_episode_of_a_world_of_another_size_is_refused() -> None:
    """Its observations are stored, so nothing is drawn that would show it."""
    world = Corridor(poses=False)
    episode = record_episode(world, seed=4)[0]
    decode_for_role(episode, "solver", world=world)
    changes: tuple[tuple[dict[str, Any], str], ...] = (
        ({"vector": 3}, "has 2 numbers in a vector, and the world corridor has 3 with the present settings"),
        ({"movement": 2 * world.spec.movement}, "has 1 components of a movement, and the world corridor has 2 with"),
    )
    for changed, problem in changes:
        other = Corridor(poses=False)
        other.spec = dataclasses.replace(world.spec, **changed)
        with pytest.raises(ValueError, match=problem):
            decode_for_role(episode, "solver", world=other)


def test_the_cache_keeps_the_most_recently_used_within_its_budget() -> None:
    world = Corridor(poses=False)
    episodes = {str(seed): decode_for_role(record_episode(world, seed=seed)[0], "solver") for seed in range(4)}
    asked: list[str] = []

    def decode(name: str) -> DecodedEpisode:
        asked.append(name)
        return episodes[name]

    cache = EpisodeCache(2 * episodes["0"].bytes)
    for name in ["0", "1", "0", "2", "0", "1", "3", "0"]:
        assert cache.get(name, decode) is episodes[name]
    assert asked == ["0", "1", "2", "1", "3", "0"]


def test_raters_without_a_mark_are_listed_where_rated_episodes_are_read(snapshot: Snapshot) -> None:
    with EpisodeStore(snapshot.root) as store:
        store.add_ratings([(f"{3:028x}", "bob"), (f"{4:028x}", "bob")])
        rated = store.snapshot("rated")
    raters = {}
    for where in (EpisodeFilter(rated=True), EpisodeFilter(marked=True)):
        reader = LaneReader(rated, 1, seed=0, where=where, world=Corridor())
        episodes = {window.episode.meta.id: window.episode for window in reader.next(0, 60)}
        raters[where.rated] = {int(name, 16): each.marks for name, each in episodes.items()}
    assert raters[True] == {3: {"ann": ((5, 1),), "bob": ()}, 4: {"bob": ()}}
    assert raters[None] == {3: {"ann": ((5, 1),)}}
