"""A Minari dataset that is written episode by episode: its spaces, its rows, and the folder that it appears in at once.

An episode of T steps has T + 1 observations. In `infos`, row 0 is about the reset and row t + 1 about step t.
"""

from __future__ import annotations

import contextlib
import errno
import io
import os
import re
import shutil
import warnings
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.metadata import packages_distributions, version
from pathlib import Path
from typing import Any

import gymnasium
import minari
import numpy as np
from gymnasium import spaces
from minari.data_collector import EpisodeBuffer
from minari.namespace import create_namespace, list_local_namespaces
from minari.storage import get_dataset_path
from numpy.typing import NDArray

from interplay.core.files import sync, temporary_folder
from interplay.env.arrays import is_close
from interplay.env.gymnasium_spaces import observation_parts_of
from interplay.env.gymnasium_world import GymnasiumWorld
from interplay.env.not_reenacted import NotReenacted
from interplay.env.world import Movement, WorldSpec

ID = re.compile(r"(?:[-\w][-\w/]*[-\w]/)?[-\w]+-v\d+", re.ASCII)  # of a dataset, as Minari reads it
ROOT_VARIABLE = "MINARI_DATASETS_PATH"  # Minari's own folder
PRINTABLE = "".join(map(chr, range(32, 127)))
MISSION_LENGTH = 1000  # characters of a text in a space that Minari can't store
SPARE_BYTES = 16 * 2**20  # kept free on the disk, for the structure of the file and its description
TEXT_BYTES = 64  # of a text in HDF5, without its characters
# Of what Minari misses in a dataset, which is known here to be absent.
EXPECTED_WARNINGS = r"`(author|author_email|code_permalink|eval_env)` is set to None|env_spec is None"


@dataclass(frozen=True)
class MinariRows:
    """An episode of T steps."""

    observations: Any  # in the form of their space, each part of T + 1 rows
    actions: Sequence[Any]  # [T]
    rewards: NDArray[np.floating[Any]]  # [T]
    terminated: bool  # by the last step
    truncated: bool  # by the last step
    seed: int | None  # of the reset that it begins with; None if it begins in the middle of another episode
    infos: Mapping[str, Any] = field(default_factory=dict)  # each part of T + 1 rows
    metadata: Mapping[str, Any] = field(default_factory=dict)  # texts and numbers by name


@dataclass(frozen=True)
class MinariForm:
    """What the rows of a dataset are."""

    observations: spaces.Space[Any]
    actions: spaces.Space[Any]
    env: gymnasium.Env[Any, Any] | None = None  # that a reader can make again; None: the spaces alone are known


def solver_form(spec: WorldSpec, texts: Collection[str], actions: spaces.Space[Any] | None = None) -> MinariForm:
    """What the solver of a world observes and does: `image`, `vector`, and the utterances `heard` and `said`.

    Args:
        spec: of the world.
        texts: every utterance of the episodes.
        actions: the action space of its environment, if it has one; None: the bins of a movement.

    Raises:
        ValueError: the world has no movement.
    """
    if not spec.movement:
        raise ValueError(
            f"the solver of the world {spec.name} acts by words alone with the present settings, and an action of a "
            "Minari dataset is a movement: export recordings of a world that has one"
        )
    parts: dict[str, spaces.Space[Any]] = {}
    if spec.image is not None:
        parts["image"] = spaces.Box(0, 255, tuple(spec.image), np.uint8)
    if spec.vector:
        parts["vector"] = spaces.Box(-np.inf, np.inf, (spec.vector,), np.float32)
    if spec.utterances:
        characters = "".join(sorted({*PRINTABLE, *"".join(texts)}))
        longest = max(map(len, texts), default=0)
        text = spaces.Text(max(1, longest), min_length=0, charset=characters)
        parts |= {"heard": text, "said": text}
    return MinariForm(spaces.Dict(parts), _movement_space(spec) if actions is None else actions)


