"""What the builder observes apart from pictures, and the ground truth for scripted players, raters and probes."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from interplay.env.arrays import Float32Array
from interplay.env.voxel.body import BuilderBody, BuildState, apply
from interplay.env.voxel.commands import Command
from interplay.env.voxel.config import VoxelConfig
from interplay.env.voxel.space import COLORS, SHAPE, Cell, Grid, counts, inventory

USED_SCALE = 4.0  # blocks of a color that count as 1
POSITION_SCALE = 10.0


@dataclass(frozen=True, eq=False)
class VoxelFacts:
    """Ground truth at one moment. Cells are (y, x, z)."""

    grid: Grid
    start: Grid  # the grid at the beginning of the episode
    target: Grid | None
    body: BuilderBody
    held: int  # id of the color
    inventory: NDArray[np.int64]  # [6], blocks left of each color
    focus: Cell | None  # block or ground cell (y = -1) under the gaze
    free: Cell | None  # cell that `use` would fill with the color held; None where it would place nothing


def observe(state: BuildState, start: Grid, target: Grid | None) -> VoxelFacts:
    """The facts of a state; they share no array with it."""
    grid, body = state.grid.copy(), state.body.copy()
    gaze = body.gaze(grid)
    free = gaze.free if apply(state.copy(), Command(use=1)) else None
    return VoxelFacts(grid, start, target, body, body.held, inventory(grid), gaze.block, free)


def vector_length(config: VoxelConfig) -> int:
    """Length of the vector observation."""
    length = len(COLORS) * (1 + config.held) + 1 + 2 * config.compass
    return length + config.full_state * (3 + len(COLORS) * math.prod(SHAPE))


def vector(state: BuildState, start: Grid, config: VoxelConfig) -> Float32Array:
    """The vector observation, float32.

    Blocks used of each color / 4 (6; negative after breaking blocks of the start), with `held` the color held one-hot
    (6), pitch / 90; with `compass` its sine and cosine; with `full_state` position / 10 (3) and the grid one-hot
    (6 x 1089).
    """
    colors = range(1, len(COLORS) + 1)
    parts = [(counts(state.grid) - counts(start)) / USED_SCALE]
    if config.held:
        parts.append(np.array([float(color == state.body.held) for color in colors]))
    parts.append(np.array([state.body.pitch / 90.0]))
    if config.compass:
        angle = math.radians(state.body.compass)
        parts.append(np.array([math.sin(angle), math.cos(angle)]))
    if config.full_state:
        parts.append(np.array(state.body.position) / POSITION_SCALE)
        parts.append((state.grid.ravel() == np.array(colors)[:, None]).ravel().astype(np.float64))
    return np.concatenate(parts, dtype=np.float32)
