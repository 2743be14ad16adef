"""Numba shader: colors of the ray-caster's pixels from light, shadows beneath things, and floor and wall patterns."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from interplay.env.arrays import Float32Array, Int32Array
from interplay.env.compiled import compiled, inlined
from interplay.env.playhouse.render.raycast import BOX, CONE, CYLINDER, ROOM, SHADOW

FLOOR_PATTERNS = {"plain": 0, "wood": 1, "tile": 2, "checker": 3, "carpet": 4, "stripes": 5, "mats": 6}
WALL_PATTERNS = {"plain": 0, "stripes": 1, "dado": 2, "boards": 3, "tiles": 4}

# Lights are fixed to the house, so that a face keeps its brightness when the viewer turns: a high window, and a fill
# light from the other side.
_WINDOW = tuple(np.float32(x) for x in (0.48, 0.30, 0.82))
_FILL = tuple(np.float32(x) for x in (-0.66, -0.60, 0.45))
_AMBIENT, _WINDOW_SHARE, _FILL_SHARE = np.float32(0.64), np.float32(0.35), np.float32(0.12)
_NOTHING = (np.float32(206.0), np.float32(208.0), np.float32(212.0))
_CEILING = (np.float32(240.0), np.float32(240.0), np.float32(236.0))
_SKIRTING = (np.float32(225.0), np.float32(222.0), np.float32(214.0))
_DADO, _BOARDS = np.float32(0.9), np.float32(1.2)  # meters, height of the painted lower part of a wall
_PANEL = (np.float32(196.0), np.float32(164.0), np.float32(124.0))
_FINE = np.float32(
    0.02
)  # meters per pixel up to which seams and weaves are drawn; finer than a pixel they would flicker
_ZERO, _HALF, _ONE = np.float32(0.0), np.float32(0.5), np.float32(1.0)


@inlined
def _light(x: Any, y: Any, z: Any) -> Any:
    """Brightness of a white surface with this unit normal; wrapped diffuse light, so that no face is black."""
    window = (_WINDOW[0] * x + _WINDOW[1] * y + _WINDOW[2] * z + np.float32(0.35)) / np.float32(1.35)
    fill = _FILL[0] * x + _FILL[1] * y + _FILL[2] * z
    return _AMBIENT + _WINDOW_SHARE * max(window, _ZERO) + _FILL_SHARE * max(fill, _ZERO)


@inlined
def _fraction(x: Any) -> Any:
    return x - np.floor(x)


@compiled
def _floor(pattern: Any, x: Any, y: Any, fine: Any) -> Any:
    """Brightness of a floor pattern at a point in meters. `fine`: whether a pixel is small enough to show seams."""
    if pattern == 1:  # planks along x, shifted from row to row
        row = np.floor(y * np.float32(5.0))
        shift = _fraction(row * np.float32(0.381966))
        plank = np.floor(x * np.float32(0.7) + shift)
        tone = _fraction(row * np.float32(0.618034) + plank * np.float32(0.414214))
        seam = min(_fraction(y * np.float32(5.0)), _fraction(x * np.float32(0.7) + shift) * np.float32(7.0))
        return (
            np.float32(0.90)
            + np.float32(0.14) * tone
            - (np.float32(0.12) if fine & (seam < np.float32(0.06)) else _ZERO)
        )
    if pattern == 2:  # square tiles with pale joints
        joint = min(_fraction(x * np.float32(2.5)), _fraction(y * np.float32(2.5)))
        odd = (int(np.floor(x * np.float32(2.5))) + int(np.floor(y * np.float32(2.5)))) & 1
        return np.float32(1.12) if fine & (joint < np.float32(0.06)) else np.float32(0.94) + np.float32(0.08) * odd
    if pattern == 3:
        odd = (int(np.floor(x * np.float32(2.0))) + int(np.floor(y * np.float32(2.0)))) & 1
        return np.float32(0.80) if odd else np.float32(1.14)
    if pattern == 4 and fine:  # a carpet's weave
        return np.float32(0.96) + np.float32(0.06) * _fraction(
            np.floor(x * np.float32(16.0)) * np.float32(0.618034)
            + np.floor(y * np.float32(16.0)) * np.float32(0.414214)
        )
    if pattern == 5:
        return np.float32(0.91) if _fraction(y * np.float32(1.5)) < _HALF else np.float32(1.05)
    if pattern == 6:  # mats of four tones, a meter wide
        column, row = int(np.floor(x)), int(np.floor(y))
        return np.float32(0.84) + np.float32(0.12) * ((column + 2 * row) & 3)
    return _ONE


@inlined
def _wall(pattern: Any, along: Any, height: Any) -> Any:
    """Brightness of a wall pattern at a point, meters from a corner and above the floor."""
    if pattern == 1:  # wallpaper
        return np.float32(0.93) if _fraction(along * np.float32(2.5)) < _HALF else np.float32(1.04)
    if pattern == 3 and height < _BOARDS:
        return np.float32(0.86) if _fraction(along * np.float32(3.0)) < np.float32(0.2) else np.float32(1.02)
    if pattern == 4:
        odd = (int(np.floor(along * np.float32(2.5))) + int(np.floor(height * np.float32(2.5)))) & 1
        return np.float32(0.95) if odd else np.float32(1.03)
    return _ONE


@compiled
def _darken(
    light: Any, depth: Any, index: Any, ids: Any, x0: Any, x1: Any, y0: Any, y1: Any, me: Any, view: Any
) -> None:
    """Multiplies `light` by one shadow box: darkest at its center and directly beneath the thing.

    `view`: eye, directions of forward, right and up, all in the frame of the unit box, and us, vs."""
    o, f, r, w, us, vs = view
    for y in range(y0, y1):
        v = vs[y]
        for x in range(x0, x1):
            t = depth[y, x]
            p = index[y, x]
            if p < 0 or ids[p] == me:
                continue
            u = us[x]
            a = abs(o[0] + t * (f[0] + u * r[0] + v * w[0]))
            b = abs(o[1] + t * (f[1] + u * r[1] + v * w[1]))
            c = o[2] + t * (f[2] + u * r[2] + v * w[2])
            if a < _ONE and b < _ONE and -_ONE <= c <= _ONE:
                a, b = max(a - _HALF, _ZERO), max(b - _HALF, _ZERO)
                edge = _ONE - (a * a + b * b) * np.float32(4.0)
                if edge > _ZERO:
                    light[y, x] *= _ONE - np.float32(0.42) * edge * (np.float32(0.65) + np.float32(0.35) * c)


@inlined
def _turn(matrix: Any, x: Any, y: Any, z: Any) -> Any:
    return (
        matrix[0] * x + matrix[1] * y + matrix[2] * z,
        matrix[3] * x + matrix[4] * y + matrix[5] * z,
        matrix[6] * x + matrix[7] * y + matrix[8] * z,
    )


@compiled
def _brightness(kind: Any, x: Any, y: Any, z: Any, faces: Any, world: Any, half: Any) -> Any:
    """Unit normal of a primitive at the point x, y, z of its unit shape."""
    ax, ay, az = abs(x), abs(y), abs(z)
    if kind == BOX:
        if ax >= ay and ax >= az:
            return faces[1] if x > _ZERO else faces[0]
        if ay >= az:
            return faces[3] if y > _ZERO else faces[2]
        return faces[5] if z > _ZERO else faces[4]
    if kind == CYLINDER:
        if z * z >= x * x + y * y:
            return faces[5] if z > _ZERO else faces[4]
        z = _ZERO
    elif kind == CONE:
        if z < np.float32(-0.999):
            return faces[4]
        z = (_ONE - z) * np.float32(0.25)
    nx, ny, nz = x / half[0], y / half[1], z / half[2]
    scale = _ONE / np.sqrt(nx * nx + ny * ny + nz * nz + np.float32(1e-12))
    nx, ny, nz = _turn(world, nx * scale, ny * scale, nz * scale)
    return _light(nx, ny, nz)


@inlined
def _corner(distance: Any) -> Any:
    """Brightness at this distance, in meters, from a corner of a room: corners are slightly darker."""
    near = max(_ONE - distance * np.float32(3.0), _ZERO)
    return _ONE - np.float32(0.16) * near * near


@compiled
def _room(x: Any, y: Any, z: Any, pixel: Any, look: Any) -> Any:
    """Color of a room's inside at the point x, y, z of its unit box. `pixel`: size of a pixel there, meters."""
    faces, half, center, pattern, walls, floor, wall = look
    ax, ay, az = abs(x), abs(y), abs(z)
    if az >= ax and az >= ay:
        if z > _ZERO:
            return _CEILING
        shade = faces[5] * _corner(min((_ONE - ax) * half[0], (_ONE - ay) * half[1]))
        shade *= _floor(pattern, center[0] + x * half[0], center[1] + y * half[1], pixel < _FINE)
        return floor[0] * shade, floor[1] * shade, floor[2] * shade
    if ax >= ay:
        shade, along = (faces[0] if x > _ZERO else faces[1]), (_ONE - ay) * half[1]
    else:
        shade, along = (faces[2] if y > _ZERO else faces[3]), (_ONE - ax) * half[0]
    height = (z + _ONE) * half[2]
    shade *= _corner(min(along, height))
    if height < np.float32(0.09):
        return _SKIRTING[0] * shade, _SKIRTING[1] * shade, _SKIRTING[2] * shade
    if walls > 0:
        shade *= _wall(walls, along, height)
        if walls == 2 and height < _DADO:
            return floor[0] * shade, floor[1] * shade, floor[2] * shade
        if walls == 3 and height < _BOARDS:
            return _PANEL[0] * shade, _PANEL[1] * shade, _PANEL[2] * shade
    return wall[0] * shade, wall[1] * shade, wall[2] * shade


