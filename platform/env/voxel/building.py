"""State of a building site, a grid and a body, and what commands do to it."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from interplay.env.arrays import Float64Array
from interplay.env.voxel import dynamics
from interplay.env.voxel.body import WAYS, BuilderBody, Way
from interplay.env.voxel.commands import Command
from interplay.env.voxel.space import Grid, empty_grid


@dataclass
class BuildState:
    """Blocks and the builder. The inventory follows from the grid: 20 of each color less what it holds."""

    grid: Grid = field(default_factory=empty_grid)
    body: BuilderBody = field(default_factory=BuilderBody)

    def copy(self) -> BuildState:
        """A state that shares nothing with this one, for planners."""
        return BuildState(self.grid.copy(), self.body.copy())


def apply(state: BuildState, command: Command, way: Way = "walk", auto_jump: bool = False) -> bool:
    """Runs one frame in place: select, attack or use by the gaze, camera, movement.

    Returns:
        Whether a block was placed or removed.
    """
    return apply_all(state, np.array([command], np.float64), way, auto_jump) > 0


def apply_all(state: BuildState, commands: Float64Array, way: Way = "walk", auto_jump: bool = False) -> int:
    """Runs the frames of `commands` [frames, 9] in place. Returns the number of blocks placed and removed."""
    return int(dynamics.run(state.grid, state.body.numbers, commands, WAYS.index(way), auto_jump))
