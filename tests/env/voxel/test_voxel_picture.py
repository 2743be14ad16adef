"""Pictures against a slow transcription: every pixel asks every block, in plain Python."""

from __future__ import annotations

import math

import numpy as np
import pytest

from interplay.env.arrays import Image
from interplay.env.voxel import picture as drawing
from interplay.env.voxel.body import BuilderBody
from interplay.env.voxel.picture import Viewpoint, corner_camera, corner_view, eye_of, picture, pictures, setter_view
from interplay.env.voxel.space import Cell, Grid, empty_grid, to_dense

Point = tuple[float, float, float]


def enter(origin: Point, ray: Point, low: Point, high: Point) -> tuple[float, int] | None:
    """Depth and axis at which a ray enters a box from outside."""
    enters, leaves, axis = -math.inf, math.inf, -1
    for k in range(3):
        one, other = sorted([(low[k] - origin[k]) / ray[k], (high[k] - origin[k]) / ray[k]])
        if one > enters:
            enters, axis = one, k
        leaves = min(leaves, other)
    return (enters, axis) if 0 < enters <= leaves else None


def border_of(point: Point, axis: int) -> float:
    """Distance of a point on a face across `axis` from the nearest border of its cell."""
    parts = [value - math.floor(value) for k, value in enumerate(point) if k != axis]
    return min(min(part, 1 - part) for part in parts)


def shade(rgb: tuple[int, ...], brightness: float) -> list[int]:
    return [int(channel * brightness + 0.5) for channel in rgb]


def slow_pixel(grid: Grid, origin: Point, ray: Point, slope: float, focus: Cell | None, box: list[Point]) -> list[int]:
    nearest, axis, color, block = math.inf, -1, 0, None
    for y, x, z in np.argwhere(grid).tolist():
        hit = enter(origin, ray, (x, y, z), (x + 1, y + 1, z + 1))
        if hit and hit[0] < nearest:
            (nearest, axis), color, block = hit, int(grid[y, x, z]), (y, x, z)
    down = origin[1] / -ray[1] if ray[1] < 0 else math.inf
    hit = enter(origin, ray, *box) if box else None
    if hit and hit[0] < min(nearest, down):
        nearest, axis, color, block = *hit, 0, None
    faces = (*drawing.BRIGHTNESS, drawing.BELOW)
    if axis >= 0:
        border = border_of(tuple(o + nearest * d for o, d in zip(origin, ray, strict=True)), axis)  # type: ignore[arg-type]
        if block is not None and block == focus and border < drawing.OUTLINE:
            return list(drawing.OUTLINE_RGB)
        brightness = faces[3 if axis == 1 and ray[1] > 0 else axis]
        edge = drawing.EDGE_BRIGHTNESS if block is not None and border < drawing.EDGE else 1.0
        return shade(drawing.RGB[color], brightness * edge)
    if down == math.inf:
        return list(drawing.SKY)
    x, z = origin[0] + down * ray[0], origin[2] + down * ray[2]
    inside = 0 <= x < 11 and 0 <= z < 11
    border = border_of((x, 0.0, z), 1)
    if inside and focus == (-1, math.floor(x), math.floor(z)) and border < drawing.OUTLINE:
        return list(drawing.OUTLINE_RGB)
    strength = max(1 - drawing.LINE_FADE * down * down * slope / origin[1], 0.0) if border < drawing.LINE else 0.0
    return shade(drawing.ZONE if inside else drawing.AROUND, 1 - (1 - drawing.LINE_BRIGHTNESS) * strength)


def slow_picture(grid: Grid, camera: Viewpoint, height: int, width: int, focus: Cell | None, box: list[Point]) -> Image:
    a, b = math.radians(camera.yaw), math.radians(camera.pitch)
    forward = (-math.sin(a) * math.cos(b), -math.sin(b), math.cos(a) * math.cos(b))
    right = (-math.cos(a), 0.0, -math.sin(a))
    up = (-math.sin(a) * math.sin(b), math.cos(b), math.cos(a) * math.sin(b))
    image = np.zeros((height, width, 3), np.uint8)
    for row in range(height):
        for column in range(width):
            u, v = (column + 0.5 - width / 2) * camera.slope, (height / 2 - 0.5 - row) * camera.slope
            ray = tuple(forward[k] + u * right[k] + v * up[k] for k in range(3))
            origin = (camera.x + 5.5, camera.y, camera.z + 5.5)
            image[row, column] = slow_pixel(grid, origin, ray, camera.slope, focus, box)  # type: ignore[arg-type]
    return image


def random_grid(rng: np.random.Generator, blocks: int) -> Grid:
    grid = empty_grid()
    for _ in range(blocks):
        grid[tuple(rng.integers(0, (4, 11, 11)))] = rng.integers(1, 7)
    return grid


