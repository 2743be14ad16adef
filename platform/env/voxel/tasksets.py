"""Task sets: what a builder is to build, drawn from a passed generator.

Every task set samples a `BuildingTask` and yields all of its tasks by id, if it has a finite number::

    tasks = CustomTasks([("<Architect> a row of three red blocks", [(0, 0, 0, 6), (1, 0, 0, 6), (2, 0, 0, 6)])])
    task = tasks.sample(np.random.default_rng(0))
    task.target                                 # int8 [9, 11, 11]
    for name, task in TaskSet("own"): ...
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from interplay.core.files import replacing
from interplay.env.voxel.gold_structures import GOLD_COUNTS, read_gold_structures
from interplay.env.voxel.matching import Matcher
from interplay.env.voxel.random_tasks import RandomTasks
from interplay.env.voxel.space import SHAPE, Grid, check_grid, empty_grid, to_dense
from interplay.env.voxel.structures import own_structures
from interplay.env.voxel.task_collections import FORMAT, BuildingTask, TaskCollection, open_tasks

SIMPLEST = ("C3", "C8", "C12", "C14", "C32", "C17")
PRESETS = ("simplest", "all", "own")
IMPORT = "type: interplay import mdc PATH, or interplay import iglu PATH"
IMPORTED = ("mdc", "iglu")
FROM_FILES = ("custom", *IMPORTED)
Targets = Literal["random", "own", "custom", "mdc", "iglu"]  # where a world's targets come from
TARGETS: tuple[Targets, ...] = get_args(Targets)
Split = Literal["train", "heldout", "val", "test", "all"]
SPLITS: tuple[Split, ...] = get_args(Split)


class _Listed(TaskCollection):
    """A finite collection."""

    _tasks: Mapping[str, BuildingTask]

    def sample(self, rng: np.random.Generator) -> BuildingTask:
        return list(self._tasks.values())[int(rng.integers(len(self._tasks)))]

    def __iter__(self) -> Iterator[tuple[str, BuildingTask]]:
        return iter(self._tasks.items())

    def __len__(self) -> int:
        return len(self._tasks)


class CustomTasks(_Listed):
    """Tasks of one's own.

    Args:
        tasks: (chat, target) pairs, or (chat, target, start). A grid is dense, [9, 11, 11], or sparse, a list of
            (x, y, z, id) with x and z from -5 to 5 and y from 0 to 8.
        invariant: Whether a target counts anywhere in the zone.

    Raises:
        ValueError: no task, a grid that is neither, or a target that is empty or built at the start.
    """

    def __init__(self, tasks: Sequence[tuple[Any, ...]], invariant: bool = True) -> None:
        if not tasks:
            raise ValueError("CustomTasks has no task; give [(chat, grid), ...]")
        self._tasks = {}
        for index, entry in enumerate(tasks):
            if not isinstance(entry, list | tuple) or len(entry) not in (2, 3):
                raise ValueError(f"task {index} is {entry!r}; a task is (chat, target) or (chat, target, start)")
            chat, target, *start = entry
            try:
                begun = as_grid(start[0]) if start else empty_grid()
                self._tasks[str(index)] = BuildingTask(chat, as_grid(target), begun, invariant=invariant)
            except ValueError as error:
                raise ValueError(f"task {index}: {error}") from error
            if not _is_feasible(self._tasks[str(index)]):
                raise ValueError(
                    f"task {index}: its target is empty, or built at the start, there or in another pose: there is "
                    "nothing to build"
                )

    @classmethod
    def read(cls, path: str | Path) -> CustomTasks:
        """Reads a JSON file: a list of {"chat", "target", "start"}, where chat and start may be missing.

        Raises:
            ValueError: the file is not such a list.
        """
        try:
            rows = json.loads(Path(path).read_text())
        except (json.JSONDecodeError, UnicodeDecodeError) as error:
            raise ValueError(f"{path} is not JSON: {error}") from error
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
            names = list(map(str, preset)) if isinstance(preset, Sequence) else [str(preset)]
        unknown = [name for name in names if name not in own and name not in GOLD_COUNTS]
        if unknown or not names:
            wrong = f"has no {', '.join(unknown)}" if unknown else "got an empty list"
            raise ValueError(
                f"TaskSet {wrong}; presets: {', '.join(PRESETS)}; structures: C1 to C157, {', '.join(own)}"
            )
        return names


class Subtasks(_Listed):
    """The turns of one dialogue, each a task.

    Turn k starts from grid k - 1 (the first one from `start`) and ends at grid k. Its chat is all that has been said up
    to turn k, and its `whole` is the last grid. Turns that change nothing, leave no block, or only move or turn the
    structure are not sampled.

    Args:
        dialog: What is said in each turn.
        grids: The blocks after each turn, dense or sparse.
        progressive: Whether a turn that is done leads to the next one.
        start: The blocks before the first turn.

    Raises:
        ValueError: no turn, not one grid a turn, or no turn that can be sampled.
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
        self._tasks = {str(turn): task for turn, task in enumerate(turns)}
        self._feasible = [task for task in turns if _is_feasible(task)]
        if not self._feasible:
            raise ValueError(
                "Subtasks: every turn leaves the grid empty, or the structure as it was: there is nothing to build"
            )

    def sample(self, rng: np.random.Generator) -> BuildingTask:
        return self._feasible[int(rng.integers(len(self._feasible)))]


