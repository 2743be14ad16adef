"""Scenes at the start of episodes: a few blocks of different colors, or the start grid of a task, and the builder."""

from __future__ import annotations

import numpy as np

from interplay.env.voxel.body import BuilderBody, BuildState
from interplay.env.voxel.config import VoxelConfig
from interplay.env.voxel.site_state import ROLES, SavedSite
from interplay.env.voxel.space import MIDDLE, Grid, color_id, empty_grid
from interplay.env.voxel.task_collections import TaskCollection

APART = 2  # least distance of two blocks, the larger of both horizontal ones
WIDTH, DEPTH = (2, 8), (2, 6)  # x and z of the cells where blocks may be, ends included
LOOK_DOWN = 30.0  # degrees
SOUTHMOST = 7.0


def make_scene(config: VoxelConfig, targets: TaskCollection | None, seed: int) -> SavedSite:
    """The beginning of the episode of a seed."""
    rng = np.random.default_rng(seed)
    if targets is None:
        grid, target = _scattered(config, rng), None
    else:
        wanted = targets.sample(rng)
        grid, target = wanted.start.copy(), wanted.target.copy()
    return SavedSite(seed, 0, dict.fromkeys(ROLES, ""), BuildState(grid, _south_of(grid, rng)), grid.copy(), target)


def _scattered(config: VoxelConfig, rng: np.random.Generator) -> Grid:
    """Blocks of different colors on the ground, apart from each other."""
    grid = empty_grid()
    count = int(rng.integers(config.blocks[0], config.blocks[1] + 1))
    colors = rng.permutation([color_id(color) for color in config.colors])[:count]
    free = [(x, z) for x in range(WIDTH[0], WIDTH[1] + 1) for z in range(DEPTH[0], DEPTH[1] + 1)]
    for color in colors:
        x, z = free[int(rng.integers(len(free)))]
        grid[0, x, z] = color
        free = [(i, j) for i, j in free if max(abs(i - x), abs(j - z)) >= APART]
    return grid


def _south_of(grid: Grid, rng: np.random.Generator) -> BuilderBody:
    """The builder two or three cells south of all blocks, looking north and down."""
    rows = np.nonzero(grid.any(axis=(0, 1)))[0]
    last = int(rows[-1]) if len(rows) else MIDDLE
    z = min(last - MIDDLE + int(rng.integers(2, 4)), SOUTHMOST)
    return BuilderBody.at(float(rng.integers(-2, 3)), 0.0, float(z), yaw=180.0, pitch=LOOK_DOWN)
