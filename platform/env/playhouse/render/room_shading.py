"""Numba shader of rooms: floors, walls and ceilings with their patterns.

Rooms fill most of a picture, so they are painted a row at a time in loops without branches, which LLVM vectorizes: each
surface that a row shows is computed in all its pixels, and every pixel selects one. A row's patterns are computed
before, each in its own loop. These loops get whole arrays and unsigned bounds: some twenty slices for each row took two
fifths of the time, and with signed bounds numba tests every index for being negative.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from interplay.env.arrays import Float32Array, Int32Array
from interplay.env.compiled import compiled, inlined

FLOOR_PATTERNS = {"plain": 0, "wood": 1, "tile": 2, "checker": 3, "carpet": 4, "stripes": 5, "mats": 6}
WALL_PATTERNS = {"plain": 0, "stripes": 1, "dado": 2, "boards": 3, "tiles": 4}

_CEILING = (np.float32(240.0), np.float32(240.0), np.float32(236.0))
_SKIRTING = (np.float32(225.0), np.float32(222.0), np.float32(214.0))
_DADO, _BOARDS = np.float32(0.9), np.float32(1.2)  # meters, height of the painted lower part of a wall
_PANEL = (np.float32(196.0), np.float32(164.0), np.float32(124.0))
# Meters per pixel up to which seams and weaves are drawn; finer than a pixel they would flicker.
_FINE = np.float32(0.02)
_ZERO, _HALF, _ONE = np.float32(0.0), np.float32(0.5), np.float32(1.0)
_NEARLY_HALF = np.float32(0.499)  # added before a color is cut to an integer
# What a pixel shows of the room that is painted.
_ELSEWHERE, _ON_FLOOR, _ON_WALL, _ON_CEILING = np.int32(0), np.int32(1), np.int32(2), np.int32(3)


@inlined
def _fraction(x: Any) -> Any:
    return x - np.floor(x)


@inlined
def _at(x: Any, depth: Any, us: Any, ray: Any) -> Any:
    """The point of a room's unit box that the pixel in column `x` shows; the ray is o + t (d + u e)."""
    o, d, e = ray
    t, u = depth[x], us[x]
    return o[0] + t * (d[0] + u * e[0]), o[1] + t * (d[1] + u * e[1]), o[2] + t * (d[2] + u * e[2])


@compiled
def _floor_tones(
    tones: Any, pattern: Any, depth: Any, us: Any, ray: Any, half: Any, center: Any, start: Any, stop: Any
) -> None:
    """Brightness of a floor pattern in the pixels of a row; seams and weaves only where a pixel is small enough."""
    hx, hy, cx, cy = half[0], half[1], center[0], center[1]
    slope = us[1] - us[0]
    if pattern == 1:  # planks along x, shifted from row to row
        for k in range(start, stop):
            qx, qy, _ = _at(k, depth, us, ray)
            x, y = cx + qx * hx, cy + qy * hy
            fine = depth[k] * slope < _FINE
            row = np.floor(y * np.float32(5.0))
            shift = _fraction(row * np.float32(0.381966))
            plank = np.floor(x * np.float32(0.7) + shift)
            tone = _fraction(row * np.float32(0.618034) + plank * np.float32(0.414214))
            seam = min(_fraction(y * np.float32(5.0)), _fraction(x * np.float32(0.7) + shift) * np.float32(7.0))
            dark = np.float32(0.12) if fine & (seam < np.float32(0.06)) else _ZERO
            tones[k] = np.float32(0.90) + np.float32(0.14) * tone - dark
    elif pattern == 2:  # square tiles with pale joints
        for k in range(start, stop):
            qx, qy, _ = _at(k, depth, us, ray)
            x, y = (cx + qx * hx) * np.float32(2.5), (cy + qy * hy) * np.float32(2.5)
            fine = depth[k] * slope < _FINE
            joint = min(_fraction(x), _fraction(y))
            tile = np.float32(0.94) + np.float32(0.08) * np.float64(_odd(x, y))
            tones[k] = np.float64(np.float32(1.12)) if fine & (joint < np.float32(0.06)) else tile
    elif pattern == 3:
        for k in range(start, stop):
            qx, qy, _ = _at(k, depth, us, ray)
            odd = _odd((cx + qx * hx) * np.float32(2.0), (cy + qy * hy) * np.float32(2.0))
            tones[k] = np.float32(0.80) if odd != 0 else np.float32(1.14)
    elif pattern == 4:  # a carpet's weave
        for k in range(start, stop):
            qx, qy, _ = _at(k, depth, us, ray)
            x, y = np.floor((cx + qx * hx) * np.float32(16.0)), np.floor((cy + qy * hy) * np.float32(16.0))
            weave = _fraction(x * np.float32(0.618034) + y * np.float32(0.414214))
            tones[k] = np.float32(0.96) + np.float32(0.06) * weave if depth[k] * slope < _FINE else _ONE
    elif pattern == 5:
        for k in range(start, stop):
            qy = _at(k, depth, us, ray)[1]
            tones[k] = np.float32(0.91) if _fraction((cy + qy * hy) * np.float32(1.5)) < _HALF else np.float32(1.05)
    elif pattern == 6:  # mats of four tones, a meter wide
        for k in range(start, stop):
            qx, qy, _ = _at(k, depth, us, ray)
            column, row = np.int32(np.floor(cx + qx * hx)), np.int32(np.floor(cy + qy * hy))
            tones[k] = np.float32(0.84) + np.float32(0.12) * np.float64((column + np.int32(2) * row) & np.int32(3))
    else:
        for k in range(start, stop):
            tones[k] = 1.0


