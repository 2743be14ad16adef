"""Many building sites at once: grids, bodies, tasks and scores of N worlds, stepped together.

The single Gymnasium environment is the case N = 1, so both give the same numbers.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from interplay.env.arrays import Float64Array, Image
from interplay.env.voxel import dynamics
from interplay.env.voxel.body import LENGTH, WAYS, BuilderBody, Way
from interplay.env.voxel.matching import BuildScorer, Matcher
from interplay.env.voxel.picture import NOWHERE, pictures
from interplay.env.voxel.space import COLORS, MIDDLE, SHAPE, Grid, check_stock
from interplay.env.voxel.task_collections import BuildingTask

FIELD_OF_VIEW = 80.0  # vertical, degrees


class BuilderSites:
    """N worlds in arrays.

    Args:
        count: N.
        way: how the bodies move.
        position: (x, y, z, pitch, yaw) at the start; None: in the middle, on top of what is there, facing south.
        blocks: grid at the start instead of that of the task; None: the task's.
        right_scale: see `BuildScorer`.
        wrong_scale: see `BuildScorer`.

    Raises:
        ValueError: a position outside the world, or more blocks of a color than exist.
    """

    def __init__(
        self,
        count: int,
        way: Way,
        *,
        position: Sequence[float] | None = None,
        blocks: Grid | None = None,
        right_scale: float = 2.0,
        wrong_scale: float = 1.0,
    ) -> None:
        _check_position(position)
        if blocks is not None:
            check_stock(blocks, "initial_blocks")
        self.grids = np.zeros((count, *SHAPE), np.int8)
        self.bodies = np.zeros((count, LENGTH), np.float32)
        self.targets = np.zeros((count, *SHAPE), np.int8)
        self.tasks: list[BuildingTask | None] = [None] * count
        self.inventories = np.zeros((count, len(COLORS)), np.int64)
        self.focuses = np.zeros((count, 3), np.int64)
        self._scorers: list[BuildScorer | None] = [None] * count
        self._way = WAYS.index(way)
        self._position = position
        self._blocks = blocks
        self._scales = {"right_scale": right_scale, "wrong_scale": wrong_scale}
        self._changed = np.zeros(count, np.bool_)

    def begin(self, site: int, task: BuildingTask) -> None:
        """Starts a task in one world."""
        self.grids[site] = task.start if self._blocks is None else self._blocks
        self._ask(site, task)
        x, y, z, pitch, yaw = self._position or (0.0, _top(self.grids[site]), 0.0, 0.0, 0.0)
        self.bodies[site] = BuilderBody.at(x, y, z, yaw, pitch).numbers

    def step(self, commands: Float64Array, active: NDArray[np.bool_]) -> tuple[Float64Array, NDArray[np.bool_]]:
        """Runs one frame of the active worlds. Returns rewards [N] and which tasks are done [N]."""
        dynamics.run_worlds(self.grids, self.bodies, commands, self._way, active, self._changed)
        rewards, done = np.zeros(len(self.grids)), np.zeros(len(self.grids), np.bool_)
        for site in np.flatnonzero(self._changed).tolist():
            scorer = self._scorers[site]
            assert scorer is not None, "a changed site has begun"
            scored = scorer.step(self.grids[site])
            rewards[site], done[site] = scored.reward, scored.done and not self._turn(site)
        return rewards, done

    def observe(self) -> None:
        """Fills `inventories` and `focuses`."""
        dynamics.observe_worlds(self.grids, self.bodies, self.inventories, self.focuses, NOWHERE[0])

    def draw(self, out: Image) -> None:
        """Pictures of all builders in `out` [N, H, W, 3]; after `observe`."""
        pictures(self.grids, self.bodies, self.focuses, FIELD_OF_VIEW, out)

    def _turn(self, site: int) -> bool:
        """Asks the next turn that is not built yet. Returns whether there was one."""
        task = self.tasks[site]
        while task is not None and task.following is not None:
            task = task.following
            if task.target.any() and not self._is_built(site, task):
                self._ask(site, task)
                return True
        return False

    def _is_built(self, site: int, task: BuildingTask) -> bool:
        matcher, grid = Matcher(task.target, task.whole, task.invariant), self.grids[site]
        too_many = task.removes and np.count_nonzero(grid) > matcher.size
        return matcher.best(grid).size == matcher.size and not too_many

    def _ask(self, site: int, task: BuildingTask) -> None:
        rules: Any = {"whole": task.whole, "invariant": task.invariant, "strict": task.removes, **self._scales}
        self._scorers[site] = BuildScorer(task.target, self.grids[site], **rules)
        self.tasks[site] = task
        self.targets[site] = task.target


def _top(grid: Grid) -> float:
    """Height of the first free place for a body in the middle."""
    column = grid[:, MIDDLE, MIDDLE]
    return float(np.flatnonzero(column)[-1] + 1) if column.any() else 0.0


def _check_position(position: Sequence[float] | None) -> None:
    if position is None:
        return
    limit = MIDDLE + 0.5 + dynamics.MARGIN
    try:
        x, y, z, pitch, yaw = (float(value) for value in position)
    except (TypeError, ValueError) as error:
        raise ValueError(f"start_position={position!r}: it is (x, y, z, pitch, yaw), all numbers") from error
    inside = abs(x) <= limit and abs(z) <= limit and 0 <= y <= dynamics.CEILING  # not so for NaN
    if not inside or not abs(pitch) <= 90 or not math.isfinite(yaw):
        raise ValueError(
            f"start_position={tuple(position)}: x and z go from {-limit} to {limit}, y from 0 to {dynamics.CEILING}, "
            "pitch from -90 to 90, and yaw is finite"
        )
