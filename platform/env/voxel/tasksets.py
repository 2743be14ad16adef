"""Task sets: what a builder is to build, drawn from a passed generator.

Every task set samples a `BuildingTask` and yields all of its tasks by id, if it has a finite number::

    tasks = CustomTasks([("<Architect> a row of three red blocks", [(0, 0, 0, 6), (1, 0, 0, 6), (2, 0, 0, 6)])])
    task = tasks.sample(np.random.default_rng(0))
    task.target                                 # int8 [9, 11, 11]
    for name, task in TaskSet("own"): ...
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from interplay.env.voxel.gold_structures import GOLD_COUNTS, read_gold_structures
from interplay.env.voxel.space import COLORS, SHAPE, STOCK, Grid, check_grid, check_stock, counts, empty_grid, to_dense
from interplay.env.voxel.structures import own_structures

FORMAT = 1  # of a file of tasks
SIMPLEST = ("C3", "C8", "C12", "C14", "C32", "C17")
PRESETS = ("simplest", "all", "own")
IMPORT = "type: interplay import mdc PATH, or interplay import iglu PATH"
TARGETS = ("random", "own", "custom", "mdc", "iglu")  # where a world's targets come from


@dataclass(frozen=True, eq=False)
class BuildingTask:
    """One thing to build. Grids are int8 [9, 11, 11]."""

    chat: str  # lines `<Architect> ...` and `<Builder> ...`; "" without words
    target: Grid
    start: Grid  # the blocks at the start
    whole: Grid | None = None  # the complete structure, where `target` is a step towards it: it stays in the zone
    invariant: bool = True  # whether the target counts anywhere in the zone, turned or not
    following: BuildingTask | None = None  # the next turn of a dialogue, once this one is done

    def __post_init__(self) -> None:
        for name in ("target", "start"):
            check_stock(check_grid(getattr(self, name), f"the {name}"), f"the {name}")


class TaskCollection(ABC):
    """A source of building tasks."""

    @abstractmethod
    def sample(self, rng: np.random.Generator) -> BuildingTask:
        """One task; the generator decides which."""

    def __iter__(self) -> Iterator[tuple[str, BuildingTask]]:
        """Every task with its id."""
        raise TypeError(f"{type(self).__name__} makes tasks without end; call sample(rng)")


class _Listed(TaskCollection):
    """A finite collection."""

    _tasks: Mapping[str, BuildingTask]

    def sample(self, rng: np.random.Generator) -> BuildingTask:
        return list(self._tasks.values())[int(rng.integers(len(self._tasks)))]

    def __iter__(self) -> Iterator[tuple[str, BuildingTask]]:
        return iter(self._tasks.items())

    def __len__(self) -> int:
        return len(self._tasks)


class RandomTasks(TaskCollection):
    """Random structures without words.

    On each level the first block is anywhere, and the others lie within `max_dist` of it (the larger of both
    horizontal distances).

    Args:
        max_blocks: Blocks on each level.
        height_levels: Levels from the ground up.
        allow_float: Whether a block needs nothing below it; otherwise a block of a higher level lies on another one.
        max_dist: Largest distance from the first block of its level, in cells.
        num_colors: Colors to draw from, the first of blue, yellow, green, orange, purple and red.
        max_cache: Number of tasks that are drawn again and again; 0: every task is new.

    Raises:
        ValueError: settings that no structure satisfies.
    """

    def __init__(
        self,
        max_blocks: int = 4,
        height_levels: int = 1,
        allow_float: bool = False,
        max_dist: int = 2,
        num_colors: int = 1,
        max_cache: int = 0,
    ) -> None:
        self.settings = {
            "max_blocks": max_blocks,
            "height_levels": height_levels,
            "allow_float": int(allow_float),
            "max_dist": max_dist,
            "num_colors": num_colors,
            "max_cache": max_cache,
        }
        around = (min(2 * max_dist, SHAPE[1] - 1) + 1) ** 2 if max_dist >= 0 else 0
        corner = (min(max_dist, SHAPE[1] - 1) + 1) ** 2 if max_dist >= 0 else 0  # cells in reach of a corner
        problems = [
            f"{name}={value}: {least} to {most}"
            for name, value, least, most in (
                ("max_blocks", max_blocks, 1, min(corner, around)),
                ("height_levels", height_levels, 1, SHAPE[0]),
                ("max_dist", max_dist, 0, SHAPE[1] - 1),
                ("num_colors", num_colors, 1, len(COLORS)),
                ("max_cache", max_cache, 0, 10**6),
            )
            if not least <= value <= most
        ]
        if max_blocks * height_levels > STOCK * num_colors:
            problems.append(
                f"max_blocks * height_levels={max_blocks * height_levels}: at most {STOCK} blocks of each color, "
                f"{STOCK * num_colors} in all"
            )
        if problems:
            raise ValueError("RandomTasks: " + "; ".join(problems))
        self._cache: list[BuildingTask] = []

    def sample(self, rng: np.random.Generator) -> BuildingTask:
        size = self.settings["max_cache"]
        if not size:
            return self._draw(rng)
        while len(self._cache) < size:
            self._cache.append(self._draw(rng))
        return self._cache[int(rng.integers(size))]

    def dump(self, path: str | Path) -> None:
        """Writes the settings and the cached tasks as npz, without pickle."""
        targets = np.array([task.target for task in self._cache], np.int8).reshape(-1, *SHAPE)
        settings = np.array(json.dumps(self.settings))
        np.savez_compressed(path, version=np.array(FORMAT), settings=settings, targets=targets)

    @classmethod
    def load(cls, path: str | Path) -> RandomTasks:
        """Reads what `dump` wrote.

        Raises:
            ValueError: the file is no such file.
        """
        with _opened(path) as file:
            if "settings" not in file or "targets" not in file:
                raise ValueError(f"{path} holds {', '.join(file)}; a file of RandomTasks has settings and targets")
            tasks = cls(**json.loads(str(file["settings"])))
            tasks._cache = [_wordless(target) for target in file["targets"]]
        return tasks

    def _draw(self, rng: np.random.Generator) -> BuildingTask:
        settings = self.settings
        while True:
            target = empty_grid()
            levels = (self._fill(target, level, rng) for level in range(settings["height_levels"]))
            if all(levels) and counts(target).max() <= STOCK:
                return _wordless(target)

    def _fill(self, target: Grid, level: int, rng: np.random.Generator) -> bool:
        """Fills one level; False if it has no place for all of its blocks."""
        settings = self.settings
        free = np.ones(SHAPE[1:], bool)
        if level and not settings["allow_float"]:
            free = target[level - 1] != 0
        if not free.any():
            return False
        first = np.argwhere(free)[int(rng.integers(free.sum()))]
        distance = np.abs(np.indices(SHAPE[1:]) - first[:, None, None]).max(0)
        near = np.argwhere(free & (distance <= settings["max_dist"]) & (distance > 0))
        count = settings["max_blocks"] - 1
        if level and not settings["allow_float"]:
            count = min(count, len(near))
        cells = [first, *rng.permutation(near)[:count]]
        for x, z in cells:
            target[level, x, z] = 1 + rng.integers(settings["num_colors"])
        return len(cells) == count + 1


class CustomTasks(_Listed):
    """Tasks of one's own.

    Args:
        tasks: (chat, target) pairs, or (chat, target, start). A grid is dense, [9, 11, 11], or sparse, a list of
            (x, y, z, id) with x and z from -5 to 5 and y from 0 to 8.
        invariant: Whether a target counts anywhere in the zone.

    Raises:
        ValueError: no task, or a grid that is neither.
    """

    def __init__(self, tasks: Sequence[tuple[Any, ...]], invariant: bool = True) -> None:
        if not tasks:
            raise ValueError("CustomTasks has no task; give [(chat, grid), ...]")
        self._tasks = {}
        for index, (chat, target, *start) in enumerate(tasks):
            begun = as_grid(start[0]) if start else empty_grid()
            self._tasks[str(index)] = BuildingTask(chat, as_grid(target), begun, invariant=invariant)

    @classmethod
    def read(cls, path: str | Path) -> CustomTasks:
        """Reads a JSON file: a list of {"chat", "target", "start"}, where chat and start may be missing.

        Raises:
            ValueError: the file is not such a list.
        """
        try:
            rows = json.loads(Path(path).read_text())
        except (json.JSONDecodeError, UnicodeDecodeError) as error:
            raise ValueError(f"{path} is no JSON: {error}") from error
        if not isinstance(rows, list) or not all(isinstance(row, dict) and "target" in row for row in rows):
            raise ValueError(
                f'{path} holds no list of tasks; write [{{"chat": "...", "target": [[x, y, z, id], ...]}}]'
            )
        try:
            return cls([(row.get("chat", ""), row["target"], row.get("start", [])) for row in rows])
        except ValueError as error:
            raise ValueError(f"{path}: {error}") from error


class TaskSet(_Listed):
    """Named structures: our own, or the gold structures of the Minecraft Dialogue Corpus from a local copy.

    Args:
        preset: 'own', 'simplest', 'all', or names, as ['C8', 'C17'].
        path: A copy of the corpus, or its folder of gold configurations; not needed for our own structures.

    Raises:
        ValueError: an unknown name, no copy at `path`, or a malformed file.
    """

    ALL: ClassVar[Mapping[str, str]] = {
        name: f"{blocks} blocks, {colors} color{'s' if colors > 1 else ''}"
        for name, (blocks, colors) in GOLD_COUNTS.items()
    }

    def __init__(self, preset: str | Sequence[str] = "own", path: str | Path | None = None) -> None:
        own = own_structures()
        names = self._names(preset, own)
        gold = [name for name in names if name in GOLD_COUNTS]
        found = dict(own)
        if gold:
            found |= read_gold_structures(path, gold)
        empty = empty_grid()
        self._tasks = {name: BuildingTask("", found[name], empty) for name in names}

    @staticmethod
    def _names(preset: str | Sequence[str], own: Mapping[str, Grid]) -> list[str]:
        if isinstance(preset, str):
            presets = {"own": list(own), "simplest": list(SIMPLEST), "all": list(GOLD_COUNTS)}
            names = presets.get(preset, [preset])
        else:
            names = list(preset)
        unknown = [name for name in names if name not in own and name not in GOLD_COUNTS]
        if unknown or not names:
            raise ValueError(
                f"TaskSet does not know {', '.join(unknown) or 'an empty list'}; presets: {', '.join(PRESETS)}; "
                f"structures: C1 to C157, {', '.join(own)}"
            )
        return names


class Subtasks(TaskCollection):
    """The turns of one dialogue, each a task.

    Turn k starts from grid k - 1 (the first one from `start`) and ends at grid k. Its chat is all that has been said up
    to turn k, and its `whole` is the last grid.

    Args:
        dialog: What is said in each turn.
        grids: The blocks after each turn, dense or sparse.
        progressive: Whether a turn that is done leads to the next one.
        start: The blocks before the first turn.

    Raises:
        ValueError: no turn, or not one grid a turn.
    """

    def __init__(
        self,
        dialog: Sequence[str],
        grids: Sequence[ArrayLike],
        progressive: bool = True,
        start: ArrayLike | None = None,
    ) -> None:
        if not dialog or len(dialog) != len(grids):
            raise ValueError(f"Subtasks takes one grid a turn, got {len(dialog)} turns and {len(grids)} grids")
        stands = [as_grid([] if start is None else start), *map(as_grid, grids)]
        following = None
        turns: list[BuildingTask] = []
        for turn in reversed(range(len(dialog))):
            chat = "\n".join(dialog[: turn + 1])
            task = BuildingTask(chat, stands[turn + 1], stands[turn], stands[-1], following=following)
            turns.insert(0, task)
            following = task if progressive else None
        self._turns = turns

    def sample(self, rng: np.random.Generator) -> BuildingTask:
        return self._turns[int(rng.integers(len(self._turns)))]

    def __iter__(self) -> Iterator[tuple[str, BuildingTask]]:
        return ((str(turn), task) for turn, task in enumerate(self._turns))

    def __len__(self) -> int:
        return len(self._turns)


class CorpusTasks(_Listed):
    """The tasks of an imported corpus, `runs/<name>/corpus/*.npz`, as `interplay import` writes them.

    Args:
        path: One file, or the folder of several.
        split: "train" or "heldout"; None: both.

    Raises:
        ValueError: nothing there, or a file that `interplay import` did not write.
    """

    FIELDS = ("instruction", "chat", "start", "target", "whole", "split", "source")

    def __init__(self, path: str | Path, split: str | None = None) -> None:
        folder = Path(path)
        if not folder.exists():
            raise ValueError(f"{path} holds no imported tasks; {IMPORT}")
        files = sorted(folder.glob("*.npz")) if folder.is_dir() else [folder]
        self._tasks = {}
        for file in files:
            with _opened(file) as rows:
                if missing := [name for name in self.FIELDS if name not in rows]:
                    raise ValueError(f"{file} lacks {', '.join(missing)}; `interplay import` writes such files")
                for index, task in enumerate(self._read(rows)):
                    if split in (None, str(rows["split"][index])):
                        self._tasks[f"{rows['source'][index]}/{index}"] = task
        if not self._tasks:
            raise ValueError(f"{path} holds no imported tasks; {IMPORT}")

    @classmethod
    def write(cls, path: str | Path, rows: Sequence[Mapping[str, Any]]) -> None:
        """Writes tasks, each a mapping with `FIELDS`, as npz without pickle."""
        arrays = {name: np.array([row[name] for row in rows]) for name in cls.FIELDS}
        np.savez_compressed(path, allow_pickle=False, version=np.array(FORMAT), **arrays)

    @staticmethod
    def _read(rows: Any) -> Iterator[BuildingTask]:
        columns = [rows[name] for name in ("chat", "instruction", "target", "start", "whole")]
        for chat, instruction, target, start, whole in zip(*columns, strict=True):
            lines = [line for line in (str(chat), str(instruction)) if line]
            yield BuildingTask("\n".join(lines), target, start, whole, invariant=not start.any())


def load_targets(name: str, data: str = "") -> TaskCollection:
    """The collection that `env.targets` names, from the file or folder `env.data`.

    Raises:
        ValueError: an unknown name, or no data where they are needed.
    """
    if name == "random":
        return RandomTasks()
    if name == "own":
        return TaskSet("own")
    if name not in TARGETS:
        raise ValueError(f"env.targets={name}: one of {', '.join(TARGETS)}")
    if not data:
        examples = {"custom": "tasks.json", "mdc": "runs/run/corpus", "iglu": "runs/run/corpus"}
        raise ValueError(f"env.targets={name} reads a file: set env.data, as env.data={examples[name]}")
    if not Path(data).exists():
        raise ValueError(f"env.data={data}: there is no such file")
    return CustomTasks.read(data) if name == "custom" else CorpusTasks(data)


def as_grid(cells: ArrayLike) -> Grid:
    """A dense grid, int8 [9, 11, 11], from a dense one or a list of (x, y, z, id).

    Raises:
        ValueError: a wrong shape, a cell outside the zone, or an unknown id.
    """
    array: NDArray[Any] = np.asarray(cells)
    if array.shape == SHAPE:
        return check_grid(array)
    if array.size and (array.ndim != 2 or array.shape[1] != 4):
        raise ValueError(f"a grid is {SHAPE}, or a list of (x, y, z, id); got the shape {array.shape}")
    return to_dense(array.tolist())


def _wordless(target: Grid) -> BuildingTask:
    return BuildingTask("", target, empty_grid())


def _opened(path: str | Path) -> Any:
    try:
        return np.load(path, allow_pickle=False)
    except (ValueError, OSError, EOFError) as error:
        if isinstance(error, FileNotFoundError):
            raise
        raise ValueError(f"{path} is no file of tasks: {error}") from error
