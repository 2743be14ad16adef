"""Pictures of blocks, ground and sky by ray casting, compiled with numba.

One ray a pixel walks from cell to cell through the box of occupied cells; the ground plane and the sky follow from the
direction. Every face has its brightness and dark edges, the ground has lines, and the block met by the gaze has an
outline. Arithmetic is float64, so a slow transcription in Python gives the same bytes.
"""

from __future__ import annotations

import math
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from interplay.env.arrays import Float64Array, Image
from interplay.env.compiled import compiled
from interplay.env.voxel.body import BuilderBody
from interplay.env.voxel.dynamics import BODY_HEIGHT, EYE_HEIGHT, HALF_WIDTH
from interplay.env.voxel.space import HEIGHT, SIZE, Cell, Grid

RGB = (  # by id; 0 is the builder, drawn in pictures from outside
    (230, 200, 170),
    (45, 85, 215),
    (245, 215, 45),
    (50, 165, 70),
    (245, 135, 30),
    (140, 65, 190),
    (210, 45, 45),
)
BRIGHTNESS = (0.86, 1.0, 0.72)  # of faces across x, y (from above) and z
BELOW = 0.5  # brightness of a face seen from below
EDGE, EDGE_BRIGHTNESS = 0.05, 0.72  # width of dark edges, as a part of the face
OUTLINE, OUTLINE_RGB = 0.09, (255, 255, 255)
SKY, ZONE, AROUND = (150, 190, 235), (236, 236, 230), (158, 160, 158)
LINE, LINE_BRIGHTNESS = 0.04, 0.78  # ground lines, on both sides of the border between two cells
LINE_FADE = 3.0  # ground lines vanish where a pixel covers 1 / LINE_FADE of a cell along the gaze
NOWHERE: Cell = (-2, 0, 0)  # focus that outlines nothing

_FACES = np.array(RGB, np.float64)[:, None, None] * np.array([*BRIGHTNESS, BELOW])[:, None, None]
_SHADES = np.concatenate([_FACES, _FACES * EDGE_BRIGHTNESS], axis=2)  # [id, face, inside or edge, channel]
_PALETTE = np.concatenate([_SHADES.reshape(-1, 3) + 0.5, [AROUND, ZONE, SKY, OUTLINE_RGB]]).astype(np.uint8)  # [60, 3]
_AROUND, _ZONE, _SKY, _OUTLINE, _LINES = 56, 57, 58, 59, 60  # rows of the palette, and of its two line colors
_BORDER = SIZE / 2  # of the zone, world coordinates
_SIZE = float(SIZE)


class Viewpoint(NamedTuple):
    """An eye in world coordinates, its angles in degrees, and the width of a pixel per cell forward."""

    x: float
    y: float
    z: float
    yaw: float
    pitch: float
    slope: float


@compiled
def _bounds(grid: Any) -> Any:
    """Box of occupied cells: first and last of each axis y, x, z; the first exceeds the last if there are none."""
    y0, x0, z0, y1, x1, z1 = 99, 99, 99, -1, -1, -1
    for y in range(grid.shape[0]):
        for x in range(grid.shape[1]):
            for z in range(grid.shape[2]):
                if grid[y, x, z] != 0:
                    y0, y1 = min(y0, y), max(y1, y)
                    x0, x1 = min(x0, x), max(x1, x)
                    z0, z1 = min(z0, z), max(z1, z)
    return y0, x0, z0, y1, x1, z1


@compiled
def _slab(origin: Any, inverse: Any, low: Any, high: Any) -> Any:
    """Where a ray enters and leaves low <= coordinate <= high."""
    one, other = (low - origin) * inverse, (high - origin) * inverse
    return (one, other) if one < other else (other, one)


@compiled
def _inverse(value: Any) -> Any:
    return 1.0 / value if value != 0 else 1e30


