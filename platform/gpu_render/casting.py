"""Depths at which rays hit the unit shapes, and the loops over a view's primitives; see
`platform/env/playhouse/render/raycast.py`, which these transcribe.

A ray is o + t d in the unit frame, and t its depth along the gaze. Depths are inf where nothing is hit.
"""

from __future__ import annotations

import triton.language as tl

from interplay.gpu_render.compiled_kernel import kernel
from interplay.gpu_render.kernel_constants import (
    BOX,
    COLUMNS,
    CONE,
    CYLINDER,
    ELLIPSOID,
    EYE_IN,
    FIRST_OPENING,
    FORWARD_IN,
    INFINITY,
    KIND,
    LAST_OPENING,
    NAME,
    OPENING_COLUMNS,
    PLACED_COLUMNS,
    RIGHT_IN,
    UP_IN,
    WALL_FIRST,
)
from interplay.gpu_render.rotations import load_three


@kernel
def _slab(origin: tl.tensor, direction: tl.tensor) -> tl.tuple:
    inverse = tl.div_rn(1.0, direction)
    one, other = (-1.0 - origin) * inverse, (1.0 - origin) * inverse
    nearer = one < other
    return tl.where(nearer, one, other), tl.where(nearer, other, one)


@kernel
def _box_span(o: tl.tuple, d: tl.tuple) -> tl.tuple:
    ax, bx = _slab(o[0], d[0])
    ay, by = _slab(o[1], d[1])
    az, bz = _slab(o[2], d[2])
    near, far = tl.where(ax > ay, ax, ay), tl.where(bx < by, bx, by)
    return tl.where(az > near, az, near), tl.where(bz < far, bz, far)


@kernel
def _box(o: tl.tuple, d: tl.tuple) -> tl.tensor:
    near, far = _box_span(o, d)
    return tl.where((near <= far) & (near > 0.0), near, INFINITY)


@kernel
def _ellipsoid(o: tl.tuple, d: tl.tuple) -> tl.tensor:
    ox, oy, oz = o
    dx, dy, dz = d
    a = dx * dx + dy * dy + dz * dz
    b = ox * dx + oy * dy + oz * dz
    cx, cy, cz = oy * dz - oz * dy, oz * dx - ox * dz, ox * dy - oy * dx
    disc = a - (cx * cx + cy * cy + cz * cz)
    t = tl.div_rn(-b - tl.sqrt_rn(tl.where(disc > 0.0, disc, 0.0)), a)
    return tl.where((disc > 0.0) & (t > 0.0), t, INFINITY)


@kernel
def _cylinder(o: tl.tuple, d: tl.tuple) -> tl.tensor:
    ox, oy, oz = o
    dx, dy, dz = d
    a = dx * dx + dy * dy + 1e-20
    b = ox * dx + oy * dy
    cross = ox * dy - oy * dx
    disc = a - cross * cross
    root = tl.sqrt_rn(tl.where(disc > 0.0, disc, 0.0))
    inverse = tl.div_rn(1.0, a)
    near, far = (-b - root) * inverse, (-b + root) * inverse
    az, bz = _slab(oz, dz)
    near, far = tl.where(az > near, az, near), tl.where(bz < far, bz, far)
    return tl.where((disc > 0.0) & (near <= far) & (near > 0.0), near, INFINITY)


@kernel
def _cone(o: tl.tuple, d: tl.tuple) -> tl.tensor:
    ox, oy, oz = o[0], o[1], o[2] - 1.0
    dx, dy, dz = d
    a = dx * dx + dy * dy - 0.25 * dz * dz
    b = ox * dx + oy * dy - 0.25 * oz * dz
    xy, xz, yz = ox * dy - oy * dx, ox * dz - oz * dx, oy * dz - oz * dy
    disc = 0.25 * (xz * xz + yz * yz) - xy * xy
    root = tl.sqrt_rn(tl.where(disc > 0.0, disc, 0.0))
    inverse = tl.div_rn(1.0, a)
    one, other = (-b - root) * inverse, (-b + root) * inverse
    z_one, z_other = oz + one * dz, oz + other * dz
    base = tl.div_rn(-2.0 - oz, dz)
    bx, by = ox + base * dx, oy + base * dy
    one = tl.where((disc > 0.0) & (z_one <= 0.0) & (z_one >= -2.0) & (one > 0.0), one, INFINITY)
    other = tl.where((disc > 0.0) & (z_other <= 0.0) & (z_other >= -2.0) & (other > 0.0), other, INFINITY)
    base = tl.where((bx * bx + by * by <= 1.0) & (base > 0.0), base, INFINITY)
    t = tl.where(one < other, one, other)
    return tl.where(base < t, base, t)