@inlined
def _odd(x: Any, y: Any) -> Any:
    return (np.int32(np.floor(x)) + np.int32(np.floor(y))) & np.int32(1)


@inlined
def _along(qx: Any, qy: Any, half: Any) -> Any:
    """Meters from the corner of the wall that a ray hits."""
    return (_ONE - abs(qy)) * half[1] if abs(qx) >= abs(qy) else (_ONE - abs(qx)) * half[0]


@compiled
def _wall_tones(tones: Any, pattern: Any, depth: Any, us: Any, ray: Any, half: Any, start: Any, stop: Any) -> None:
    """Brightness of a wall pattern in the pixels of a row."""
    if pattern == 1:  # wallpaper
        for k in range(start, stop):
            qx, qy, _ = _at(k, depth, us, ray)
            tones[k] = (
                np.float32(0.93) if _fraction(_along(qx, qy, half) * np.float32(2.5)) < _HALF else np.float32(1.04)
            )
    elif pattern == 3:
        for k in range(start, stop):
            qx, qy, qz = _at(k, depth, us, ray)
            groove = _fraction(_along(qx, qy, half) * np.float32(3.0)) < np.float32(0.2)
            board = np.float32(0.86) if groove else np.float32(1.02)
            tones[k] = board if (qz + _ONE) * half[2] < _BOARDS else _ONE
    elif pattern == 4:
        for k in range(start, stop):
            qx, qy, qz = _at(k, depth, us, ray)
            odd = _odd(_along(qx, qy, half) * np.float32(2.5), (qz + _ONE) * half[2] * np.float32(2.5))
            tones[k] = np.float32(0.95) if odd != 0 else np.float32(1.03)
    else:
        for k in range(start, stop):
            tones[k] = _ONE


@inlined
def _turn(matrix: Any, x: Any, y: Any, z: Any) -> Any:
    return (
        matrix[0] * x + matrix[1] * y + matrix[2] * z,
        matrix[3] * x + matrix[4] * y + matrix[5] * z,
        matrix[6] * x + matrix[7] * y + matrix[8] * z,
    )


@inlined
def _corner(distance: Any) -> Any:
    """Brightness at this distance, in meters, from a corner of a room: corners are slightly darker."""
    near = max(_ONE - distance * np.float32(3.0), _ZERO)
    return _ONE - np.float32(0.16) * near * near


@inlined
def _level(x: Any) -> Any:
    """The gray level of a float64."""
    return np.int32(min(x, 255.0) + _NEARLY_HALF)


@inlined
def _three(table: Any, row: Any) -> Any:
    return table[row, 0], table[row, 1], table[row, 2]


@inlined
def _four(table: Any, row: Any) -> Any:
    return table[row, 0], table[row, 1], table[row, 2], table[row, 3]


@inlined
def _six(table: Any, p: Any) -> Any:
    return table[p, 0], table[p, 1], table[p, 2], table[p, 3], table[p, 4], table[p, 5]


@inlined
def _nine(table: Any, p: Any) -> Any:
    one, two, three = table[p, 0], table[p, 1], table[p, 2]
    return one, two, three, table[p, 3], table[p, 4], table[p, 5], table[p, 6], table[p, 7], table[p, 8]