def _movement_space(spec: WorldSpec) -> spaces.Space[Any]:
    """The bins of a movement, frame after frame; of a single one a Discrete."""
    bins = [component.bins for component in spec.movement] * spec.frames_per_step
    return spaces.Discrete(bins[0]) if len(bins) == 1 else spaces.MultiDiscrete(bins)


def movement_action(movement: Movement) -> Any:
    """The action of `solver_form` that is a movement."""
    bins = movement.astype(np.int64).ravel()
    return bins if len(bins) > 1 else bins[0]


def columns(source: str, space: spaces.Space[Any], rows: Sequence[Any]) -> Any:
    """Observations in the form in which Minari stores them: each part of its space with all rows.

    Raises:
        NotReenacted: a text is not in its space.
    """
    if isinstance(space, spaces.Dict):
        return {key: columns(source, part, [row[key] for row in rows]) for key, part in space.items()}
    if isinstance(space, spaces.Tuple):
        return tuple(columns(source, part, [row[place] for row in rows]) for place, part in enumerate(space))
    if isinstance(space, spaces.Text):
        for text in dict.fromkeys(rows):
            if text not in space:
                raise NotReenacted(
                    f"{source} has the text {text[:200]!r}, and a text of the dataset has {space.min_length} to "
                    f"{space.max_length} of the characters {space.characters!r}",
                    "episodes with a text that the dataset can't hold",
                )
    return list(rows)


class OwnObservations:
    """The episodes of a Gymnasium world with the observations of its environment, which executes their actions again.

    Raises:
        ValueError: the environment can't be made.
    """

    def __init__(self, world: GymnasiumWorld) -> None:
        self._world = world
        self._env = world.own_environment()
        shown = self._env.observation_space
        self.form = MinariForm(_storable(shown), world.action_space, self._env)
        size = world.config.image if shown == world.observation_space else None
        self._parts = observation_parts_of(shown, size)
        self._same_picture = shown == world.observation_space  # elsewhere the world shows another one

    def play(
        self,
        source: str,
        state: bytes,
        movements: NDArray[np.int8],
        rewards: NDArray[np.float32],
        images: NDArray[np.uint8] | None,
        vectors: NDArray[np.float32] | None,
    ) -> MinariRows:
        """An episode that began in a saved state of the world.

        Args:
            source: names it in messages.
            state: that it began in.
            movements: of the solver [T, 1, components].
            rewards: recorded [T].
            images: recorded [T + 1, ...]; None: none.
            vectors: recorded [T + 1, V]; None: none.

        Raises:
            NotReenacted: it takes another course than the recorded one, or has a text that Minari can't store.
            ValueError: the state is of other settings.
        """
        seed, before = self._world.history_of(state)
        with contextlib.redirect_stdout(io.StringIO()):  # BabyAI prints when it draws a level again
            observed, _ = self._env.reset(seed=seed)
        for action in before:
            observed, *_ = self._env.step(action)
        observations, actions, paid = [observed], list[Any](), list[float]()
        terminated = truncated = False
        self._check(source, 0, observed, images, vectors)
        for step, movement in enumerate(movements):
            if terminated or truncated:
                raise _another_course(source, step, f"it had {len(movements)} steps and now ends here")
            actions.append(self._world.action_of(movement))
            observed, reward, terminated, truncated, _ = self._env.step(actions[-1])
            observations.append(observed)
            paid.append(float(reward))
            if not is_close(paid[-1], float(rewards[step])):
                raise _another_course(source, step + 1, f"its reward was {rewards[step]:g} and is now {reward:g}")
            self._check(source, step + 1, observed, images, vectors)
        return MinariRows(
            columns(source, self.form.observations, observations),
            actions,
            np.array(paid),
            terminated,
            truncated or not terminated,
            None if before else seed,
        )

    def close(self) -> None:
        """Closes the environment."""
        self._env.close()

    def _check(
        self,
        source: str,
        row: int,
        observed: Any,
        images: NDArray[np.uint8] | None,
        vectors: NDArray[np.float32] | None,
    ) -> None:
        picture, vector, _ = self._parts.read(observed)
        if vectors is not None and (vector is None or not is_close(vector, vectors[row])):
            raise _another_course(source, row, "the vector is not the recorded one")
        if self._same_picture and images is not None and not np.array_equal(images[row], picture):  # type: ignore[arg-type]
            raise _another_course(source, row, "the picture is not the recorded one")


