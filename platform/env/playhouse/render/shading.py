"""Numba shader of things, avatars and background. It also computes the brightness of the sides of rooms."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from interplay.env.arrays import Float32Array, Int32Array
from interplay.env.compiled import compiled, inlined
from interplay.env.playhouse.render.raycast import BOX, CONE, CYLINDER, SHADOW

# Lights are fixed to the house, so that a face keeps its brightness when the viewer turns: a high window, and a fill
# light from the other side.
_WINDOW = tuple(np.float32(x) for x in (0.48, 0.30, 0.82))
_FILL = tuple(np.float32(x) for x in (-0.66, -0.60, 0.45))
_AMBIENT, _WINDOW_SHARE, _FILL_SHARE = np.float32(0.64), np.float32(0.35), np.float32(0.12)
_NOTHING = (np.float32(206.0), np.float32(208.0), np.float32(212.0))
_ZERO, _ONE = np.float32(0.0), np.float32(1.0)
_NEARLY_HALF = np.float32(0.499)  # added before a color is cut to an integer


@inlined
def _light(x: Any, y: Any, z: Any) -> Any:
    """Brightness of a white surface with this unit normal; wrapped diffuse light, so that no face is black."""
    window = (_WINDOW[0] * x + _WINDOW[1] * y + _WINDOW[2] * z + np.float32(0.35)) / np.float32(1.35)
    fill = _FILL[0] * x + _FILL[1] * y + _FILL[2] * z
    return _AMBIENT + _WINDOW_SHARE * max(window, _ZERO) + _FILL_SHARE * max(fill, _ZERO)


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
def _byte(x: Any) -> Any:
    return np.uint8(min(x, np.float32(255.0)) + _NEARLY_HALF)


@inlined
def _three(table: Any, row: Any) -> Any:
    return table[row, 0], table[row, 1], table[row, 2]


@inlined
def _six(table: Any, p: Any) -> Any:
    return table[p, 0], table[p, 1], table[p, 2], table[p, 3], table[p, 4], table[p, 5]


@inlined
def _nine(table: Any, p: Any) -> Any:
    one, two, three = table[p, 0], table[p, 1], table[p, 2]
    return one, two, three, table[p, 3], table[p, 4], table[p, 5], table[p, 6], table[p, 7], table[p, 8]


@compiled
def _blank(image: Any, y: Any, start: Any, stop: Any) -> None:
    for x in range(start, stop):
        image[y, x, 0], image[y, x, 1], image[y, x, 2] = _NOTHING


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
def _paint_parts(
    image: Any, light: Any, faces: Any, depth: Any, index: Any, parts: Any, primitives: Any, rooms: int, rays: Any
) -> None:
    kinds, centers, _, world, inverses, _, _ = primitives
    _, _, _, _, halves, _, colors, _, _ = parts
    eye, basis, _, us, vs = rays
    axes = (eye, _three(basis, 0), _three(basis, 1), _three(basis, 2))
    width = image.shape[1]
    _light_faces(faces, kinds, world)
    for y in range(image.shape[0]):
        stop = 0
        while stop < width:
            start, p = stop, index[y, stop]
            while stop < width and index[y, stop] == p:
                stop += 1
            if p < 0:
                _blank(image, y, start, stop)
            elif p >= rooms:
                o, d, e = _in_unit_frame(_nine(inverses, p), _three(centers, p), vs[y], axes)
                part = (kinds[p], _six(faces, p), _nine(world, p), _three(halves, p), _three(colors, p))
                _paint_part(image, light, depth, us, y, start, stop, o, d, e, part)


@compiled
def paint_parts(
    images: NDArray[np.uint8],
    light: Float32Array,
    faces: Float32Array,
    depth: Float32Array,
    index: Int32Array,
    parts: Any,
    primitives: Any,
    rooms: int,
    rays: Any,
) -> None:
    """Fills the pixels of `images` [n, H, W, 3] that show no room, and `faces` [n, P, 6], the brightness of all sides.

    Args:
        light: [n, H, W], as `shade` fills it.
        depth, index: [n, H, W], as `cast` fills them.
        parts, primitives, rays: the fields of `RenderPrimitives`, `PlacedPrimitives` and `Rays`.
        rooms: how many of the first primitives are rooms.
    """
    for n in range(images.shape[0]):
        placed, seen = _in_picture(n, primitives), _rays_of(n, rays)
        _paint_parts(images[n], light[n], faces[n], depth[n], index[n], parts, placed, rooms, seen)


@compiled
def halve(out: NDArray[np.uint8], images: NDArray[np.uint8]) -> None:
    """Averages 2 x 2 pixels: out [n, H, W, 3] from images [n, 2H, 2W, 3]."""
    for n in range(out.shape[0]):
        image = images[n]
        for y in range(out.shape[1]):
            for x in range(out.shape[2]):
                for k in range(3):
                    total = np.int32(image[2 * y, 2 * x, k]) + np.int32(image[2 * y, 2 * x + 1, k])
                    total += np.int32(image[2 * y + 1, 2 * x, k]) + np.int32(image[2 * y + 1, 2 * x + 1, k])
                    out[n, y, x, k] = (total + 2) >> 2
