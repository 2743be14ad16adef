"""A local Minari dataset: its episodes are those of a Gymnasium world if their replay equals what was recorded."""

from __future__ import annotations

import contextlib
import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.envs.registration import EnvSpec
from minari import MinariDataset, load_dataset
from minari.dataset.minari_storage import is_image_space  # not public: the rule by which Minari compresses pictures
from numpy.typing import NDArray
from PIL import Image

from interplay.env.arrays import is_close
from interplay.env.gymnasium_world import GymnasiumWorld
from interplay.env.not_reenacted import NotReenacted
from interplay.env.replayed_state import json_values
from interplay.env.world import World

# What Minari and h5py raise where a file is damaged, of another version, or in a format whose package is not installed.
UNREADABLE = (ValueError, LookupError, TypeError, AttributeError, AssertionError, NotImplementedError, OSError)
# What making an environment raises whose package is not installed or has another version.
NOT_MADE = (gymnasium.error.Error, ImportError, AttributeError, TypeError, ValueError, OSError)
METADATA = "metadata.json"  # in the folder of a dataset, by the description of Minari's format
JPEG_ROUNDING = 16  # of 255, by which a pixel may differ that another version of the JPEG library compressed
OWN_OPTIONS = {"minari_autoseed"}  # options of a reset that are meant for Minari, not for the environment


@dataclass(frozen=True)
class MinariEpisode:
    """An episode of a dataset, with T steps."""

    source: str  # the dataset, and the number of the episode
    seed: int
    movements: Sequence[NDArray[np.int8]]  # of the solver, in the bins of the world
    rewards: NDArray[np.floating[Any]]  # [T]
    terminations: NDArray[np.bool_]  # [T]
    truncations: NDArray[np.bool_]  # [T]

    def difference(self, step: int, reward: float, terminated: bool, truncated: bool) -> str:
        """How the outcome of a step differs from the recorded one; "" if it does not.

        A recorded episode may end before the environment ends it: Minari marks its last step as truncated.
        """
        if not is_close(reward, float(self.rewards[step])):
            return f"its reward was {self.rewards[step]:g} and is now {reward:g}"
        if terminated != bool(self.terminations[step]):
            return "it was not terminated and is now" if terminated else "it was terminated and is not now"
        last = step + 1 == len(self.rewards)
        if not last and (terminated or truncated or self.truncations[step]):
            return f"it was recorded for {len(self.rewards)} steps and ends here"
        return "a time limit ends it now and did not then" if truncated and not self.truncations[step] else ""


