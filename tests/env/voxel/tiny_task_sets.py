"""A task set of a few blocks, to test the Gymnasium environments."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from interplay.env.voxel.space import Grid, empty_grid, to_dense
from interplay.env.voxel.task_collections import BuildingTask, TaskCollection


def tiny_task(target: Grid, chat: str = "<Architect> build it", **fields: Any) -> BuildingTask:
    """A task that begins with an empty grid."""
    return BuildingTask(chat, target, empty_grid(), **fields)


class TinyTasks(TaskCollection):
    """Rows of one to three blocks of a color, drawn by the generator."""

    def sample(self, rng: np.random.Generator) -> BuildingTask:
        length, color = int(rng.integers(1, 4)), int(rng.integers(1, 7))
        return tiny_task(to_dense([(x, 0, 0, color) for x in range(length)]), f"<Architect> a row of {length}")

    def __iter__(self) -> Iterator[tuple[str, BuildingTask]]:
        yield "one", tiny_task(to_dense([(0, 0, 0, 1)]), "<Architect> one blue block")
        yield "two", tiny_task(to_dense([(0, 0, 0, 1), (0, 1, 0, 2)]))
