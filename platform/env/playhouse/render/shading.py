"""Numba shader: colors of the ray-caster's pixels from light, shadows, and floor and wall patterns.

Rooms fill most of a picture, so they are painted a row at a time in loops without branches, which LLVM vectorizes:
every pixel computes floor and wall, and selects one. A row's patterns are computed before, each in its own loop.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from interplay.env.arrays import Float32Array, Int32Array
from interplay.env.compiled import compiled, inlined
from interplay.env.playhouse.render.raycast import BOX, CONE, CYLINDER, SHADOW

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
# Meters per pixel up to which seams and weaves are drawn; finer than a pixel they would flicker.
_FINE = np.float32(0.02)
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


@inlined
def _at(x: Any, depth: Any, us: Any, ray: Any) -> Any:
    """The point of a room's unit box that the pixel in column `x` shows; the ray is o + t (d + u e)."""
    o, d, e = ray
    t, u = depth[x], us[x]
    return o[0] + t * (d[0] + u * e[0]), o[1] + t * (d[1] + u * e[1]), o[2] + t * (d[2] + u * e[2])


@compiled
def _floor_row(tones: Any, pattern: Any, depth: Any, us: Any, slope: Any, ray: Any, half: Any, center: Any) -> None:
    """Brightness of a floor pattern in each pixel of a row; seams and weaves only where a pixel is small enough."""
    hx, hy, cx, cy = half[0], half[1], center[0], center[1]
    count = tones.shape[0]
    if pattern == 1:  # planks along x, shifted from row to row
        for k in range(count):
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
        for k in range(count):
            qx, qy, _ = _at(k, depth, us, ray)
            x, y = (cx + qx * hx) * np.float32(2.5), (cy + qy * hy) * np.float32(2.5)
            fine = depth[k] * slope < _FINE
            joint = min(_fraction(x), _fraction(y))
            tile = np.float32(0.94) + np.float32(0.08) * np.float64(_odd(x, y))
            tones[k] = np.float64(np.float32(1.12)) if fine & (joint < np.float32(0.06)) else tile
    elif pattern == 3:
        for k in range(count):
            qx, qy, _ = _at(k, depth, us, ray)
            odd = _odd((cx + qx * hx) * np.float32(2.0), (cy + qy * hy) * np.float32(2.0))
            tones[k] = np.float32(0.80) if odd != 0 else np.float32(1.14)
    elif pattern == 4:  # a carpet's weave
        for k in range(count):
            qx, qy, _ = _at(k, depth, us, ray)
            x, y = np.floor((cx + qx * hx) * np.float32(16.0)), np.floor((cy + qy * hy) * np.float32(16.0))
            weave = _fraction(x * np.float32(0.618034) + y * np.float32(0.414214))
            tones[k] = np.float32(0.96) + np.float32(0.06) * weave if depth[k] * slope < _FINE else _ONE
    elif pattern == 5:
        for k in range(count):
            qy = _at(k, depth, us, ray)[1]
            tones[k] = np.float32(0.91) if _fraction((cy + qy * hy) * np.float32(1.5)) < _HALF else np.float32(1.05)
    elif pattern == 6:  # mats of four tones, a meter wide
        for k in range(count):
            qx, qy, _ = _at(k, depth, us, ray)
            column, row = np.int32(np.floor(cx + qx * hx)), np.int32(np.floor(cy + qy * hy))
            tones[k] = np.float32(0.84) + np.float32(0.12) * np.float64((column + np.int32(2) * row) & np.int32(3))
    else:
        tones[:] = 1.0


@inlined
def _odd(x: Any, y: Any) -> Any:
    return (np.int32(np.floor(x)) + np.int32(np.floor(y))) & np.int32(1)


@inlined
def _along(qx: Any, qy: Any, half: Any) -> Any:
    """Meters from the corner of the wall that a ray hits."""
    return (_ONE - abs(qy)) * half[1] if abs(qx) >= abs(qy) else (_ONE - abs(qx)) * half[0]


