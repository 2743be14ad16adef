"""The gaze against an independent search: the nearest face of any cell, by the slab test."""

from __future__ import annotations

import math

import numpy as np

from interplay.env.voxel.body import Gaze, trace
from interplay.env.voxel.space import Cell, Grid, empty_grid


def slow_trace(grid: Grid, eye: tuple[float, float, float], yaw: float, pitch: float, reach: float) -> Gaze:
    """The nearest of all cells that hold a block, and of the ground."""
    a, b = math.radians(yaw), math.radians(pitch)
    direction = (-math.sin(a) * math.cos(b), -math.sin(b), math.cos(a) * math.cos(b))
    origin = (eye[0] + 5.5, eye[1], eye[2] + 5.5)
    nearest, found, face = reach, None, (0, 0)
    for y, x, z in np.argwhere(grid).tolist():
        if tuple(math.floor(o) for o in origin) == (x, y, z):
            continue
        enters, leaves, through = -math.inf, math.inf, (0, 0)
        for axis, (low, o, d) in enumerate(zip((x, y, z), origin, direction, strict=True)):
            one, other = sorted([(low - o) / d, (low + 1 - o) / d])
            if one > enters:
                enters, through = one, (axis, 1 if d > 0 else -1)
            leaves = min(leaves, other)
        if enters <= leaves and 0 <= enters <= nearest:
            nearest, found, face = enters, (x, y, z), through
    if direction[1] < 0 and origin[1] / -direction[1] < nearest:
        far = origin[1] / -direction[1]
        found = (math.floor(origin[0] + far * direction[0]), -1, math.floor(origin[2] + far * direction[2]))
        face = (1, -1)
    if found is None:
        return Gaze(None, None)
    before = list(found)
    before[face[0]] -= face[1]
    inside = 0 <= before[0] < 11 and 0 <= before[1] < 9 and 0 <= before[2] < 11
    return Gaze(_cell(found), _cell(before) if inside else None)


def _cell(place: tuple[int, ...] | list[int]) -> Cell:
    x, y, z = place
    return y, x, z


def test_gaze_equals_a_search_of_all_faces() -> None:
    rng = np.random.default_rng(1)
    met = ground = nothing = 0
    for _ in range(3000):
        grid = np.where(rng.random((9, 11, 11)) < 0.05, 1, 0).astype(np.int8)
        x, y, z = rng.uniform((-7.5, 0.1, -7.5), (7.5, 10, 7.5)).tolist()
        yaw, pitch = float(rng.uniform(-180, 180)), float(rng.uniform(-89, 89))
        fast, slow = trace(grid, (x, y, z), yaw, pitch), slow_trace(grid, (x, y, z), yaw, pitch, 5.0)
        assert fast == slow, (x, y, z, yaw, pitch)
        nothing += fast.block is None
        ground += fast.block is not None and fast.block[0] < 0
        met += fast.block is not None and fast.block[0] >= 0
    assert min(met, ground, nothing) > 300


def test_along_the_axes() -> None:
    grid = empty_grid()
    grid[1, 5, 2] = 3  # three cells north of the middle, at eye height
    assert trace(grid, (0, 1.62, 0), 180, 0) == Gaze((1, 5, 2), (1, 5, 3))
    assert trace(grid, (0, 1.62, 0), 0, 0) == Gaze(None, None)
    assert trace(grid, (0, 1.62, 0), 90, 90) == Gaze((-1, 5, 5), (0, 5, 5))
    grid[1, 7, 5] = 1
    assert trace(grid, (0, 1.62, 0), -90, 0) == Gaze((1, 7, 5), (1, 6, 5))  # east


def test_reach_is_measured_to_the_face() -> None:
    grid = empty_grid()
    grid[1, 5, 0] = 3  # its south face is at z = -4.5
    assert trace(grid, (0, 1.5, 0.49), 180, 0).block == (1, 5, 0)
    assert trace(grid, (0, 1.5, 0.51), 180, 0).block is None
    assert trace(grid, (0, 1.5, 0.51), 180, 0, reach=6).block == (1, 5, 0)


def test_ground_outside_the_zone_takes_no_block() -> None:
    assert trace(empty_grid(), (7, 1.62, 0), 180, 90) == Gaze((-1, 12, 5), None)


def test_the_cell_around_the_eye_is_transparent() -> None:
    grid = empty_grid()
    grid[1, 5, 5] = grid[1, 5, 4] = 1
    assert trace(grid, (0, 1.62, 0), 180, 0).block == (1, 5, 4)