@pytest.mark.parametrize("seed", range(12))
def test_pictures_equal_a_slow_reference(seed: int) -> None:
    rng = np.random.default_rng(seed)
    grid = random_grid(rng, (0, 1, 17, 68)[seed % 4])
    body = BuilderBody.at(
        *rng.uniform((-7, 0, -7), (7, 3, 7)), yaw=float(rng.uniform(-180, 180)), pitch=float(rng.uniform(-20, 60))
    )
    if seed % 3 == 0:
        body.numbers[6:8] = rng.uniform(-180, 180), 60
    focus = body.gaze(grid).block
    camera = eye_of(body, 80.0, 24)
    fast = picture(grid, camera, 24, 32, focus)
    np.testing.assert_array_equal(fast, slow_picture(grid, camera, 24, 32, focus, []))
    if focus is not None and focus[0] >= 0:
        assert (fast == 255).all(axis=2).any(), "the block met has an outline"


@pytest.mark.parametrize("seed", range(3))
def test_the_corner_view_equals_a_slow_reference(seed: int) -> None:
    rng = np.random.default_rng(seed)
    grid, body = random_grid(rng, 30), BuilderBody.at(*rng.uniform((-7, 0, -7), (7, 4, 7)))
    x, y, z = body.position
    low = (x + 5.5 - 0.3, y, z + 5.5 - 0.3)
    box = [low, (low[0] + 0.6, y + 1.8, low[2] + 0.6)]
    reference = slow_picture(grid, corner_camera(24, 32), 24, 32, None, box)
    np.testing.assert_array_equal(corner_view(grid, 24, 32, body), reference)


def test_the_corner_sees_the_whole_zone() -> None:
    for height, width in ((240, 160), (120, 300), (400, 120)):
        top, bottom = empty_grid(), empty_grid()
        for grid, layer in ((top, 8), (bottom, 0)):
            for x, z in np.ndindex(2, 2):
                grid[layer, x * 10, z * 10] = 6
        for grid in (top, bottom):
            red = corner_view(grid, height, width)[:, :, 0] > corner_view(grid, height, width)[:, :, 2].astype(int) + 60
            assert red.any(axis=0).sum() >= 4
            assert not red[[0, -1]].any()
            assert not red[:, [0, -1]].any()


def test_north_is_ahead_and_east_to_the_right() -> None:
    grid = to_dense([(0, 0, -3, 1), (3, 0, -3, 6)])
    image = picture(grid, eye_of(BuilderBody.at(0, 0, 2, 180, 10), 80.0, 48), 48, 64).astype(int)
    blue, red = image[:, :, 2] - image[:, :, 1] > 60, image[:, :, 0] - image[:, :, 1] > 60
    assert abs(np.argwhere(blue)[:, 1].mean() - 31.5) < 1
    assert np.argwhere(red)[:, 1].min() > np.argwhere(blue)[:, 1].max()


def test_the_setter_sees_what_is_there_and_the_target() -> None:
    grid, target, body = to_dense([(0, 0, 0, 1)]), to_dense([(0, 0, 0, 6)]), BuilderBody.at(0, 0, 3)
    image = setter_view(grid, target, body, 48, 65)
    assert image.shape == (48, 65, 3)
    np.testing.assert_array_equal(image[:, :32], corner_view(grid, 48, 32, body))
    np.testing.assert_array_equal(image[:, 32:], corner_view(target, 48, 33))
    np.testing.assert_array_equal(setter_view(grid, None, body, 48, 64), corner_view(grid, 48, 64, body))


def test_pictures_together_equal_pictures_one_by_one() -> None:
    rng = np.random.default_rng(2)
    grids = np.stack([random_grid(rng, 20) for _ in range(5)])
    bodies = [BuilderBody.at(*rng.uniform((-7, 0, -7), (7, 3, 7)), float(rng.uniform(0, 360)), 30) for _ in range(5)]
    met = [body.gaze(grid).block for body, grid in zip(bodies, grids, strict=True)]
    focuses = np.array([drawing.NOWHERE if cell is None else cell for cell in met])
    out = np.zeros((5, 30, 40, 3), np.uint8)
    pictures(grids, np.stack([body.numbers for body in bodies]), focuses, 70.0, out)
    for k, body in enumerate(bodies):
        np.testing.assert_array_equal(out[k], picture(grids[k], eye_of(body, 70.0, 30), 30, 40, met[k]))


def test_an_eye_inside_a_block_sees_out_of_it() -> None:
    inside = to_dense([(0, 1, 0, 6), (0, 1, -2, 1)])
    camera = eye_of(BuilderBody.at(0, 0, 0, 180, 0), 60.0, 20)
    image = picture(inside, camera, 20, 20)
    without = picture(to_dense([(0, 1, -2, 1)]), camera, 20, 20)
    np.testing.assert_array_equal(image, without)