@compiled
def _wall_row(tones: Any, pattern: Any, depth: Any, us: Any, ray: Any, half: Any) -> None:
    """Brightness of a wall pattern in each pixel of a row."""
    count = tones.shape[0]
    if pattern == 1:  # wallpaper
        for k in range(count):
            qx, qy, _ = _at(k, depth, us, ray)
            tones[k] = (
                np.float32(0.93) if _fraction(_along(qx, qy, half) * np.float32(2.5)) < _HALF else np.float32(1.04)
            )
    elif pattern == 3:
        for k in range(count):
            qx, qy, qz = _at(k, depth, us, ray)
            groove = _fraction(_along(qx, qy, half) * np.float32(3.0)) < np.float32(0.2)
            board = np.float32(0.86) if groove else np.float32(1.02)
            tones[k] = board if (qz + _ONE) * half[2] < _BOARDS else _ONE
    elif pattern == 4:
        for k in range(count):
            qx, qy, qz = _at(k, depth, us, ray)
            odd = _odd(_along(qx, qy, half) * np.float32(2.5), (qz + _ONE) * half[2] * np.float32(2.5))
            tones[k] = np.float32(0.95) if odd != 0 else np.float32(1.03)
    else:
        tones[:] = _ONE


@inlined
def _turn(matrix: Any, x: Any, y: Any, z: Any) -> Any:
    return (
        matrix[0] * x + matrix[1] * y + matrix[2] * z,
        matrix[3] * x + matrix[4] * y + matrix[5] * z,
        matrix[6] * x + matrix[7] * y + matrix[8] * z,
    )


@compiled
def _brightness(kind: Any, x: Any, y: Any, z: Any, faces: Any, world: Any, half: Any) -> Any:
    """Brightness of a primitive at the point x, y, z of its unit shape."""
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
def _blank(image: Any, y: Any, start: Any, stop: Any) -> None:
    for x in range(start, stop):
        image[y, x, 0], image[y, x, 1], image[y, x, 2] = _NOTHING


@compiled
def _pattern_rows(
    floors: Any, papers: Any, room: Any, index: Any, depths: Any, us: Any, slope: Any, ray: Any, look: Any
) -> None:
    """Brightness of the patterns of the floor and the walls in each pixel of a row; 1 where none of them is shown."""
    _, half, center, pattern, walls, _, _ = look
    on_floor, on_wall = 0, 0
    for x in range(us.shape[0]):
        qx, qy, qz = _at(x, depths, us, ray)
        level = (abs(qz) >= abs(qx)) & (abs(qz) >= abs(qy))
        on_floor += 1 if level & (qz <= _ZERO) & (index[x] == room) else 0
        on_wall += 1 if (not level) & (index[x] == room) else 0
    if pattern != 0 and on_floor > 0:
        _floor_row(floors, pattern, depths, us, slope, ray, half, center)
    else:
        floors[:] = 1.0
    if walls != 0 and on_wall > 0:
        _wall_row(papers, walls, depths, us, ray, half)
    else:
        papers[:] = _ONE


@compiled
def _paint_room_row(
    image: Any, room: Any, index: Any, light: Any, depth: Any, us: Any, slope: Any, ray: Any, look: Any, scratch: Any
) -> None:
    """Paints the pixels of one row [W] that show the room `room`.

    `slope`: of a pixel, from the whole row. The arrays of `scratch`, [W] each, are overwritten. Floors, and products of
    a color and light, are float64."""
    faces, half, _, _, walls, floor, wall = look
    floors, reds, greens, blues, papers, depths = scratch
    count = us.shape[0]
    for x in range(count):
        depths[x] = depth[x] if index[x] == room else _ONE
    _pattern_rows(floors, papers, room, index, depths, us, slope, ray, look)
    panel = np.float32(0.0)
    low = floor
    if walls == 2:
        panel = _DADO
    elif walls == 3:
        panel, low = _BOARDS, _PANEL
    h0, h1, h2 = half
    for x in range(count):
        qx, qy, qz = _at(x, depths, us, ray)
        ax, ay, az = abs(qx), abs(qy), abs(qz)
        level = (az >= ax) & (az >= ay)
        ground = np.float64(faces[5] * _corner(min((_ONE - ax) * h0, (_ONE - ay) * h1))) * floors[x]
        east = ax >= ay
        one = faces[0] if qx > _ZERO else faces[1]
        other = faces[2] if qy > _ZERO else faces[3]
        along = (_ONE - ay) * h1 if east else (_ONE - ax) * h0
        height = (qz + _ONE) * h2
        bare = (one if east else other) * _corner(min(along, height))
        skirting = height < np.float32(0.09)
        shade = bare if skirting else bare * papers[x]
        red = _SKIRTING[0] if skirting else (low[0] if height < panel else wall[0])
        green = _SKIRTING[1] if skirting else (low[1] if height < panel else wall[1])
        blue = _SKIRTING[2] if skirting else (low[2] if height < panel else wall[2])
        above = qz > _ZERO
        r = np.float64(red * shade)
        g = np.float64(green * shade)
        b = np.float64(blue * shade)
        r = (np.float64(_CEILING[0]) if above else floor[0] * ground) if level else r
        g = (np.float64(_CEILING[1]) if above else floor[1] * ground) if level else g
        b = (np.float64(_CEILING[2]) if above else floor[2] * ground) if level else b
        bright = np.float64(light[x])
        reds[x] = min(r * bright, 255.0) + np.float64(np.float32(0.499))
        greens[x] = min(g * bright, 255.0) + np.float64(np.float32(0.499))
        blues[x] = min(b * bright, 255.0) + np.float64(np.float32(0.499))
    for x in range(count):
        if index[x] == room:
            image[x, 0], image[x, 1], image[x, 2] = np.uint8(reds[x]), np.uint8(greens[x]), np.uint8(blues[x])


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


