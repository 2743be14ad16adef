"""Rows drawn when they are read equal those of the whole episode drawn at once, and nothing else is drawn."""

from __future__ import annotations

import dataclasses
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fake_corridor import Corridor, record_episode
from fake_world import WORDS, make_snapshot, with_number

from interplay.actors.row_writer import RowWriter
from interplay.agent.observation import Layout
from interplay.agent.unroll import allocate_demonstration
from interplay.env import registry
from interplay.env.world import Action, RecordedScene, Start, View, World
from interplay.episodes.decoded_episode import DecodedEpisode, decode_for_role, resimulate
from interplay.episodes.encoding import decode, encode
from interplay.episodes.episode import Episode
from interplay.episodes.episode_cache import EpisodeCache
from interplay.episodes.lane_reader import EpisodeWindow, LaneReader
from interplay.episodes.recorder import EpisodeRecorder

STEPS = 60  # 61 rows: two windows of the file
ROOM = {"rooms": [1, 1], "furniture": [1, 2], "objects": [3, 4], "image": [16, 24]}


def make_world() -> World:
    return registry.make("playhouse", **ROOM)


def recorded(seed: int) -> Episode:
    """Both players move at random and speak now and then."""
    world, rng = make_world(), np.random.default_rng(seed)
    recorder = EpisodeRecorder(world, players={})
    recorder.begin(seed=seed, views=world.reset(Start(seed=seed)))
    bins = [component.bins for component in world.spec.movement]
    for _ in range(STEPS):
        actions = {
            role: Action(
                rng.integers(bins, size=(world.spec.frames_per_step, len(bins))).astype(np.int8),
                "red ball" if rng.random() < 0.2 else None,
            )
            for role in world.spec.roles
        }
        recorder.record(actions, world.step(actions))
    return recorder.finish()


def drawn_at_once(episode: Episode, world: World, whole: DecodedEpisode) -> DecodedEpisode:
    """The reference: every row drawn by resimulating the episode from its start."""
    images = [views["solver"].image for _, views, _ in resimulate(world, episode, ("solver",))]
    return dataclasses.replace(whole, images=np.stack([image for image in images if image is not None]))


@pytest.mark.parametrize("cache_rows", [0, 30, 1000])
def test_windows_of_interleaved_episodes_equal_those_of_whole_drawn_episodes(cache_rows: int) -> None:
    world, cache = make_world(), EpisodeCache(cache_rows * 16 * 24 * 3)
    files = [encode(recorded(seed)) for seed in (1, 2)]
    lazy = [
        decode_for_role(decode(file, source="here", trusted=True), "solver", world=world, cache=cache) for file in files
    ]
    whole = [
        drawn_at_once(decode(file, source="here"), make_world(), each) for file, each in zip(files, lazy, strict=True)
    ]
    layout = Layout(world.spec, 6, 4)
    writer, rng = RowWriter(layout, WORDS), np.random.default_rng(0)
    for turn in range(24):
        number, start = turn % 2, int(rng.integers(STEPS + 1))
        stop = int(rng.integers(start + 1, STEPS + 2))
        blocks: list[dict[str, Any]] = []
        for episodes in (lazy, whole):
            block = allocate_demonstration(layout, STEPS, 2)
            writer.write(block, 1, 0, EpisodeWindow(episodes[number], start, stop, 0))
            blocks.append(dict(block))
        for key, array in blocks[0].items():
            assert array.tobytes() == blocks[1][key].tobytes(), f"{key} of rows {start} to {stop}"
        entire = writer.encode_episode(whole[number])
        for key in ("image", "movement", "previous", "env_reward", "cloned", "row"):
            np.testing.assert_array_equal(blocks[0][key][: stop - start, 1], entire[key][start:stop, 0], err_msg=key)
        assert cache.bytes <= cache_rows * 16 * 24 * 3


