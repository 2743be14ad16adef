"""Serialization: a moment as the float32 vector stored with episodes, and a saved episode as bytes."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass

import numpy as np

from interplay.env.arrays import Float32Array
from interplay.env.saved_header import check_size, read_header
from interplay.env.voxel import body as bodies
from interplay.env.voxel.body import BuilderBody, BuildState
from interplay.env.voxel.config import VoxelConfig
from interplay.env.voxel.space import SHAPE, Grid, check_grid

VERSION = 1
SETTER, SOLVER = ROLES = ("setter", "solver")
MAGIC_BYTES, WHAT = b"voxel", "voxel world"
CELLS = math.prod(SHAPE)
POSES_LENGTH = 1 + bodies.LENGTH + CELLS  # time, body, grid


@dataclass
class SavedSite:
    """Everything that an episode depends on."""

    seed: int
    frame: int
    said: dict[str, str]  # last utterance by role
    state: BuildState
    start: Grid
    target: Grid | None


def write_poses(saved: SavedSite, seconds: float) -> Float32Array:
    """A moment as [POSES_LENGTH]: time, position, velocity, yaw, pitch, color held, grid."""
    return np.concatenate([[np.float32(seconds)], saved.state.body.numbers, saved.state.grid.ravel()], dtype=np.float32)


def read_poses(poses: Float32Array) -> BuildState:
    """The state of a moment.

    Raises:
        ValueError: a vector of another length.
    """
    if poses.shape != (POSES_LENGTH,):
        raise ValueError(f"the poses of this world are [{POSES_LENGTH}], got {list(poses.shape)}")
    body = BuilderBody(poses[1 : 1 + bodies.LENGTH].astype(np.float32))
    return BuildState(poses[1 + bodies.LENGTH :].astype(np.int8).reshape(SHAPE), body)


def to_bytes(saved: SavedSite, config: VoxelConfig) -> bytes:
    """A JSON line, then the body as little-endian float32 and the grids as int8: grid, start, target if any."""
    head = {
        "version": VERSION,
        "config": config.shape_hash(),
        "seed": saved.seed,
        "frame": saved.frame,
        "said": saved.said,
        "target": saved.target is not None,
    }
    grids = [saved.state.grid, saved.start, *([] if saved.target is None else [saved.target])]
    arrays = saved.state.body.numbers.astype("<f4").tobytes() + b"".join(grid.tobytes() for grid in grids)
    return MAGIC_BYTES + json.dumps(head, sort_keys=True).encode() + b"\n" + arrays


def from_bytes(state: bytes, config: VoxelConfig) -> SavedSite:
    """Raises ValueError for bytes that were not saved by this world with this version and these settings."""
    head, arrays = read_header(
        state,
        magic=MAGIC_BYTES,
        what=WHAT,
        version=VERSION,
        settings=config.shape_hash(),
        entries=("seed", "frame", "said", "target"),
    )
    width = 4 * bodies.LENGTH
    check_size(arrays, width + (3 if head["target"] else 2) * CELLS, WHAT)
    body = BuilderBody(np.frombuffer(arrays[:width], "<f4").astype(np.float32))
    grids = [check_grid(grid, "a saved grid") for grid in np.frombuffer(arrays[width:], np.int8).reshape(-1, *SHAPE)]
    target = grids[2] if head["target"] else None
    return SavedSite(head["seed"], head["frame"], dict(head["said"]), BuildState(grids[0], body), grids[1], target)