def _another_course(source: str, steps: int, difference: str) -> NotReenacted:
    return NotReenacted(
        f"{source} takes another course when its actions are executed again: after step {steps}, {difference}; the "
        "packages of the environment have other versions than those of the recording, or it is not deterministic",
        "episodes that take another course",
    )


def _storable(space: spaces.Space[Any]) -> spaces.Space[Any]:
    """A space with Text in place of other spaces of texts, such as the missions of MiniGrid."""
    if isinstance(space, spaces.Dict):
        return spaces.Dict({key: _storable(part) for key, part in space.items()})
    if isinstance(space, spaces.Tuple):
        return spaces.Tuple([_storable(part) for part in space])
    is_text = space.dtype is not None and space.dtype.kind == "U"
    if is_text and not isinstance(space, spaces.Text):
        return spaces.Text(MISSION_LENGTH, min_length=0, charset=PRINTABLE)
    return space


class MinariWriter:
    """A dataset while it is written. See `writing`."""

    def __init__(self, dataset: minari.MinariDataset) -> None:
        self._dataset = dataset
        self.episodes = self.steps = 0

    def add(self, rows: MinariRows) -> None:
        """Appends an episode.

        Raises:
            OSError: the disk may lack the space for it.
        """
        self._check_space(_size([rows.observations, rows.actions, rows.infos]))
        steps = len(rows.rewards)
        terminations, truncations = np.zeros(steps, np.bool_), np.zeros(steps, np.bool_)
        terminations[-1], truncations[-1] = rows.terminated, rows.truncated
        buffer = EpisodeBuffer(
            seed=rows.seed,
            observations=rows.observations,
            actions=rows.actions,
            rewards=rows.rewards,
            terminations=terminations,
            truncations=truncations,
            infos=rows.infos or None,
        )
        self._dataset.update_dataset_from_buffer([buffer])
        if rows.metadata:
            self._dataset.storage.update_episode_metadata([dict(rows.metadata)], [self.episodes])
        self.episodes, self.steps = self.episodes + 1, self.steps + steps

    def _check_space(self, size: int) -> None:
        """Checks that the disk is not full after an episode: HDF5 would end this process with a segmentation fault."""
        needed, folder = 2 * size + SPARE_BYTES, self._dataset.storage.data_path  # twice: its chunks are filled up
        if shutil.disk_usage(folder).free < needed:
            problem = f"{os.strerror(errno.ENOSPC)} for the next episode, which may need {needed / 2**20:.0f} MB"
            raise OSError(errno.ENOSPC, problem, str(get_dataset_path()))


def _size(value: Any) -> int:
    """Bytes of rows, estimated for those that are not arrays."""
    if isinstance(value, Mapping):
        return sum(map(_size, value.values()))
    if isinstance(value, list | tuple):
        return sum(map(_size, value))
    if isinstance(value, str):
        return TEXT_BYTES + 4 * len(value)
    return int(np.asarray(value).nbytes)