@compiled
def _march(grid: Any, bounds: Any, px: Any, py: Any, pz: Any, dx: Any, dy: Any, dz: Any, iy: Any, rows: Any) -> Any:
    """First block along a ray: (depth, axis, y, x, z) with axis 0 x, 1 y, 2 z of the face; axis -1 for none.

    `iy`: 1 / dy; `rows`: the depths at which the ray is at the heights of the box of occupied cells.
    """
    y0, x0, z0, y1, x1, z1 = bounds
    ay, by = rows
    ix, iz = _inverse(dx), _inverse(dz)
    ax, bx = _slab(px, ix, x0, x1 + 1)
    az, bz = _slab(pz, iz, z0, z1 + 1)
    near, far = max(max(ax, ay), az), min(min(bx, by), bz)
    if near > far or far <= 0:
        return 0.0, -1, 0, 0, 0
    depth, axis = 0.0, -1
    if near > 0:
        depth, axis = near, (0 if near == ax else (1 if near == ay else 2))
    cx = min(max(math.floor(px + depth * dx), x0), x1)
    cy = min(max(math.floor(py + depth * dy), y0), y1)
    cz = min(max(math.floor(pz + depth * dz), z0), z1)
    if axis == 0:
        cx = x0 if dx > 0 else x1
    elif axis == 1:
        cy = y0 if dy > 0 else y1
    elif axis == 2:
        cz = z0 if dz > 0 else z1
    if axis >= 0 and grid[cy, cx, cz] != 0:
        return depth, axis, cy, cx, cz
    sx, sy, sz = (1 if dx > 0 else -1), (1 if dy > 0 else -1), (1 if dz > 0 else -1)
    tx = (cx + (sx > 0) - px) * ix
    ty = (cy + (sy > 0) - py) * iy
    tz = (cz + (sz > 0) - pz) * iz
    wx, wy, wz = abs(ix), abs(iy), abs(iz)
    while True:
        if ty <= tx and ty <= tz:
            depth, axis, cy, ty = ty, 1, cy + sy, ty + wy
        elif tx <= tz:
            depth, axis, cx, tx = tx, 0, cx + sx, tx + wx
        else:
            depth, axis, cz, tz = tz, 2, cz + sz, tz + wz
        if cy < y0 or cy > y1 or cx < x0 or cx > x1 or cz < z0 or cz > z1:
            return 0.0, -1, 0, 0, 0
        if grid[cy, cx, cz] != 0:
            return depth, axis, cy, cx, cz


@compiled
def _box(box: Any, px: Any, py: Any, pz: Any, dx: Any, dy: Any, dz: Any) -> Any:
    """Depth and axis at which a ray enters the builder's box [x0, y0, z0, x1, y1, z1]; axis -1 if it does not."""
    ax, bx = _slab(px, _inverse(dx), box[0], box[3])
    ay, by = _slab(py, _inverse(dy), box[1], box[4])
    az, bz = _slab(pz, _inverse(dz), box[2], box[5])
    near, far = max(ax, ay, az), min(bx, by, bz)
    if near > far or near <= 0:
        return 0.0, -1
    return near, (0 if near == ax else (1 if near == ay else 2))


@compiled
def _fraction(axis: Any, x: Any, y: Any, z: Any) -> Any:
    """Distance of a point on a face from the nearest border of its cell."""
    u = z if axis == 0 else x
    v = z if axis == 1 else y
    u, v = u - math.floor(u), v - math.floor(v)
    return min(min(u, 1 - u), min(v, 1 - v))


@compiled
def _ground_color(x: Any, z: Any, focus: Any) -> Any:
    """Row of the palette for the ground at grid coordinates (x, z)."""
    inside = 0 <= x < _SIZE and 0 <= z < _SIZE
    left, back = math.floor(x), math.floor(z)
    u, v = x - left, z - back
    border = min(min(u, 1 - u), min(v, 1 - v))
    if border < OUTLINE and inside and focus[0] == -1 and left == focus[1] and back == focus[2]:
        return _OUTLINE
    return (_AROUND if border >= LINE else _LINES) + inside


@compiled
def _mix_lines(palette: Any, strength: Any) -> None:
    """Sets the two line colors, of the ground around and in the zone; `strength` from 0 to 1."""
    brightness = 1.0 - (1.0 - LINE_BRIGHTNESS) * strength
    for ground in range(2):
        for channel in range(3):
            palette[_LINES + ground, channel] = int(palette[_AROUND + ground, channel] * brightness + 0.5)


