"""Random structures without words."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from interplay.env.voxel.space import COLORS, SHAPE, STOCK, Grid, counts, empty_grid
from interplay.env.voxel.task_collections import FORMAT, BuildingTask, TaskCollection, open_tasks

Columns = NDArray[np.bool_]  # [11, 11], axes (x, z)


class RandomTasks(TaskCollection):
    """Random structures without words.

    On each level the first block is anywhere, and the others lie within `max_dist` of it (the larger of both
    horizontal distances).

    Args:
        max_blocks: Blocks on each level.
        height_levels: Levels from the ground up.
        allow_float: Whether blocks need no support. Otherwise the first block of a higher level lies on a block, and
            each of the others lies on one or next to one of its level.
        max_dist: Largest distance from the first block of its level, in cells.
        num_colors: Colors to draw from, the first of blue, yellow, green, orange, purple and red. Where one is drawn
            more often than there are blocks of it, all blocks are drawn from the stock instead.
        max_cache: Number of tasks that are drawn again and again, the same ones in every process; 0: every task is new.

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
            "allow_float": allow_float,
            "max_dist": max_dist,
            "num_colors": num_colors,
            "max_cache": max_cache,
        }
        if broken := [
            f"{name}={value!r} is not a whole number" for name, value in self.settings.items() if not _whole(value)
        ]:
            raise ValueError("RandomTasks: " + "; ".join(broken))
        self.settings = {name: int(value) for name, value in self.settings.items()}
        corner = (min(max_dist, SHAPE[1] - 1) + 1) ** 2 if max_dist >= 0 else 0  # cells in reach of a corner
        problems = [
            f"{name}={value}: {least} to {most}"
            for name, value, least, most in (
                ("max_blocks", max_blocks, 1, corner),
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
        self._cache: dict[int, BuildingTask] = {}

    def sample(self, rng: np.random.Generator) -> BuildingTask:
        size = self.settings["max_cache"]
        return self._cached(int(rng.integers(size))) if size else self._draw(rng)

    def __iter__(self) -> Iterator[tuple[str, BuildingTask]]:
        if not self.settings["max_cache"]:
            return super().__iter__()
        return ((str(number), self._cached(number)) for number in range(self.settings["max_cache"]))

    def dump(self, path: str | Path) -> None:
        """Writes the settings and the cached tasks as npz, without pickle."""
        targets = np.array([task.target for _, task in self] if self.settings["max_cache"] else [], np.int8)
        settings = np.array(json.dumps(self.settings))
        np.savez_compressed(path, version=np.array(FORMAT), settings=settings, targets=targets.reshape(-1, *SHAPE))

    @classmethod
    def load(cls, path: str | Path) -> RandomTasks:
        """Reads what `dump` wrote.

        Raises:
            ValueError: `dump` has not written the file.
        """
        with open_tasks(path) as file:
            if "settings" not in file or "targets" not in file:
                raise ValueError(f"{path} holds {', '.join(file)}; a file of RandomTasks has settings and targets")
            try:
                tasks = cls(**json.loads(str(file["settings"])))
                tasks._cache = {number: _wordless(target) for number, target in enumerate(file["targets"])}
            except (TypeError, ValueError) as error:
                raise ValueError(f"{path} is not a file of RandomTasks: {error}") from error
        return tasks

    def _cached(self, number: int) -> BuildingTask:
        """A task of the cache. Its number alone decides it, so that the order in which tasks are asked for does not."""
        if number not in self._cache:
            self._cache[number] = self._draw(np.random.default_rng(number))
        return self._cache[number]

    def _draw(self, rng: np.random.Generator) -> BuildingTask:
        target, colors = empty_grid(), self.settings["num_colors"]
        for level in range(self.settings["height_levels"]):
            for x, z in self._level(target, level, rng):
                target[level, x, z] = 1 + rng.integers(colors)
        if counts(target).max() > STOCK:  # near the limit of blocks, independent colors hardly ever suffice
            stock = np.repeat(np.arange(1, colors + 1), STOCK)
            target[target != 0] = rng.permutation(stock)[: np.count_nonzero(target)]
        return _wordless(target)

    def _level(self, target: Grid, level: int, rng: np.random.Generator) -> list[NDArray[np.int64]]:
        """The cells (x, z) to fill on one level, the first one first."""
        hangs = level > 0 and not self.settings["allow_float"]
        below = target[level - 1] != 0 if hangs else np.ones(SHAPE[1:], bool)
        first = np.argwhere(below)[int(rng.integers(below.sum()))]
        distance = np.abs(np.indices(SHAPE[1:]) - first[:, None, None]).max(0)
        near = (distance <= self.settings["max_dist"]) & (distance > 0)
        others = self.settings["max_blocks"] - 1
        if not hangs:
            return [first, *rng.permutation(np.argwhere(near))[:others]]
        cells, filled = [first], np.zeros(SHAPE[1:], bool)
        filled[tuple(first)] = True
        for _ in range(others):
            free = np.argwhere(near & ~filled & (below | _beside(filled)))
            cells.append(free[int(rng.integers(len(free)))])
            filled[tuple(cells[-1])] = True
        return cells


def _beside(filled: Columns) -> Columns:
    """The cells that share a face with a filled one."""
    padded = np.pad(filled, 1)
    beside: Columns = padded[2:, 1:-1] | padded[:-2, 1:-1] | padded[1:-1, 2:] | padded[1:-1, :-2]
    return beside


def _whole(value: object) -> bool:
    return isinstance(value, int | np.integer)


def _wordless(target: Grid) -> BuildingTask:
    return BuildingTask("", target, empty_grid())
