"""Numba shader: what each pixel shows, and the shadows beneath things."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from interplay.env.arrays import Float32Array, Int32Array
from interplay.env.compiled import compiled, inlined
from interplay.env.playhouse.render.raycast import SHADOW

_ZERO, _HALF, _ONE = np.float32(0.0), np.float32(0.5), np.float32(1.0)


@inlined
def _turn(matrix: Any, x: Any, y: Any, z: Any) -> Any:
    return (
        matrix[0] * x + matrix[1] * y + matrix[2] * z,
        matrix[3] * x + matrix[4] * y + matrix[5] * z,
        matrix[6] * x + matrix[7] * y + matrix[8] * z,
    )


@compiled
def _darken(
    light: Any, depth: Any, index: Any, ids: Any, x0: Any, x1: Any, y0: Any, y1: Any, me: Any, view: Any
) -> None:
    """Multiplies `light` by one shadow box: darkest at its center and directly beneath the thing.

    `ids` [H, W]: what each pixel shows. `view`: eye, directions of forward, right and up, all in the frame of the unit
    box, and us, vs."""
    o, f, r, w, us, vs = view
    for y in range(y0, y1):
        v = vs[y]
        bright, depths, shown, hits = light[y], depth[y], ids[y], index[y]
        for x in range(x0, x1):
            t, u = depths[x], us[x]
            a = abs(o[0] + t * (f[0] + u * r[0] + v * w[0]))
            b = abs(o[1] + t * (f[1] + u * r[1] + v * w[1]))
            c = o[2] + t * (f[2] + u * r[2] + v * w[2])
            within = (hits[x] >= 0) & (shown[x] != me) & (a < _ONE) & (b < _ONE) & (c >= -_ONE) & (c <= _ONE)
            a, b = max(a - _HALF, _ZERO), max(b - _HALF, _ZERO)
            edge = _ONE - (a * a + b * b) * np.float32(4.0)
            darker = bright[x] * (_ONE - np.float32(0.42) * edge * (np.float32(0.65) + np.float32(0.35) * c))
            bright[x] = darker if within & (edge > _ZERO) else bright[x]


@compiled
def _name(ids: Any, index: Any, names: Any) -> None:
    """Fills `ids` [H, W] with the id of the primitive in each pixel; -1 for the background."""
    for y in range(ids.shape[0]):
        for x in range(ids.shape[1]):
            ids[y, x] = names[index[y, x]] if index[y, x] >= 0 else np.int16(-1)


@compiled
def shade(
    light: Float32Array,
    ids: NDArray[np.int16],
    depth: Float32Array,
    index: Int32Array,
    names: NDArray[np.int16],
    primitives: Any,
    rays: Any,
) -> None:
    """Fills `light` [H, W], 1 and less in the shadow beneath a thing, and `ids` [H, W], -1 for the background.

    Args:
        depth, index: [H, W], as `cast` fills them.
        names: [P], the id of each primitive.
        primitives, rays: the fields of `PlacedPrimitives` and `Rays`.
    """
    kinds, centers, _, _, inverses, _, rectangles = primitives
    eye, basis, _, us, vs = rays
    _name(ids, index, names)
    light[:] = _ONE
    for p in range(kinds.shape[0]):
        x0, x1, y0, y1 = rectangles[p, 0], rectangles[p, 1], rectangles[p, 2], rectangles[p, 3]
        if kinds[p] != SHADOW or x1 <= x0 or y1 <= y0:
            continue
        m = inverses[p]
        o = _turn(m, eye[0] - centers[p, 0], eye[1] - centers[p, 1], eye[2] - centers[p, 2])
        f = _turn(m, basis[0, 0], basis[0, 1], basis[0, 2])
        r = _turn(m, basis[1, 0], basis[1, 1], basis[1, 2])
        w = _turn(m, basis[2, 0], basis[2, 1], basis[2, 2])
        _darken(light, depth, index, ids, x0, x1, y0, y1, names[p], (o, f, r, w, us, vs))