@compiled
def _rectangle(bounds: Any, place: Any, turn: Any, slope: Any, height: Any, width: Any) -> Any:
    """Rows and columns (first, last, first, last) outside which no ray meets the box of occupied cells.

    `place`: the eye in grid coordinates; `turn`: sine and cosine of yaw and of pitch.
    """
    y0, x0, z0, y1, x1, z1 = bounds
    sine, cosine, up, flat = turn
    top, bottom, left, right = 1e9, -1e9, 1e9, -1e9
    for corner in range(8):
        x = (x1 + 1 if corner & 1 else x0) - place[0]
        y = (y1 + 1 if corner & 2 else y0) - place[1]
        z = (z1 + 1 if corner & 4 else z0) - place[2]
        ahead = cosine * z - sine * x
        forward = flat * ahead - up * y
        if forward < 0.1:
            return 0, height - 1, 0, width - 1
        row = height / 2 - 0.5 - (up * ahead + flat * y) / forward / slope
        column = width / 2 - 0.5 - (cosine * x + sine * z) / forward / slope
        top, bottom = min(top, row), max(bottom, row)
        left, right = min(left, column), max(right, column)
    return (
        int(max(top - 1, 0.0)),
        int(min(bottom + 1, height - 1.0)),
        int(max(left - 1, 0.0)),
        int(min(right + 1, width - 1.0)),
    )


@compiled
def draw(out: Any, grid: Any, camera: Any, focus: Any, box: Any, colors: Any) -> None:
    """Fills `out` uint8 [H, W, 3].

    `camera`: float64 [6] as `Viewpoint`; `focus`: int64 [3], the cell to outline; `box`: float64 [6], the builder's in
    grid coordinates, y1 = 0 for none; `colors`: uint8 [60, 3].
    """
    palette = np.empty((_LINES + 2, 3), np.uint8)
    palette[:_LINES] = colors
    height, width = out.shape[0], out.shape[1]
    px, py, pz, slope = camera[0] + _BORDER, camera[1], camera[2] + _BORDER, camera[5]
    turn, tilt = math.radians(camera[3]), math.radians(camera[4])
    sine, cosine, up, flat = math.sin(turn), math.cos(turn), math.sin(tilt), math.cos(tilt)
    bounds = _bounds(grid)
    blocks, builder = bounds[3] >= 0, box[4] > 0
    top, bottom, left, right = 0, -1, 0, -1
    if blocks:
        top, bottom, left, right = _rectangle(bounds, (px, py, pz), (sine, cosine, up, flat), slope, height, width)
    for row in range(height):
        v = (height / 2 - 0.5 - row) * slope
        level, dy = flat + v * up, -up + v * flat
        iy = _inverse(dy)
        layers = _slab(py, iy, bounds[0], bounds[3] + 1)
        ground = -py * iy
        _mix_lines(palette, max(1.0 - LINE_FADE * ground * ground * slope / py, 0.0))
        for column in range(width):
            u = (column + 0.5 - width / 2) * slope
            dx, dz = -sine * level - u * cosine, cosine * level - u * sine
            depth, axis, cy, cx, cz = 0.0, -1, 0, 0, 0
            if top <= row <= bottom and left <= column <= right:
                depth, axis, cy, cx, cz = _march(grid, bounds, px, py, pz, dx, dy, dz, iy, layers)
            if axis >= 0:
                border = _fraction(axis, px + depth * dx, py + depth * dy, pz + depth * dz)
                face = 3 if axis == 1 and dy > 0 else axis
                color = grid[cy, cx, cz] * 8 + face * 2 + (border < EDGE)
                if border < OUTLINE and cy == focus[0] and cx == focus[1] and cz == focus[2]:
                    color = _OUTLINE
            elif dy < 0:
                depth, axis = ground, 1
                color = _ground_color(px + ground * dx, pz + ground * dz, focus)
            else:
                color = _SKY
            if builder:
                body_depth, body_axis = _box(box, px, py, pz, dx, dy, dz)
                if body_axis >= 0 and (axis < 0 or body_depth < depth):
                    color = 2 * (3 if body_axis == 1 and dy > 0 else body_axis)
            for channel in range(3):
                out[row, column, channel] = palette[color, channel]


