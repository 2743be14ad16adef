"""The rows of an episode for a Minari dataset, and the dataset while it is written."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gymnasium import spaces

from interplay.core.files import sync
from interplay.env import minari_export, registry
from interplay.env.gymnasium_world import GymnasiumConfig, GymnasiumWorld
from interplay.env.minari_export import MinariRows, OwnObservations, solver_form, writing
from interplay.env.not_reenacted import NotReenacted
from interplay.env.world import Action, Component, Start, WorldSpec
from interplay.episodes.episode import Episode
from interplay.episodes.recorder import EpisodeRecorder
from interplay.stages import export_stage

pytestmark = pytest.mark.usefixtures("own_datasets")


def cartpole(seed: int, steps: int = 12, before: int = 0) -> tuple[GymnasiumWorld, Episode]:
    """An episode that begins after some steps."""
    world = registry.make("gymnasium", id="CartPole-v1", instruction="balance", max_steps=before + steps)
    assert isinstance(world, GymnasiumWorld)
    views = world.reset(Start(seed=seed))
    right = {"solver": Action(np.ones((1, 1), np.int8))}
    left = {"solver": Action(np.zeros((1, 1), np.int8))}
    for step in range(before):
        views = world.step((left, right)[step % 2]).views
    recorder = EpisodeRecorder(world, players={})
    recorder.begin(seed=seed, views=views)
    for step in range(steps):
        actions = (left, right)[step % 2]
        recorder.record(actions, world.step(actions))
    return world, recorder.finish()


def own_rows(world: GymnasiumWorld, episode: Episode) -> Any:
    own = OwnObservations(world)
    try:
        return export_stage._own_rows(own, episode)
    finally:
        own.close()


def test_an_episode_that_begins_in_the_middle_has_no_seed_and_a_time_limit_truncates() -> None:
    world, whole = cartpole(5)
    rows = own_rows(world, whole)
    assert (rows.seed, rows.terminated, rows.truncated) == (5, False, True)
    assert export_stage._solver_rows(world, whole).seed == 5
    world, later = cartpole(5, before=3)
    rows = own_rows(world, later)
    assert rows.seed is None, "a reset with it would not lead to the first observation"
    np.testing.assert_array_equal(rows.observations, later.vectors["solver"])
    assert export_stage._solver_rows(world, later).seed is None


def test_an_episode_of_another_course_is_not_exported() -> None:
    world, episode = cartpole(5)
    vectors = episode.vectors["solver"].copy()
    vectors[4] += 0.01
    paid = episode.env_reward.copy()
    paid[6] = 0.5
    longer = {"solver": np.concatenate([episode.actions["solver"]] * 2)}
    for changed, words in (
        (replace(episode, vectors={"solver": vectors}), "after step 4, the vector is not the recorded one"),
        (replace(episode, env_reward=paid), r"after step 7, its reward was 0\.5 and is now 1"),
        (replace(episode, actions=longer, env_reward=np.ones(24, np.float32), vectors={}), "had 24 steps and now ends"),
    ):
        with pytest.raises(NotReenacted, match=words):
            own_rows(world, changed)
    with pytest.raises(ValueError, match="the state was saved by"):
        own_rows(GymnasiumWorld(GymnasiumConfig("CartPole-v1", instruction="balance")), episode)


def test_spaces_that_minari_lacks_are_refused(tmp_path: Path) -> None:
    sequence = replace(solver_form(spec(), ()), observations=spaces.Sequence(spaces.Discrete(2)))
    with (
        pytest.raises(ValueError, match="Minari can't store the spaces of this world"),
        writing("some/odd-v0", sequence, overwrite=False, jpeg=False, metadata={}, description="none"),
    ):
        pass
    assert not [*(tmp_path / "datasets").iterdir()]


def test_an_episode_for_which_the_disk_has_no_space_is_not_begun(tmp_path: Path) -> None:
    """HDF5 ends the process on a full disk, so that it could remove nothing and say nothing."""
    form = replace(solver_form(spec(), ()), observations=spaces.Box(0, 255, (2, 2, 3), np.uint8))
    picture = np.broadcast_to(np.uint8(0), (3, 10**5, 10**5, 3))  # 90 GB without its memory
    rows = MinariRows(np.broadcast_to(picture, (10**5, *picture.shape)), [1] * 2, np.zeros(2), False, True, None)
    with (
        pytest.raises(OSError, match=r"No space left on device for the next episode, which may need \d+ MB"),
        writing("some/huge-v0", form, overwrite=False, jpeg=False, metadata={}, description="none") as writer,
    ):
        writer.add(rows)
    assert not [*(tmp_path / "datasets").iterdir()]


def test_a_dataset_that_another_program_has_written_in_the_meantime_stays(tmp_path: Path) -> None:
    rows = MinariRows({"vector": np.zeros((3, 2), np.float32)}, [1] * 2, np.zeros(2), False, True, None)
    form, other = solver_form(spec(), ()), tmp_path / "datasets/some/rows-v0/data"
    with (
        pytest.raises(ValueError, match="some/rows-v0 exists already"),
        writing("some/rows-v0", form, overwrite=False, jpeg=False, metadata={}, description="none") as writer,
    ):
        writer.add(rows)
        other.mkdir(parents=True)
        (other / "mine").touch()
    assert [each.name for each in other.iterdir()] == ["mine"]
    assert [each.name for each in (tmp_path / "datasets").iterdir()] == ["some"]


def test_a_dataset_is_on_the_disk_before_it_appears(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = MinariRows({"vector": np.zeros((3, 2), np.float32)}, [1] * 2, np.zeros(2), False, True, None)
    folder, synced = tmp_path / "datasets/some/rows-v0", list[tuple[str, bool]]()

    def counted(path: Path) -> None:
        synced.append((path.name, folder.exists()))
        sync(path)

    monkeypatch.setattr(minari_export, "sync", counted)
    form = solver_form(spec(), ())
    with writing("some/rows-v0", form, overwrite=False, jpeg=False, metadata={}, description="none") as writer:
        writer.add(rows)
    before = [name for name, appeared in synced if not appeared]
    assert sorted(before) == sorted(each.name for each in (folder, *folder.rglob("*"))) and "main_data.hdf5" in before
    assert synced[-1] == ("some", True), "then the entry of its folder"


def spec() -> WorldSpec:
    walk = (Component("walk", 3, 1),)
    return WorldSpec("walks", 1, ("solver",), 1, 10.0, None, 2, walk, utterances=False, poses=0)