class MinariEpisodes:
    """The episodes of a dataset, for a world of the same environment.

    Args:
        named: the id of a dataset on this machine, or its folder.
        world: the world that is to play the episodes.

    Raises:
        ValueError: there is no such dataset, it can't be read, or it is of another environment than the world.
    """

    def __init__(self, named: str, world: World) -> None:
        self._dataset = _open(named)
        self._world = _check_world(self._dataset, world)
        self._env = _recover(self._dataset, self._world)

    @property
    def name(self) -> str:
        """The id of the dataset."""
        return str(self._dataset.id)

    def __len__(self) -> int:
        return int(self._dataset.total_episodes)

    def source(self, number: int) -> str:
        """What identifies an episode, the same for every folder of its dataset."""
        return f"minari/{self.name}/{number}"

    def read(self, number: int) -> MinariEpisode:
        """An episode that takes the recorded course when its environment executes its actions again.

        Raises:
            NotReenacted: it has no seed, or began with options; an action that the world does not have; or it takes
                another course.
        """
        source = self.source(number)
        try:
            (metadata,) = self._dataset.storage.get_episode_metadata([number])
            (data,) = self._dataset.iterate_episodes([number])
            if not len(data.actions) == len(data.terminations) == len(data.truncations) == len(data):
                raise ValueError(f"it has {len(data.actions)} actions and {len(data)} rewards")
        except UNREADABLE as error:
            raise NotReenacted(f"{source}: {type(error).__name__}: {error}", "episodes that can't be read") from error
        if metadata.get("seed") is None:
            raise NotReenacted(
                f"{source} has no seed, without which it can't be begun again; Minari stores the seed that a reset is "
                "given",
                "episodes without a seed",
            )
        if options := metadata.get("options", {}).keys() - OWN_OPTIONS:
            raise NotReenacted(
                f"{source} began with the options {sorted(options)} of a reset, which the world does not give",
                "episodes that began with options",
            )
        if not len(data):
            raise NotReenacted(f"{source} has no step", "episodes without a step")
        episode = MinariEpisode(
            source,
            int(metadata["seed"]),
            [self._movement(source, action) for action in data.actions],
            data.rewards,
            data.terminations,
            data.truncations,
        )
        self._check_course(episode, data.actions, data.observations)
        return episode

    def close(self) -> None:
        """Closes the environment in which the episodes are checked."""
        self._env.close()

    def _movement(self, source: str, action: Any) -> NDArray[np.int8]:
        try:
            return self._world.movement_of(action)
        except ValueError as error:
            raise NotReenacted(f"{source}: {error}", "episodes with actions that the world lacks") from error

    def _check_course(self, episode: MinariEpisode, actions: Any, observations: Any) -> None:
        """Executes the actions in the environment of the dataset.

        Raises:
            NotReenacted: an observation, a reward or an ending is not the recorded one.
        """
        with contextlib.redirect_stdout(io.StringIO()):  # BabyAI prints when it draws a level again
            observed, _ = self._env.reset(seed=episode.seed)
        self._check(episode, "after its reset", self._difference(observations, 0, observed))
        for step, action in enumerate(actions):
            observed, reward, terminated, truncated, _ = self._env.step(action)
            found = episode.difference(step, float(reward), terminated, truncated and not terminated)
            self._check(episode, f"after step {step + 1}", found or self._difference(observations, step + 1, observed))

    def _check(self, episode: MinariEpisode, when: str, difference: str) -> None:
        if difference:
            raise NotReenacted(
                f"{episode.source} takes another course when its actions are executed again from its seed: {when}, "
                f"{difference}{_recorded_with(self._dataset)}",
                "episodes that take another course",
            )

    def _difference(self, recorded: Any, row: int, observed: Any) -> str:
        """How an observation differs from a row of the recorded ones; "" if it does not."""
        space, jpeg = self._dataset.observation_space, self._dataset.storage.jpeg_encoding
        where = _differing(space, recorded, row, observed, jpeg=jpeg)
        return "" if where is None else f"the observation{where} is not the recorded one"


def _open(named: str) -> MinariDataset:
    """The dataset of an id, or of a folder that is a dataset or its folder data."""
    folders = [folder for folder in (Path(named, "data"), Path(named)) if (folder / METADATA).is_file()]
    try:
        return MinariDataset(folders[0]) if folders else load_dataset(named)
    except FileNotFoundError as missing:
        raise ValueError(
            f"there is no Minari dataset {named!r} on this machine: {Path(named).absolute()} is no folder of one, and "
            "Minari's own folder has none of this id (MINARI_DATASETS_PATH, by default ~/.minari/datasets). Nothing is "
            f"downloaded here: type minari list local to see which there are, and minari download {named} to get it"
        ) from missing
    except (*UNREADABLE, ImportError) as error:
        raise ValueError(f"the Minari dataset {named!r} can't be read: {type(error).__name__}: {error}") from error


def _check_world(dataset: MinariDataset, world: World) -> GymnasiumWorld:
    """The world, if it is of the environment of the dataset.

    Raises:
        ValueError: the dataset names another environment, other settings or other actions than the world.
    """
    if not isinstance(world, GymnasiumWorld):
        raise ValueError(
            f"the Minari dataset {dataset.id} was recorded in a Gymnasium environment, and this world is "
            f"{world.spec.name}: type env=gymnasium env.id={'ID' if dataset.env_spec is None else dataset.env_spec.id}"
        )
    spec = dataset.env_spec or world.env_spec
    if spec.id != world.env_spec.id:
        raise ValueError(
            f"the Minari dataset {dataset.id} was recorded in {spec.id}, and this world is of {world.env_spec.id}: "
            f"type env.id={spec.id}"
        )
    recorded, present = (_settings_of(each) for each in (spec, world.env_spec))
    if recorded != present:
        raise ValueError(
            f"the Minari dataset {dataset.id} was recorded in {spec.id} with the settings {recorded}, and this world "
            f"has {present}: {_typed_settings(spec, recorded)}"
            + (" and leave out env.max_steps" if "max_steps" in {*recorded, *present} else "")
        )
    if dataset.action_space != world.action_space:
        raise ValueError(
            f"the Minari dataset {dataset.id} has the actions {dataset.action_space}, and {spec.id} has "
            f"{world.action_space}: record the actions of the environment itself, or make a world around it"
        )
    return world