@compiled
def draw_all(out: Any, grids: Any, bodies: Any, focuses: Any, slope: Any, eye_height: Any, colors: Any) -> None:
    """The builders' pictures of many worlds: `out` [N, H, W, 3], `grids` [N, 9, 11, 11], `bodies` [N, 9]."""
    camera, box = np.zeros(6), np.zeros(6)
    for world in range(out.shape[0]):
        camera[0], camera[1], camera[2] = bodies[world, 0], bodies[world, 1] + eye_height, bodies[world, 2]
        camera[3], camera[4], camera[5] = bodies[world, 6], bodies[world, 7], slope
        draw(out[world], grids[world], camera, focuses[world], box, colors)


def slope_of(field_of_view: float, height: int) -> float:
    """Width of a pixel per cell forward, for a vertical field of view in degrees."""
    return 2 * math.tan(math.radians(field_of_view) / 2) / height


def eye_of(body: BuilderBody, field_of_view: float, height: int) -> Viewpoint:
    """The builder's camera for pictures of this height."""
    return Viewpoint(*body.eye, body.yaw, body.pitch, slope_of(field_of_view, height))


def picture(
    grid: Grid,
    camera: Viewpoint,
    height: int,
    width: int,
    focus: Cell | None = None,
    builder: BuilderBody | None = None,
) -> Image:
    """Picture uint8 [height, width, 3].

    Args:
        grid: int8 [9, 11, 11].
        camera: where to look from.
        height: rows.
        width: columns.
        focus: cell to outline, of a block or (y = -1) of the ground.
        builder: body to draw as a box, for pictures from outside.
    """
    image = np.empty((height, width, 3), np.uint8)
    met = np.array(NOWHERE if focus is None else focus, np.int64)
    draw(image, grid, np.array(camera), met, _box_of(builder), _PALETTE)
    return image


def pictures(
    grids: Grid, bodies: NDArray[np.float32], focuses: NDArray[np.int64], field_of_view: float, out: Image
) -> None:
    """The builders' pictures of N worlds in `out` [N, H, W, 3]; equal to `picture` of each."""
    draw_all(out, grids, bodies, focuses, slope_of(field_of_view, out.shape[1]), EYE_HEIGHT, _PALETTE)


CORNER = (-11.0, 14.0, 11.0)  # south-west of the zone, above


@cache
def corner_camera(height: int, width: int) -> Viewpoint:
    """Camera at the south-west corner, high above, whose picture of this size holds the whole zone."""
    x, y, z = CORNER
    yaw, pitch = -135.0, math.degrees(math.atan2(y - 2.0, math.hypot(x, z)))
    tilt, half = math.radians(pitch), math.sqrt(0.5)
    widest = tallest = 0.0
    for corner in np.ndindex(2, 2, 2):
        place = (np.array(corner) - (0.5, 0, 0.5)) * (SIZE, HEIGHT, SIZE) - CORNER
        flat, right = (place[0] - place[2]) * half, (place[0] + place[2]) * half
        forward = flat * math.cos(tilt) - place[1] * math.sin(tilt)
        up = flat * math.sin(tilt) + place[1] * math.cos(tilt)
        widest, tallest = max(widest, abs(right / forward)), max(tallest, abs(up / forward))
    return Viewpoint(x, y, z, yaw, pitch, 2.04 * max(widest / width, tallest / height))


def corner_view(grid: Grid, height: int, width: int, builder: BuilderBody | None = None) -> Image:
    """The zone from the corner, uint8 [height, width, 3]."""
    return picture(grid, corner_camera(height, width), height, width, builder=builder)


def setter_view(grid: Grid, target: Grid | None, builder: BuilderBody, height: int, width: int) -> Image:
    """What a setter sees, uint8 [height, width, 3]: left the zone with the builder, right the target.

    Without a target the whole picture is the zone.
    """
    if target is None:
        return corner_view(grid, height, width, builder)
    left = width // 2
    halves = (corner_view(grid, height, left, builder), corner_view(target, height, width - left))
    return np.concatenate(halves, axis=1)


def _box_of(builder: BuilderBody | None) -> Float64Array:
    """The builder's box in grid coordinates, [6]."""
    if builder is None:
        return np.zeros(6)
    x, y, z = builder.position
    low = (x + _BORDER - HALF_WIDTH, y, z + _BORDER - HALF_WIDTH)
    return np.array([*low, low[0] + 2 * HALF_WIDTH, y + BODY_HEIGHT, low[2] + 2 * HALF_WIDTH])