@inlined
def _in_unit_frame(m: Any, c: Any, v: Any, rays: Any) -> Any:
    """The rays of the row with slope `v` as o + t (d + u e), in the frame of the inverse `m` around the center `c`."""
    eye, f, r, w = rays
    o = _turn(m, eye[0] - c[0], eye[1] - c[1], eye[2] - c[2])
    return o, _turn(m, f[0] + v * w[0], f[1] + v * w[1], f[2] + v * w[2]), _turn(m, r[0], r[1], r[2])


@compiled
def paint(
    image: NDArray[np.uint8],
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
    """Fills `image` [H, W, 3].

    Args:
        light: [H, W], as `shade` fills it. faces: [P, 6], scratch.
        depth, index: [H, W], as `cast` fills them.
        parts, primitives, rays: the fields of `RenderPrimitives`, `PlacedPrimitives` and `Rays`.
        patterns, papers: [R], of the rooms' floors and of their walls. walls: [R, 3], the rooms' wall colors.
    """
    kinds, centers, _, world, inverses, _, _ = primitives
    _, _, _, _, halves, _, colors, _, _ = parts
    eye, basis, _, us, vs = rays
    axes = (eye, _three(basis, 0), _three(basis, 1), _three(basis, 2))
    rooms, width = patterns.shape[0], image.shape[1]
    slope = us[1] - us[0]
    wide, narrow = np.empty((4, width), np.float64), np.empty((2, width), np.float32)
    spans = np.empty((rooms, 2), np.int32)  # of each room: the first column that shows it in a row, and the last + 1
    _light_faces(faces, kinds, world)
    for y in range(image.shape[0]):
        stop = 0
        spans[:, 0], spans[:, 1] = width, 0
        while stop < width:
            start, p = stop, index[y, stop]
            while stop < width and index[y, stop] == p:
                stop += 1
            if p < 0:
                _blank(image, y, start, stop)
                continue
            if p < rooms:
                spans[p, 0], spans[p, 1] = min(spans[p, 0], start), stop
                continue
            o, d, e = _in_unit_frame(_nine(inverses, p), _three(centers, p), vs[y], axes)
            part = (kinds[p], _six(faces, p), _nine(world, p), _three(halves, p), _three(colors, p))
            _paint_part(image, light, depth, us, y, start, stop, o, d, e, part)
        for p in range(rooms):
            start, stop = spans[p, 0], spans[p, 1]
            if stop <= start:
                continue
            c = _three(centers, p)
            ray = _in_unit_frame(_nine(inverses, p), c, vs[y], axes)
            look = (_six(faces, p), _three(halves, p), c, patterns[p], papers[p], _three(colors, p), _three(walls, p))
            row = (image[y, start:stop], p, index[y, start:stop], light[y, start:stop], depth[y, start:stop])
            count = stop - start
            colors_of_row = (wide[1, :count], wide[2, :count], wide[3, :count])
            scratch = (wide[0, :count], *colors_of_row, narrow[0, :count], narrow[1, :count])
            _paint_room_row(*row, us[start:stop], slope, ray, look, scratch)


@compiled
def halve(out: NDArray[np.uint8], image: NDArray[np.uint8]) -> None:
    """Averages 2 x 2 pixels: out [H, W, 3] from image [2H, 2W, 3]."""
    for y in range(out.shape[0]):
        for x in range(out.shape[1]):
            for k in range(3):
                total = np.int32(image[2 * y, 2 * x, k]) + np.int32(image[2 * y, 2 * x + 1, k])
                total += np.int32(image[2 * y + 1, 2 * x, k]) + np.int32(image[2 * y + 1, 2 * x + 1, k])
                out[y, x, k] = (total + 2) >> 2
