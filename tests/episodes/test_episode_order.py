"""Data mixes: exact shares by players and by round, resumable, stated by the snapshot."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fake_world import TINY, WORDS, LineWorld, make_snapshot, record_episode, with_number

from interplay.actors.dataset_actor import DatasetConfig
from interplay.actors.row_writer import RowWriter
from interplay.agent.observation import Layout
from interplay.episodes.catalog_index import EpisodeFilter
from interplay.episodes.encoding import DamagedEpisode
from interplay.episodes.episode import Episode, Mark
from interplay.episodes.episode_order import MixedOrder, order_of
from interplay.episodes.lane_reader import EpisodeSource, LaneReader
from interplay.episodes.moment_windows import MomentReader, marked_moments
from interplay.episodes.snapshot import Snapshot
from interplay.episodes.store import EpisodeStore
from interplay.stages.shared_parts import PEOPLE

CONTROL = {
    "human-human": ("human", [(0, "human")]),
    "human-agent": ("scripted", [(0, "agent")]),
    "shared-control": ("human", [(0, "agent"), (4, "human")]),
    "agent-agent": ("agent", [(0, "agent")]),
}
KINDS = [("human-human", 0)] * 4 + [("human-agent", 1)] * 3 + [("human-agent", 2)] * 2 + [("shared-control", 1)]


def episode(number: int, kind: str, round_number: int) -> Episode:
    setter, solver = CONTROL[kind]
    made = with_number(record_episode(LineWorld(), number, 5, solver[0][1])[0], number, round=round_number)
    players = {"setter": {"kind": setter}, "solver": {"kind": solver[0][1]}}
    control = {"setter": [(0, setter)], "solver": solver}
    return replace(made, meta=replace(made.meta, control=control, players=players))


@pytest.fixture
def snapshot(tmp_path: Path) -> Snapshot:
    episodes = [episode(number, kind, round_number) for number, (kind, round_number) in enumerate(KINDS)]
    marks = [Mark(made.meta.id, "ann", 3 + at, 1) for made in episodes for at in range(3)]
    return make_snapshot(tmp_path, episodes, marks)


def kinds_read(reader: LaneReader | MomentReader, count: int) -> Counter[tuple[str, int]]:
    found: Counter[tuple[str, int]] = Counter()
    for _ in range(count):
        (window,) = reader.next(0, 6)
        found[KINDS[int(window.episode.meta.id, 16)]] += 1
    return found


def reader_of(snapshot: Snapshot, mix: dict[str, float], **settings: Any) -> LaneReader:
    return LaneReader(snapshot, 1, 3, world=LineWorld(), mix=mix, **settings)


def test_a_snapshot_states_its_kinds_its_rounds_and_its_mix(snapshot: Snapshot) -> None:
    composition = {"human-human@0": 4, "scripted-agent@1": 3, "scripted-agent@2": 2, "shared-control@1": 1}
    assert snapshot.composition() == composition
    assert "mix" not in snapshot.condition()
    with EpisodeStore(snapshot.root) as store:
        mixed = store.snapshot("mixed", mix={"human-human": 0.5, "human-agent": 0.5})
    assert mixed.condition()["mix"] == {"human-human": 0.5, "human-agent": 0.5}


def test_a_learned_setters_episode_is_of_two_agents(tmp_path: Path) -> None:
    assert make_snapshot(tmp_path, [episode(1, "agent-agent", 2)]).composition() == {"agent-agent@2": 1}


@pytest.mark.parametrize("reader", ["stream", "marked"])
def test_shares_are_exact_in_every_hundred(snapshot: Snapshot, reader: str) -> None:
    mix = {"human-human": 2.0, "human-agent": 1.0, "human-agent@2": 1.0}
    read = reader_of(snapshot, mix) if reader == "stream" else MomentReader(
        EpisodeSource(snapshot, LineWorld(), "solver", 2**20), marked_moments(snapshot), 3, mix=mix)  # fmt: skip
    for _ in range(3):
        assert kinds_read(read, 100) == {("human-human", 0): 50, ("human-agent", 1): 25, ("human-agent", 2): 25}


def test_a_round_with_a_share_of_0_is_not_read_as_one_of_the_others(snapshot: Snapshot) -> None:
    mix = {"human-human": 0.5, "human-agent": 0.5, "human-agent@2": 0.0}
    assert kinds_read(reader_of(snapshot, mix), 100) == {("human-human", 0): 50, ("human-agent", 1): 50}


def test_episodes_of_a_group_come_equally_often(snapshot: Snapshot) -> None:
    order = order_of(snapshot, snapshot.ids, {"human-human": 0.8, "shared-control": 0.2}, 7)
    assert Counter(order.at(order.position(k)) for k in range(500)) == {**dict.fromkeys(range(4), 100), 9: 100}


def test_ranks_share_one_mixed_order_and_any_position_can_be_looked_up() -> None:
    groups, shares = [[0, 1, 2], [3, 4]], [0.7, 0.3]
    alone = MixedOrder(groups, shares, 5)
    whole = [alone.at(alone.position(k)) for k in range(300)]
    ranks = [MixedOrder(groups, shares, 5, rank=rank, world_size=2) for rank in range(2)]
    assert [ranks[k % 2].at(ranks[k % 2].position(k // 2)) for k in range(300)] == whole
    backwards = MixedOrder(groups, shares, 5)
    assert [backwards.at(position) for position in reversed(range(300))] == whole[::-1]
    assert [MixedOrder(groups, shares, 6).at(k) for k in range(300)] != whole


def test_a_reader_waits_for_the_only_readable_kind_however_small_its_share(snapshot: Snapshot) -> None:
    files = {path.stem: path for path in (snapshot.root / "episodes").glob("*/*.npz")}
    for episode in snapshot.ids[:4]:  # all human-human ones
        files[episode].unlink()
    mix = {"human-human": 0.99, "shared-control": 0.01}
    assert kinds_read(reader_of(snapshot, mix), 3) == {("shared-control", 1): 3}
    files[snapshot.ids[-1]].unlink()  # human-agent ones remain, which have no share
    with pytest.raises(DamagedEpisode, match=r"all episodes of .* are unreadable"):
        reader_of(snapshot, mix).next(0, 6)


def test_a_mixed_reader_resumes_exactly(snapshot: Snapshot) -> None:
    mix = {"human-human": 0.6, "human-agent": 0.4}
    straight, resumed = reader_of(snapshot, mix), reader_of(snapshot, mix)
    for _ in range(37):
        straight.next(0, 4)
    resumed.load_state(straight.state())
    for _ in range(150):
        (one, *_), (other, *_) = straight.next(0, 4), resumed.next(0, 4)
        assert (one.episode.meta.id, one.start, one.stop) == (other.episode.meta.id, other.start, other.stop)
        np.testing.assert_array_equal(one.episode.actions, other.episode.actions)


def test_a_kind_without_episodes_is_refused(snapshot: Snapshot) -> None:
    with pytest.raises(ValueError, match=r"gives human-agent@3 a share.*3 human-agent@1, 2 human-agent@2"):
        reader_of(snapshot, {"human-human": 0.5, "human-agent@3": 0.5})


@pytest.mark.parametrize(
    ("mix", "problem"),
    [
        ({"people": 1.0}, "the kinds of episodes are human-human"),
        ({"human-agent@two": 1.0}, "as human-agent@2"),
        ({"human-human": -1.0}, "at least 0"),
        ({"human-human": 0.0}, "one above 0"),
        ({"human-human": 1.0, "human-agent": 0.001}, "less than a hundredth"),
    ],
)
def test_a_wrong_mix_is_refused(mix: dict[str, float], problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        DatasetConfig(mix=mix)


def test_shared_control_is_cloned_in_the_persons_steps_only(snapshot: Snapshot) -> None:
    shared = reader_of(snapshot, {"shared-control": 1.0}, where=EpisodeFilter(kinds=PEOPLE))
    layout = Layout(LineWorld().spec, TINY.utterance_length, TINY.actions_per_step)
    arrays = RowWriter(layout, WORDS).encode_episode(shared.next(0, 6)[0].episode)
    assert arrays["cloned"][:, 0].tolist() == [False, False, True, True, True, True]  # a person steers from frame 4 on
    with pytest.raises(ValueError, match="has no episodes of these kinds"):
        reader_of(snapshot, {"human-agent": 1.0}, where=EpisodeFilter(kinds=PEOPLE))