class CorpusTasks(_Listed):
    """The tasks of an imported corpus, `runs/<name>/corpus/*.npz`, as `interplay import` writes them.

    Args:
        path: One file, or the folder of several.
        split: "train", "val", "test", "heldout" (all but train), or "all".

    Raises:
        ValueError: nothing there, a file that `interplay import` did not write, an unknown split, or one without tasks.
    """

    FIELDS = ("instruction", "chat", "start", "target", "whole", "split", "source")

    def __init__(self, path: str | Path, split: Split = "all") -> None:
        if split not in SPLITS:
            raise ValueError(f"split={split!r}: one of {', '.join(SPLITS)}")
        folder, found = Path(path), set[str]()
        if not folder.exists():
            raise ValueError(f"{path} holds no imported tasks; {IMPORT}")
        files = sorted(folder.glob("*.npz")) if folder.is_dir() else [folder]
        self._tasks = {}
        for file in files:
            with open_tasks(file) as rows:
                if missing := [name for name in self.FIELDS if name not in rows]:
                    raise ValueError(f"{file} lacks {', '.join(missing)}; `interplay import` writes such files")
                of, sources = rows["split"].tolist(), rows["source"].tolist()
                found.update(of)
                for index, task in enumerate(self._read(rows)):
                    if split in ("all", of[index]) or (split == "heldout" and of[index] != "train"):
                        self._tasks[f"{sources[index]}/{index}"] = task
        if not found:
            raise ValueError(f"{path} holds no imported tasks; {IMPORT}")
        if not self._tasks:
            raise ValueError(f"{path} has no tasks of the split {split}; it has {', '.join(sorted(found))}, and all")

    @classmethod
    def write(cls, path: str | Path, rows: Sequence[Mapping[str, Any]]) -> None:
        """Writes tasks, each a mapping with `FIELDS`, as npz without pickle; atomically, as `replacing`."""
        arrays = {name: np.array([row[name] for row in rows]) for name in cls.FIELDS}
        with replacing(Path(path)) as temporary, temporary.open("wb") as file:
            np.savez_compressed(file, allow_pickle=False, version=np.array(FORMAT), **arrays)

    @staticmethod
    def _read(rows: Any) -> Iterator[BuildingTask]:
        columns = [rows[name] for name in ("chat", "instruction", "target", "start", "whole")]
        for chat, instruction, target, start, whole in zip(*columns, strict=True):
            lines = [line for line in (str(chat), str(instruction)) if line]
            yield BuildingTask("\n".join(lines), target, start, whole, invariant=not start.any())


def load_targets(name: Targets, data: str = "", split: Split = "train") -> TaskCollection:
    """The collection that `env.targets` names, from the file or folder `env.data`; of a corpus the tasks of a split.

    Raises:
        ValueError: there are no such data, or no tasks of the split.
    """
    if name == "random":
        return RandomTasks()
    if name == "own":
        return TaskSet("own")
    if not Path(data).exists():
        raise ValueError(f"env.data={data}: there is no such file")
    if name == "custom":
        return CustomTasks.read(data)
    folder = Path(data)
    imported = any((folder / f"{each}.npz").exists() for each in IMPORTED)  # of two corpora, the named one
    return CorpusTasks(folder / f"{name}.npz" if imported else folder, split)


def is_built(task: BuildingTask, grid: Grid) -> bool:
    """Whether a grid holds the target of a task, which is not empty; and no more, where blocks are to be removed."""
    matcher = Matcher(task.target, task.whole, task.invariant)
    too_many = task.removes and np.count_nonzero(grid) > matcher.size
    return matcher.best(grid).size == matcher.size and not too_many


def _is_feasible(task: BuildingTask) -> bool:
    return task.is_feasible and not is_built(task, task.start)


def as_grid(cells: ArrayLike) -> Grid:
    """A dense grid, int8 [9, 11, 11], from a dense one or a list of (x, y, z, id).

    Raises:
        ValueError: a wrong shape, a cell outside the zone, or an unknown id.
    """
    try:
        array: NDArray[Any] = np.asarray(cells)
    except ValueError as error:
        raise ValueError(f"a grid is {SHAPE}, or a list of (x, y, z, id); got rows of unequal lengths") from error
    if array.shape == SHAPE:
        return check_grid(array)
    if array.size and (array.ndim != 2 or array.shape[1] != 4):
        raise ValueError(f"a grid is {SHAPE}, or a list of (x, y, z, id); got the shape {array.shape}")
    return to_dense(array.tolist())