@inlined
def _byte(x: Any) -> Any:
    return np.uint8(min(x, np.float32(255.0)) + np.float32(0.499))


@inlined
def _three(table: Any, row: Any) -> Any:
    return table[row, 0], table[row, 1], table[row, 2]


@inlined
def _nine(table: Any, p: Any) -> Any:
    one, two, three = table[p, 0], table[p, 1], table[p, 2]
    return one, two, three, table[p, 3], table[p, 4], table[p, 5], table[p, 6], table[p, 7], table[p, 8]


@inlined
def _six(table: Any, p: Any) -> Any:
    return table[p, 0], table[p, 1], table[p, 2], table[p, 3], table[p, 4], table[p, 5]


@compiled
def _blank(image: Any, ids: Any, y: Any, start: Any, stop: Any) -> None:
    for x in range(start, stop):
        image[y, x, 0], image[y, x, 1], image[y, x, 2] = _NOTHING
        ids[y, x] = -1


@compiled
def _paint_room(
    image: Any, light: Any, depth: Any, us: Any, y: Any, start: Any, stop: Any, o: Any, d: Any, e: Any, look: Any
) -> None:
    """Paints a run of pixels of one row that show one room; the ray in its unit box is o + t (d + u e)."""
    slope = us[1] - us[0]
    for x in range(start, stop):
        u, t, bright = us[x], depth[y, x], light[y, x]
        qx, qy, qz = o[0] + t * (d[0] + u * e[0]), o[1] + t * (d[1] + u * e[1]), o[2] + t * (d[2] + u * e[2])
        red, green, blue = _room(qx, qy, qz, t * slope, look)
        image[y, x, 0], image[y, x, 1], image[y, x, 2] = (
            _byte(red * bright),
            _byte(green * bright),
            _byte(blue * bright),
        )