def check_dataset(named: str, *, overwrite: bool) -> Path:
    """The folder of a dataset that is to be written.

    Raises:
        ValueError: it is not an id of Minari, its place is taken, or the dataset exists and is not to be replaced.
    """
    if not ID.fullmatch(named):
        raise ValueError(
            f"{named!r} is not an id of a Minari dataset: type NAME-vNUMBER, or FOLDER/NAME-vNUMBER with 2 characters "
            "or more as folder, of letters, digits, - and _, as house/recordings-v0"
        )
    folder, root = Path(get_dataset_path(named)), Path(get_dataset_path())
    inside = [each for each in folder.parents if each.is_relative_to(root) and (each / "data").exists()]
    if inside or (folder.exists() and not (folder / "data").exists()):
        taken = f"{inside[0]} is a dataset" if inside else f"{folder} is a folder of datasets, or of other files"
        raise ValueError(f"the Minari dataset {named} can't be written, because {taken}: type another id")
    if folder.exists() and not overwrite:
        raise ValueError(
            f"the Minari dataset {named} exists already ({folder}), and nothing is changed: type another number after "
            "-v, or export.minari.overwrite=true to replace it"
        )
    return folder


@contextmanager
def writing(
    named: str, form: MinariForm, *, overwrite: bool, jpeg: bool, metadata: Mapping[str, Any], description: str
) -> Iterator[MinariWriter]:
    """Writes a dataset in a hidden folder next to the others, and moves it to its place on leaving.

    An exception leaves nothing of it, and an earlier dataset of this id in its place.

    Args:
        named: its id.
        form: its spaces.
        overwrite: whether it replaces a dataset of this id.
        jpeg: whether pictures are compressed, with loss.
        metadata: of the whole dataset, as JSON values, which readers find under "interplay".
        description: a sentence about it.

    Raises:
        ValueError: as `check_dataset` does; or Minari can't store the spaces.
    """
    folder = check_dataset(named, overwrite=overwrite)
    root = get_dataset_path()
    with temporary_folder(root, "interplay-export") as temporary:
        with _datasets_in(temporary):
            dataset = _create(named, form, jpeg, description)
        dataset.storage.update_metadata({"interplay": dict(metadata)})
        yield MinariWriter(dataset)
        made = temporary / named
        for path in (made, *made.rglob("*")):
            sync(path)
        check_dataset(named, overwrite=overwrite)  # another program may have written it in the meantime
        namespace = named.rpartition("/")[0]
        if namespace and namespace not in list_local_namespaces():
            create_namespace(namespace)
        if folder.exists():
            folder.rename(temporary / "replaced")
        made.rename(folder)
        sync(folder.parent)


def requirements(env: gymnasium.Env[Any, Any]) -> list[str]:
    """The installed packages that define an environment and its wrappers, as pip reads them; first gymnasium."""
    owners, modules = packages_distributions(), ["gymnasium", type(env.unwrapped).__module__]
    while isinstance(env, gymnasium.Wrapper):
        modules.append(type(env).__module__)
        env = env.env
    names = [name for module in modules for name in owners.get(module.partition(".")[0], ())]
    return [f"{name}=={version(name)}" for name in dict.fromkeys(names)]


def _create(named: str, form: MinariForm, jpeg: bool, description: str) -> minari.MinariDataset:
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", EXPECTED_WARNINGS)
        try:
            return minari.create_dataset_from_buffers(
                named,
                [],
                env=form.env,
                observation_space=form.observations,
                action_space=form.actions,
                algorithm_name="interplay",
                description=description,
                requirements=[] if form.env is None else requirements(form.env),
                jpeg_encoding=jpeg,
            )
        except NotImplementedError as error:
            raise ValueError(
                f"Minari can't store the spaces of this world ({error}); type export.minari.observations=solver, or "
                "wrap the environment to have others"
            ) from error


@contextmanager
def _datasets_in(folder: Path) -> Iterator[None]:
    """Minari makes new datasets in this folder."""
    before = os.environ.get(ROOT_VARIABLE)
    os.environ[ROOT_VARIABLE] = str(folder)
    try:
        yield
    finally:
        if before is None:
            del os.environ[ROOT_VARIABLE]
        else:
            os.environ[ROOT_VARIABLE] = before