@inlined
def _find_surfaces(
    surfaces: Any, depths: Any, room: Any, index: Any, depth: Any, us: Any, ray: Any, y: Any, start: Any, stop: Any
) -> Any:
    """Fills `surfaces` and `depths` (1 where another thing is shown); returns the pixels of floor, wall and ceiling."""
    floor, wall, ceiling = np.int32(0), np.int32(0), np.int32(0)
    for x in range(start, stop):
        here = index[y, x] == room
        depths[x] = depth[y, x] if here else _ONE
        qx, qy, qz = _at(x, depths, us, ray)
        level = (abs(qz) >= abs(qx)) & (abs(qz) >= abs(qy))
        surface = (_ON_FLOOR if qz <= _ZERO else _ON_CEILING) if level else _ON_WALL
        surface = surface if here else _ELSEWHERE
        surfaces[x] = surface
        floor += np.int32(surface == _ON_FLOOR)
        wall += np.int32(surface == _ON_WALL)
        ceiling += np.int32(surface == _ON_CEILING)
    return floor, wall, ceiling


@inlined
def _color_floor(
    levels: Any, tones: Any, depths: Any, light: Any, us: Any, ray: Any, look: Any, y: Any, start: Any, stop: Any
) -> None:
    """Colors all pixels of a row as floor. Products of a tone, a color and light are float64."""
    faces, half, center, pattern, _, floor, _ = look
    reds, greens, blues = levels
    _floor_tones(tones, pattern, depths, us, ray, half, center, start, stop)
    for x in range(start, stop):
        qx, qy, _ = _at(x, depths, us, ray)
        corner = _corner(min((_ONE - abs(qx)) * half[0], (_ONE - abs(qy)) * half[1]))
        ground, bright = np.float64(faces[5] * corner) * tones[x], np.float64(light[y, x])
        reds[x] = _level(floor[0] * ground * bright)
        greens[x] = _level(floor[1] * ground * bright)
        blues[x] = _level(floor[2] * ground * bright)


@inlined
def _color_ceiling(levels: Any, surfaces: Any, light: Any, y: Any, start: Any, stop: Any) -> None:
    reds, greens, blues = levels
    for x in range(start, stop):
        here, bright = surfaces[x] == _ON_CEILING, np.float64(light[y, x])
        reds[x] = _level(_CEILING[0] * bright) if here else reds[x]
        greens[x] = _level(_CEILING[1] * bright) if here else greens[x]
        blues[x] = _level(_CEILING[2] * bright) if here else blues[x]


@inlined
def _color_wall(
    levels: Any,
    tones: Any,
    surfaces: Any,
    depths: Any,
    light: Any,
    us: Any,
    ray: Any,
    look: Any,
    y: Any,
    start: Any,
    stop: Any,
) -> None:
    faces, half, _, _, pattern, floor, wall = look
    reds, greens, blues = levels
    _wall_tones(tones, pattern, depths, us, ray, half, start, stop)
    panel = np.float32(0.0)
    low = floor
    if pattern == 2:
        panel = _DADO
    elif pattern == 3:
        panel, low = _BOARDS, _PANEL
    for x in range(start, stop):
        qx, qy, qz = _at(x, depths, us, ray)
        ax, ay = abs(qx), abs(qy)
        east = ax >= ay
        one = faces[0] if qx > _ZERO else faces[1]
        other = faces[2] if qy > _ZERO else faces[3]
        along = (_ONE - ay) * half[1] if east else (_ONE - ax) * half[0]
        height = (qz + _ONE) * half[2]
        bare = (one if east else other) * _corner(min(along, height))
        skirting = height < np.float32(0.09)
        shade = bare if skirting else bare * tones[x]
        red = _SKIRTING[0] if skirting else (low[0] if height < panel else wall[0])
        green = _SKIRTING[1] if skirting else (low[1] if height < panel else wall[1])
        blue = _SKIRTING[2] if skirting else (low[2] if height < panel else wall[2])
        here, bright = surfaces[x] == _ON_WALL, np.float64(light[y, x])
        reds[x] = _level(np.float64(red * shade) * bright) if here else reds[x]
        greens[x] = _level(np.float64(green * shade) * bright) if here else greens[x]
        blues[x] = _level(np.float64(blue * shade) * bright) if here else blues[x]


@inlined
def _in_unit_frame(m: Any, c: Any, v: Any, rays: Any) -> Any:
    """The rays of the row with slope `v` as o + t (d + u e), in the frame of the inverse `m` around the center `c`."""
    eye, f, r, w = rays
    o = _turn(m, eye[0] - c[0], eye[1] - c[1], eye[2] - c[2])
    return o, _turn(m, f[0] + v * w[0], f[1] + v * w[1], f[2] + v * w[2]), _turn(m, r[0], r[1], r[2])