def test_only_the_rows_of_a_window_are_drawn_and_the_cached_ones_not_again(tmp_path: Path) -> None:
    world = Corridor()
    snapshot = make_snapshot(tmp_path, [with_number(record_episode(Corridor(), 3, steps=80)[0], 0)], [])
    reader = LaneReader(snapshot, 1, 0, world=world)
    (window,) = reader.next(0, 20)
    assert world.drawn == 0, "a window that nobody looks at is not drawn"
    assert window.episode.images is not None and window.episode.vectors is not None
    assert len(window.episode.images) == 81
    window.episode.images[window.start : window.stop]
    window.episode.vectors[window.start : window.stop]
    assert world.drawn == 20, "pictures and vectors of a row are drawn together"
    window.episode.images[window.start + 10 : window.stop + 5]
    assert world.drawn == 25


@pytest.mark.parametrize(("cache_bytes", "prepared"), [(2**20, 2), (0, 8)])
def test_what_draws_an_episode_is_prepared_once_as_far_as_the_cache_holds_it(cache_bytes: int, prepared: int) -> None:
    class Counting(Corridor):
        prepared = 0

        def recorded_scene(self, state: bytes) -> RecordedScene:
            self.prepared += 1
            return super().recorded_scene(state)

    world, cache = Counting(), EpisodeCache(cache_bytes)
    images = [
        decode_for_role(
            with_number(record_episode(Corridor(), 3)[0], number), "solver", world=world, cache=cache
        ).images
        for number in range(2)
    ]
    for row in range(4):  # of both episodes in turn
        for each in images:
            assert each is not None
            each[row : row + 1]
    assert world.prepared == prepared


@pytest.mark.parametrize(
    ("image", "seen"),
    [
        (None, "lacks it"),
        (np.zeros((7, 8, 3), np.uint8), r"shape \(7, 8, 3\)"),
        (np.zeros((8, 8, 1), np.uint8), r"shape \(8, 8, 1\)"),  # NumPy would repeat it
        (np.zeros((8, 8, 3), np.float32), "type float32"),  # NumPy would round it
    ],
)
def test_a_redrawn_picture_that_the_spec_does_not_promise_is_refused(image: Any, seen: str) -> None:
    class OtherPictures(Corridor):
        def view(self, role: str) -> View:
            return dataclasses.replace(super().view(role), image=image)

    decoded = decode_for_role(record_episode(Corridor(), 3)[0], "solver", world=OtherPictures())
    assert decoded.images is not None
    with pytest.raises(ValueError, match=f"corridor promises that the image has shape .*{seen}"):
        decoded.images[0:2]
    with pytest.raises(ValueError, match=seen):
        decoded.images[0]


def test_poses_are_read_window_by_window(monkeypatch: pytest.MonkeyPatch) -> None:
    now = time.localtime()
    monkeypatch.setattr(time, "localtime", lambda _: now)  # the files state the time at which they are written
    episode = record_episode(Corridor(), 3, steps=230)[0]
    whole, stored = (decode(encode(episode), source="here", trusted=trusted) for trusted in (False, True))
    assert whole.poses is not None and stored.poses is not None and len(stored.poses) == 231
    assert len(list(stored.poses)) == 231
    for start, stop in [(0, 231), (99, 101), (100, 200), (5, 6), (230, 231)]:
        np.testing.assert_array_equal(stored.poses[start:stop], whole.poses[start:stop])
    np.testing.assert_array_equal(np.stack(list(stored.poses)), np.stack(list(whole.poses)))
    assert encode(stored) == encode(whole)


def test_moments_shown_without_physics_have_the_same_views_and_facts() -> None:
    episode = recorded(5)
    prepared, restored = make_world(), make_world()
    other = recorded(6)
    prepared.prepare_show(other.initial_state)
    assert other.poses is not None and episode.poses is not None
    prepared.show(other.poses[3])
    prepared.facts()
    prepared.prepare_show(episode.initial_state)
    restored.reset(Start(state=episode.initial_state), observers=())
    for row in (0, 40, 7, 60):
        for world in (prepared, restored):
            world.show(episode.poses[row])
        views = [world.view("solver").image for world in (prepared, restored)]
        assert views[0] is not None and views[1] is not None and views[0].tobytes() == views[1].tobytes()
        if row != 40:
            assert prepared.facts() == restored.facts()
    with pytest.raises(ValueError, match="reset it before it steps"):
        prepared.step({})
    prepared.reset(Start(state=episode.initial_state), observers=())
    prepared.step({})