@compiled
def _paint_part(
    image: Any, light: Any, depth: Any, us: Any, y: Any, start: Any, stop: Any, o: Any, d: Any, e: Any, look: Any
) -> None:
    """Paints a run of pixels of one row that show one part; the ray in its unit shape is o + t (d + u e)."""
    kind, faces, world, half, color = look
    for x in range(start, stop):
        u, t = us[x], depth[y, x]
        qx, qy, qz = o[0] + t * (d[0] + u * e[0]), o[1] + t * (d[1] + u * e[1]), o[2] + t * (d[2] + u * e[2])
        bright = light[y, x] * _brightness(kind, qx, qy, qz, faces, world, half)
        image[y, x, 0] = _byte(color[0] * bright)
        image[y, x, 1] = _byte(color[1] * bright)
        image[y, x, 2] = _byte(color[2] * bright)


@compiled
def _light_faces(faces: Any, kinds: Any, world: Any) -> None:
    """Brightness of the six sides of each primitive, [P, 6]."""
    for p in range(kinds.shape[0]):
        if kinds[p] == SHADOW:
            continue
        for j in range(3):
            x, y, z = world[p, j], world[p, 3 + j], world[p, 6 + j]
            faces[p, 2 * j], faces[p, 2 * j + 1] = _light(-x, -y, -z), _light(x, y, z)