def _settings_of(spec: EnvSpec) -> Mapping[str, Any]:
    """What an environment is made with, without how it is shown."""
    return json_values({name: value for name, value in spec.kwargs.items() if name != "render_mode"})


def _typed_settings(spec: EnvSpec, recorded: Mapping[str, Any]) -> str:
    """What to type for a world with the settings of a dataset."""
    registered = gymnasium.registry.get(spec.id)
    usual = {} if registered is None else _settings_of(registered)
    own = [f"{name}: {json.dumps(value)}" for name, value in recorded.items() if (name, value) not in usual.items()]
    return f"type 'env.kwargs={{{', '.join(own)}}}'" if own else "leave out env.kwargs"


def _recover(dataset: MinariDataset, world: GymnasiumWorld) -> gymnasium.Env[Any, Any]:
    """The environment of a dataset, with its wrappers; that of the world if the dataset names none.

    A dataset that a program makes of its own rows may name none. Wrappers of MiniGrid do not record their arguments,
    and are made without any here. If they had others, the observations are not the recorded ones.

    Raises:
        ValueError: it can't be made.
    """
    spec = dataset.env_spec or world.env_spec
    wrappers = tuple(replace(each, kwargs=each.kwargs or {}) for each in spec.additional_wrappers)
    drawn = {"render_mode": None} if spec.kwargs.get("render_mode") == "human" else {}
    try:
        return gymnasium.make(replace(spec, additional_wrappers=wrappers), disable_env_checker=True, **drawn)
    except NOT_MADE as error:
        raise ValueError(
            f"{spec.id} with the wrappers {[each.entry_point for each in wrappers]}, the environment of the Minari "
            f"dataset {dataset.id}, can't be made: {type(error).__name__}: {error}. Install the packages that it needs"
            f"{_recorded_with(dataset)}"
        ) from error


def _recorded_with(dataset: MinariDataset) -> str:
    """The packages with which a dataset was recorded, for the end of a message; "" if it does not name them."""
    needed = dataset.storage.metadata.get("requirements", ())
    return f"; the dataset was recorded with {', '.join(map(str, needed))}" if needed else ""


def _differing(space: spaces.Space[Any], recorded: Any, row: int, observed: Any, *, jpeg: bool) -> str | None:
    """Where an observation differs from a row of the recorded ones, as "['image']"; None if nowhere.

    Integers and texts have to be equal, other numbers up to rounding, pictures that Minari compresses after the same
    compression. What an environment shows and a dataset lacks is not compared.
    """
    if isinstance(space, spaces.Dict | spaces.Tuple):
        parts = space.items() if isinstance(space, spaces.Dict) else enumerate(space)
        for key, part in parts:
            try:
                shown, rows = observed[key], recorded[key]
            except (LookupError, TypeError):
                return f"[{key!r}]"
            inner = _differing(part, rows, row, shown, jpeg=jpeg)
            if inner is not None:
                return f"[{key!r}]{inner}"
        return None
    if row >= len(recorded):
        return ""
    was, now = np.asarray(recorded[row]), np.asarray(observed)
    if jpeg and is_image_space(space):
        alike = (was.shape, was.dtype) == (now.shape, now.dtype)
        same = alike and int(np.abs(was.astype(int) - _compressed(now)).max()) <= JPEG_ROUNDING
    elif was.dtype.kind == "f":
        same = is_close(now, was)
    else:
        same = np.array_equal(now, was)
    return None if same else ""


def _compressed(picture: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """A picture as Minari stores and reads it."""
    file = io.BytesIO()
    Image.fromarray(picture).save(file, format="JPEG")
    return np.asarray(Image.open(file), np.uint8)