@kernel
def _room(o: tl.tuple, d: tl.tuple, openings: tl.tensor, first: tl.tensor, last: tl.tensor) -> tl.tensor:
    """The far side of the unit box from within; an opening is (axis, side, low, high, top)."""
    near, far = _box_span(o, d)
    t = tl.where((near <= far) & (far > 0.0), far, INFINITY)
    for number in range(first, last):
        opening = openings + number * OPENING_COLUMNS
        is_x = tl.load(opening) == 0.0
        side, low = tl.load(opening + 1), tl.load(opening + 2)
        high, top = tl.load(opening + 3), tl.load(opening + 4)
        x, y = o[0] + t * d[0], o[1] + t * d[1]
        wall, across = tl.where(is_x, x, y) * side, tl.where(is_x, y, x)
        height = o[2] + t * d[2]
        t = tl.where((wall > 0.9999) & (across > low) & (across < high) & (height < top), INFINITY, t)
    return t * WALL_FIRST


@kernel
def _touches(corner: tl.tensor, left: tl.tensor, top: tl.tensor, WIDE: tl.constexpr, TALL: tl.constexpr) -> tl.tensor:
    """Whether a rectangle x0, x1, y0, y1 has a pixel in this tile."""
    x0, x1, y0, y1 = tl.load(corner), tl.load(corner + 1), tl.load(corner + 2), tl.load(corner + 3)
    return (x0 < x1) & (y0 < y1) & (x0 < left + WIDE) & (x1 > left) & (y0 < top + TALL) & (y1 > top)


@kernel
def cast(
    parts: tl.tensor,
    placed: tl.tensor,
    rectangles: tl.tensor,
    openings: tl.tensor,
    count: tl.tensor,
    u: tl.tensor,
    v: tl.tensor,
    left: tl.tensor,
    top: tl.tensor,
    WIDE: tl.constexpr,
    TALL: tl.constexpr,
) -> tl.tuple:
    """Depth, inf where nothing is hit, and number of the primitive, or -1, in each pixel of a tile.

    Args:
        parts, placed, rectangles: first row of the view's house, of its placed primitives and of their rectangles.
        count: primitives before the shadows.
        u, v: slopes of the pixels, to the right and upwards.
        left, top: of the tile, in pixels.
    """
    depth, index = tl.full(u.shape, INFINITY, tl.float32), tl.full(u.shape, -1, tl.int32)
    for number in range(count):
        if _touches(rectangles + number * 4, left, top, WIDE, TALL):
            part, at = parts + number * COLUMNS, placed + number * PLACED_COLUMNS
            kind = tl.load(part + KIND).to(tl.int32)
            o, f = load_three(at + EYE_IN, True), load_three(at + FORWARD_IN, True)
            r, w = load_three(at + RIGHT_IN, True), load_three(at + UP_IN, True)
            d = f[0] + v * w[0] + u * r[0], f[1] + v * w[1] + u * r[1], f[2] + v * w[2] + u * r[2]
            t = depth
            if kind == BOX:
                t = _box(o, d)
            elif kind == ELLIPSOID:
                t = _ellipsoid(o, d)
            elif kind == CYLINDER:
                t = _cylinder(o, d)
            elif kind == CONE:
                t = _cone(o, d)
            else:
                first = tl.load(part + FIRST_OPENING).to(tl.int32)
                t = _room(o, d, openings, first, tl.load(part + LAST_OPENING).to(tl.int32))
            hit = t < depth
            depth, index = tl.where(hit, t, depth), tl.where(hit, number, index)
    return depth, index


@kernel
def darken(
    parts: tl.tensor,
    placed: tl.tensor,
    rectangles: tl.tensor,
    first: tl.tensor,
    last: tl.tensor,
    u: tl.tensor,
    v: tl.tensor,
    depth: tl.tensor,
    index: tl.tensor,
    left: tl.tensor,
    top: tl.tensor,
    WIDE: tl.constexpr,
    TALL: tl.constexpr,
) -> tl.tensor:
    """Brightness of each pixel: 1, and less in the shadow beneath a thing. `first` to `last`: the shadows' numbers."""
    light = tl.full(u.shape, 1.0, tl.float32)
    shown = tl.load(parts + tl.where(index >= 0, index, 0) * COLUMNS + NAME)
    for number in range(first, last):
        if _touches(rectangles + number * 4, left, top, WIDE, TALL):
            at = placed + number * PLACED_COLUMNS
            o, f = load_three(at + EYE_IN, True), load_three(at + FORWARD_IN, True)
            r, w = load_three(at + RIGHT_IN, True), load_three(at + UP_IN, True)
            a = tl.abs(o[0] + depth * (f[0] + u * r[0] + v * w[0]))
            b = tl.abs(o[1] + depth * (f[1] + u * r[1] + v * w[1]))
            c = o[2] + depth * (f[2] + u * r[2] + v * w[2])
            foreign = (index >= 0) & (shown != tl.load(parts + number * COLUMNS + NAME))
            within = foreign & (a < 1.0) & (b < 1.0) & (c >= -1.0) & (c <= 1.0)
            a, b = tl.maximum(a - 0.5, 0.0), tl.maximum(b - 0.5, 0.0)
            edge = 1.0 - (a * a + b * b) * 4.0
            darker = light * (1.0 - 0.42 * edge * (0.65 + 0.35 * c))
            light = tl.where(within & (edge > 0.0), darker, light)
    return light