@compiled
def _shade(light: Any, depth: Any, index: Any, primitives: Any, names: Any, rays: Any) -> None:
    """Fills `light` [H, W]: 1, and less in the shadow beneath a thing.

    `rays`: eye, directions of forward, right and up, us, vs; other arguments as in `paint`."""
    eye, f, r, w, us, vs = rays
    kinds, centers, _, _, inverses, _, rectangles = primitives
    light[:] = _ONE
    for p in range(kinds.shape[0]):
        x0, x1, y0, y1 = rectangles[p, 0], rectangles[p, 1], rectangles[p, 2], rectangles[p, 3]
        if kinds[p] != SHADOW or x1 <= x0 or y1 <= y0:
            continue
        m = _nine(inverses, p)
        o = _turn(m, eye[0] - centers[p, 0], eye[1] - centers[p, 1], eye[2] - centers[p, 2])
        view = (o, _turn(m, f[0], f[1], f[2]), _turn(m, r[0], r[1], r[2]), _turn(m, w[0], w[1], w[2]), us, vs)
        _darken(light, depth, index, names, x0, x1, y0, y1, names[p], view)


@compiled
def paint(
    image: NDArray[np.uint8],
    ids: NDArray[np.int16],
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
    """Fills `image` [H, W, 3] and `ids` [H, W] (-1: background).

    Args:
        light: [H, W], scratch. faces: [P, 6], scratch.
        depth, index: [H, W], as `cast` fills them.
        parts, primitives, rays: the fields of `RenderPrimitives`, `PlacedPrimitives` and `Rays`.
        patterns, papers: [R], of the rooms' floors and of their walls. walls: [R, 3], the rooms' wall colors.
    """
    kinds, centers, _, world, inverses, _, _ = primitives
    _, _, _, _, halves, _, colors, names, _ = parts
    eye, basis, _, us, vs = rays
    f, r, w = _three(basis, 0), _three(basis, 1), _three(basis, 2)
    _light_faces(faces, kinds, world)
    _shade(light, depth, index, primitives, names, (eye, f, r, w, us, vs))
    for y in range(image.shape[0]):
        stop = 0
        while stop < image.shape[1]:
            start, p = stop, index[y, stop]
            while stop < image.shape[1] and index[y, stop] == p:
                stop += 1
            if p < 0:
                _blank(image, ids, y, start, stop)
                continue
            m, c, v = _nine(inverses, p), _three(centers, p), vs[y]
            o = _turn(m, eye[0] - c[0], eye[1] - c[1], eye[2] - c[2])
            d = _turn(m, f[0] + v * w[0], f[1] + v * w[1], f[2] + v * w[2])
            e = _turn(m, r[0], r[1], r[2])
            half, own, color = _three(halves, p), _six(faces, p), _three(colors, p)
            if kinds[p] == ROOM:
                look = (own, half, c, patterns[p], papers[p], color, _three(walls, p))
                _paint_room(image, light, depth, us, y, start, stop, o, d, e, look)
            else:
                part = (kinds[p], own, _nine(world, p), half, color)
                _paint_part(image, light, depth, us, y, start, stop, o, d, e, part)
            for x in range(start, stop):
                ids[y, x] = names[p]


@compiled
def halve(out: NDArray[np.uint8], image: NDArray[np.uint8]) -> None:
    """Averages 2 x 2 pixels: out [H, W, 3] from image [2H, 2W, 3]."""
    for y in range(out.shape[0]):
        for x in range(out.shape[1]):
            for k in range(3):
                total = np.int32(image[2 * y, 2 * x, k]) + np.int32(image[2 * y, 2 * x + 1, k])
                total += np.int32(image[2 * y + 1, 2 * x, k]) + np.int32(image[2 * y + 1, 2 * x + 1, k])
                out[y, x, k] = (total + 2) >> 2