@compiled
def _paint_room(
    image: Any, room: Any, index: Any, light: Any, depth: Any, view: Any, placed: Any, look: Any, scratch: Any
) -> None:
    """Paints the pixels that show the room `room`.

    view: us, vs, eye, and the directions forward, right and up. placed: inverse, center and rectangle of the room.
    look: brightness of the six sides, half-sizes, center, patterns of floor and walls, and their colors. The arrays of
    `scratch`, [W] each, are overwritten: brightness of patterns, levels of red, green and blue, surfaces and depths.
    """
    us, vs, axes = view
    inverse, center, rectangle = placed
    floor_tones, wall_tones, reds, greens, blues, surfaces, depths = scratch
    levels = (reds, greens, blues)
    start, stop = np.uint64(rectangle[0]), np.uint64(rectangle[1])
    for y in range(np.uint64(rectangle[2]), np.uint64(rectangle[3])):
        ray = _in_unit_frame(inverse, center, vs[y], axes)
        floor, wall, ceiling = _find_surfaces(surfaces, depths, room, index, depth, us, ray, y, start, stop)
        if floor > 0:
            _color_floor(levels, floor_tones, depths, light, us, ray, look, y, start, stop)
        if ceiling > 0:
            _color_ceiling(levels, surfaces, light, y, start, stop)
        if wall > 0:
            _color_wall(levels, wall_tones, surfaces, depths, light, us, ray, look, y, start, stop)
        for x in range(start, stop):
            if surfaces[x] != _ELSEWHERE:
                image[y, x, 0] = np.uint8(reds[x])
                image[y, x, 1] = np.uint8(greens[x])
                image[y, x, 2] = np.uint8(blues[x])


@inlined
def _in_picture(n: Any, primitives: Any) -> Any:
    """The fields of `PlacedPrimitives` in one of several pictures."""
    kinds, centers, radii, world, inverses, axes, rectangles = primitives
    return kinds, centers[n], radii[n], world[n], inverses[n], axes[n], rectangles[n]


@inlined
def _rays_of(n: Any, rays: Any) -> Any:
    """The rays of one of several pictures: eye, basis, slope of a pixel, slopes of columns and rows."""
    cameras, slope, us, vs = rays
    return cameras[n, 0], cameras[n, 1:], slope, us, vs


@inlined
def _paint_rooms(
    pixels: Any,
    faces: Any,
    parts: Any,
    primitives: Any,
    patterns: Any,
    papers: Any,
    walls: Any,
    rays: Any,
) -> None:
    image, light, depth, index = pixels
    _, centers, _, _, inverses, _, rectangles = primitives
    _, _, _, _, halves, _, colors, _, _ = parts
    eye, basis, _, us, vs = rays
    view = (us, vs, (eye, _three(basis, 0), _three(basis, 1), _three(basis, 2)))
    width = image.shape[1]
    # Separate arrays: LLVM does not vectorize loops over several rows of one.
    levels = (np.empty(width, np.int32), np.empty(width, np.int32), np.empty(width, np.int32))
    tones = (np.empty(width, np.float64), np.empty(width, np.float32))
    scratch = (*tones, *levels, np.empty(width, np.int32), np.empty(width, np.float32))
    for p in range(patterns.shape[0]):
        center = _three(centers, p)
        placed = (_nine(inverses, p), center, _four(rectangles, p))
        look = (_six(faces, p), _three(halves, p), center, patterns[p], papers[p], _three(colors, p), _three(walls, p))
        _paint_room(image, np.int32(p), index, light, depth, view, placed, look, scratch)


@compiled
def paint_rooms(
    images: NDArray[np.uint8],
    light: Float32Array,
    faces: Float32Array,
    depth: Float32Array,
    index: Int32Array,
    parts: Any,
    primitives: Any,
    patterns: Int32Array,
    papers: Int32Array,
    walls: Float32Array,
    rays: Any,
) -> None:
    """Fills the pixels of `images` [n, H, W, 3] that show rooms.

    Args:
        light: [n, H, W], as `shade` fills it. faces: [n, P, 6], as `paint_parts` fills it.
        depth, index: [n, H, W], as `cast` fills them.
        parts, primitives, rays: the fields of `RenderPrimitives`, `PlacedPrimitives` and `Rays`.
        patterns, papers: [R], of the rooms' floors and of their walls. walls: [R, 3], the rooms' wall colors.
    """
    for n in range(images.shape[0]):
        placed, seen = _in_picture(n, primitives), _rays_of(n, rays)
        pixels = images[n], light[n], depth[n], index[n]
        _paint_rooms(pixels, faces[n], parts, placed, patterns, papers, walls, seen)
