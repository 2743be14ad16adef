"""Pictures that the learner draws from a batch's poses are those that the dataset actor draws."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from recorded_batches import (
    DATASET,
    ROOM,
    UPDATES,
    WITHOUT_SETTER,
    Arrays,
    batches,
    dataset,
    recorded,
    snapshot,
    trained,
)
from test_batched_views import assert_same, needs_gpu, needs_triton

from interplay.agent.unroll import LaneScenes, Unroll, scenes_of_lanes
from interplay.env.playhouse.house.house_layout import make_house
from interplay.env.playhouse.physics import saved_state
from interplay.env.playhouse.physics.simulation import furnished
from interplay.env.playhouse.world import Playhouse
from interplay.episodes.decoded_episode import decode_for_role
from interplay.gpu_render.recorded_views import RecordedViews
from interplay.learner.batch import to_tensors


@pytest.fixture(scope="module")
def drawn_by_actor() -> Arrays:
    bodiless = batches(WITHOUT_SETTER, by_learner=False, device="cpu")
    return batches(ROOM, by_learner=False, device="cpu") | {f"bodiless {key}": a for key, a in bodiless.items()}


def assert_same_batches(found: Arrays, expected: Arrays) -> None:
    assert set(found) == set(expected)
    for key, array in expected.items():
        if key.endswith("image"):
            assert_same(found[key], array)
        else:
            np.testing.assert_array_equal(found[key], array, err_msg=key)


@pytest.fixture(scope="module")
def interpreted(tmp_path_factory: pytest.TempPathFactory) -> Arrays:
    """What the script saves."""
    file = tmp_path_factory.mktemp("batches") / "batches.npz"
    script, environment = Path(__file__).with_name("recorded_batches.py"), {**os.environ, "TRITON_INTERPRET": "1"}
    ran = subprocess.run(
        [sys.executable, str(script), str(file)], env=environment, capture_output=True, text=True, timeout=500
    )
    assert ran.returncode == 0, ran.stderr
    with np.load(file) as found:
        return dict(found)


@pytest.mark.slow
@needs_triton
def test_batches_drawn_by_the_learner_are_those_drawn_by_the_actor(interpreted: Arrays, drawn_by_actor: Arrays) -> None:
    assert_same_batches({key: array for key, array in interpreted.items() if "before=" not in key}, drawn_by_actor)
    bodies = [drawn_by_actor[key] for key in ("whole image", "bodiless whole image")]
    assert (bodies[0] != bodies[1]).any(), "no picture shows the setter"


@pytest.mark.slow
@needs_triton
def test_learning_from_pictures_that_are_drawn_ahead_is_learning_from_pictures(interpreted: Arrays) -> None:
    found, expected = (
        {key.removeprefix(prefix): array for key, array in interpreted.items() if key.startswith(prefix)}
        for prefix in ("drawn before=False ", "drawn before=True ")
    )
    assert len(found) > 20 and set(found) == set(expected)
    for name, array in expected.items():
        np.testing.assert_array_equal(found[name], array, err_msg=name)
    assert len(set(found["losses"])) == UPDATES


@needs_gpu
@needs_triton
@pytest.mark.parametrize("cuda_graph", [False, True])
def test_a_gpu_draws_ahead_of_the_update_that_learns_from_it(cuda_graph: bool) -> None:
    before, ahead = (trained("cuda", drawn_before=each, cuda_graph=cuda_graph)["losses"] for each in (True, False))
    np.testing.assert_allclose(ahead, before, rtol=1e-3)  # sums on a GPU may differ in order


@needs_gpu
@needs_triton
def test_batches_drawn_on_a_gpu_are_those_drawn_by_the_actor(drawn_by_actor: Arrays) -> None:
    bodiless = batches(WITHOUT_SETTER, by_learner=True, device="cuda")
    found = batches(ROOM, by_learner=True, device="cuda") | {f"bodiless {key}": a for key, a in bodiless.items()}
    assert_same_batches(found, drawn_by_actor)


def test_rows_are_read_without_drawing_and_name_the_houses_of_their_unroll(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    actor = dataset(snapshot(tmp_path, ROOM), ROOM, by_learner=True)
    monkeypatch.setattr("interplay.env.playhouse.render.scene.Scene.draw", None)
    for _ in range(4):
        unroll = actor.unroll()
        (scenes,) = unroll.scenes
        assert scenes.lanes == DATASET.lanes and "image" not in unroll.arrays
        assert set(np.unique(unroll.arrays["view"][..., 0])) == set(range(len(scenes.scenes.houses)))  # type: ignore[attr-defined]
        row, picture = unroll.arrays["view"][0, 0].nbytes, np.prod(ROOM.image) * 3
        assert row < picture and scenes.scenes.nbytes == sum(h.nbytes for h in scenes.scenes.houses)  # type: ignore[attr-defined]


def test_poses_of_many_moments_are_those_of_each() -> None:
    episode = recorded(ROOM, 3)
    assert episode.poses is not None
    house = make_house(ROOM, 3)
    together = saved_state.read_drawn_poses(episode.poses[:], furnished(house), house, ROOM)
    for row, poses in enumerate(episode.poses):
        moment = saved_state.read_poses(poses, furnished(house), house, ROOM)
        for array, expected in zip(together, (moment.positions, moment.quaternions, moment.avatars), strict=True):
            np.testing.assert_array_equal(array[row], expected)
    with pytest.raises(ValueError, match="recorded under other settings"):
        saved_state.read_drawn_poses(episode.poses[:, 1:], furnished(house), house, ROOM)


def test_an_episode_of_other_settings_is_refused() -> None:
    episode = recorded(ROOM, 3)
    images = decode_for_role(episode, "solver", world=Playhouse(ROOM)).images
    with pytest.raises(ValueError, match="saved under other settings"):
        RecordedViews(replace(ROOM, objects=(2, 3))).rows(images.poses(0, 2))  # type: ignore[union-attr]


def test_episodes_with_stored_pictures_are_refused(tmp_path: Path) -> None:
    actor = dataset(snapshot(tmp_path, ROOM), ROOM, by_learner=True)
    window = actor._windows(2, 2)[0]
    stored = replace(window, episode=replace(window.episode, images=np.zeros((5, *ROOM.image, 3), np.uint8)))
    block = {key: array.copy() for key, array in actor.unroll().arrays.items()}
    with pytest.raises(ValueError, match=r"stores its pictures instead of poses.*set dataset\.drawn_by=actor"):
        actor._writer.write(block, 0, 0, stored)


def test_scenes_of_lanes_are_split_where_lanes_are() -> None:
    one, two = object(), object()
    parts = [LaneScenes(2, one), LaneScenes(3, two)]  # type: ignore[arg-type]
    for start in range(5):
        for stop in range(start + 1, 6):
            found = [part.scenes for part in scenes_of_lanes(parts, slice(start, stop)) for _ in range(part.lanes)]
            assert found == [one, one, two, two, two][start:stop]


def test_lanes_with_gaps_are_not_part_of_an_unroll(tmp_path: Path) -> None:
    unroll = dataset(snapshot(tmp_path, ROOM), ROOM, by_learner=True).unroll()
    with pytest.raises(AssertionError, match="lanes are contiguous, got a step of 2"):
        unroll.select(slice(0, 3, 2))


def test_a_batch_with_too_few_scenes_is_refused(tmp_path: Path) -> None:
    unroll = dataset(snapshot(tmp_path, ROOM), ROOM, by_learner=True).unroll()
    with pytest.raises(ValueError, match="views of 3 lanes, and scenes of 0"):
        to_tensors(Unroll(unroll.arrays), torch.device("cpu"))


def test_the_cpu_is_refused_with_what_to_do(tmp_path: Path) -> None:
    unroll = dataset(snapshot(tmp_path, ROOM), ROOM, by_learner=True).unroll()
    with pytest.raises((ValueError, ModuleNotFoundError), match=r"or set dataset\.drawn_by=actor"):
        to_tensors(unroll, torch.device("cpu"))
