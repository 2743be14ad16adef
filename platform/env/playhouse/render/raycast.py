"""Numba ray-caster: renders placed primitives into a depth buffer and an index buffer, and finds from these what each
pixel shows and the shadows beneath things.

Every primitive is an affine image of a unit shape: the box [-1, 1]^3, the ball, the cylinder x^2 + y^2 <= 1, |z| <= 1,
or the cone with its apex at z = 1 and the unit disc as its base at z = -1. In the unit frame a ray is
``origin + t * direction``; the world direction has a forward component of 1, so t is the depth along the gaze and
comparable between primitives. Each primitive is cast only inside its screen rectangle, row by row and without
branches, so that LLVM vectorizes the rows; as in `room_shading.py`, they get whole arrays and unsigned bounds.
Discriminants are computed from cross products (Lagrange's identity), because b^2 - ac in float32 loses thin shapes a
few meters away.

A room is a box seen from inside: rays hit its far side, except through the openings of its doorways.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from interplay.env.arrays import Float32Array, Int32Array
from interplay.env.compiled import compiled, inlined

BOX, ELLIPSOID, CYLINDER, CONE, ROOM, SHADOW = 0, 1, 2, 3, 4, 5
PRIMITIVE_KINDS = {"box": BOX, "ellipsoid": ELLIPSOID, "cylinder": CYLINDER, "cone": CONE}

_ZERO, _ONE, _TWO = np.float32(0.0), np.float32(1.0), np.float32(2.0)
_QUARTER, _HALF = np.float32(0.25), np.float32(0.5)
_TINY = np.float32(1e-20)
_FAR = np.float32(np.inf)
_WALL_FIRST = np.float32(1.0 - 1e-5)


class PlacedPrimitives(NamedTuple):
    """P primitives as they stand in the world at the moments of n pictures: rooms, parts, shadows. Matrices are
    row-major.

    Compiled functions take the fields as a plain tuple: their cache could not be read once this class was renamed.
    """

    kinds: Int32Array  # [P], one of BOX, ELLIPSOID, CYLINDER, CONE, ROOM, SHADOW
    centers: Float32Array  # [n, P, 3], world coordinates
    radii: Float32Array  # [n, P], of bounding balls
    world: Float32Array  # [n, P, 9], rotation from the part's frame to the world's
    inverses: Float32Array  # [n, P, 9], world offset to unit frame
    axes: Float32Array  # [n, P, 9], columns are the half-axes in meters
    rectangles: Int32Array  # [n, P, 4], x0, x1, y0, y1 in pixels, ends excluded; empty where x1 <= x0: not visible


class Rays(NamedTuple):
    """Rays of n pictures of one size, one per pixel."""

    cameras: Float32Array  # [n, 4, 3], rows eye, forward, right, up
    slope: np.float32  # of one pixel: distance between neighboring rays per meter forward
    us: Float32Array  # [W], slopes of the columns
    vs: Float32Array  # [H], slopes of the rows


@inlined
def _slab(origin: Any, direction: Any) -> Any:
    """The depths at which a ray enters and leaves |x| <= 1."""
    inverse = _ONE / direction
    one = (-_ONE - origin) * inverse
    other = (_ONE - origin) * inverse
    return (one, other) if one < other else (other, one)


@inlined
def _box_span(o: Any, d: Any, r: Any, u: Any) -> Any:
    """The depths at which the ray of column slope `u` enters and leaves the unit box; it misses if near > far."""
    ax, bx = _slab(o[0], d[0] + u * r[0])
    ay, by = _slab(o[1], d[1] + u * r[1])
    az, bz = _slab(o[2], d[2] + u * r[2])
    near = ax if ax > ay else ay
    near = az if az > near else near
    far = bx if bx < by else by
    far = bz if bz < far else far
    return near, far


@compiled
def _box_row(depth: Any, index: Any, me: Any, us: Any, at: Any, o: Any, d: Any, r: Any) -> None:
    y, start, stop = at
    for k in range(start, stop):
        near, far = _box_span(o, d, r, us[k])
        hit = (near <= far) & (near > _ZERO) & (near < depth[y, k])
        depth[y, k] = near if hit else depth[y, k]
        index[y, k] = me if hit else index[y, k]


@compiled
def _ellipsoid_row(depth: Any, index: Any, me: Any, us: Any, at: Any, o: Any, d: Any, r: Any) -> None:
    y, start, stop = at
    ox, oy, oz = o
    for k in range(start, stop):
        u = us[k]
        dx, dy, dz = d[0] + u * r[0], d[1] + u * r[1], d[2] + u * r[2]
        a = dx * dx + dy * dy + dz * dz
        b = ox * dx + oy * dy + oz * dz
        cx, cy, cz = oy * dz - oz * dy, oz * dx - ox * dz, ox * dy - oy * dx
        disc = a - (cx * cx + cy * cy + cz * cz)
        t = (-b - np.sqrt(disc if disc > _ZERO else _ZERO)) / a
        hit = (disc > _ZERO) & (t > _ZERO) & (t < depth[y, k])
        depth[y, k] = t if hit else depth[y, k]
        index[y, k] = me if hit else index[y, k]


@compiled
def _cylinder_row(depth: Any, index: Any, me: Any, us: Any, at: Any, o: Any, d: Any, r: Any) -> None:
    y, start, stop = at
    ox, oy, oz = o
    for k in range(start, stop):
        u = us[k]
        dx, dy, dz = d[0] + u * r[0], d[1] + u * r[1], d[2] + u * r[2]
        a = dx * dx + dy * dy + _TINY
        b = ox * dx + oy * dy
        cross = ox * dy - oy * dx
        disc = a - cross * cross
        root = np.sqrt(disc if disc > _ZERO else _ZERO)
        inverse = _ONE / a
        near, far = (-b - root) * inverse, (-b + root) * inverse
        az, bz = _slab(oz, dz)
        near = az if az > near else near
        far = bz if bz < far else far
        hit = (disc > _ZERO) & (near <= far) & (near > _ZERO) & (near < depth[y, k])
        depth[y, k] = near if hit else depth[y, k]
        index[y, k] = me if hit else index[y, k]


@compiled
def _cone_row(depth: Any, index: Any, me: Any, us: Any, at: Any, o: Any, d: Any, r: Any) -> None:
    """The cone x^2 + y^2 = (1 - z)^2 / 4 between z = -1 and its apex; coordinates relative to the apex."""
    y, start, stop = at
    ox, oy, oz = o[0], o[1], o[2] - _ONE
    for k in range(start, stop):
        u = us[k]
        dx, dy, dz = d[0] + u * r[0], d[1] + u * r[1], d[2] + u * r[2]
        a = dx * dx + dy * dy - _QUARTER * dz * dz
        b = ox * dx + oy * dy - _QUARTER * oz * dz
        xy, xz, yz = ox * dy - oy * dx, ox * dz - oz * dx, oy * dz - oz * dy
        disc = _QUARTER * (xz * xz + yz * yz) - xy * xy
        root = np.sqrt(disc if disc > _ZERO else _ZERO)
        inverse = _ONE / a
        one, other = (-b - root) * inverse, (-b + root) * inverse
        z_one, z_other = oz + one * dz, oz + other * dz
        base = (-_TWO - oz) / dz
        bx, by = ox + base * dx, oy + base * dy
        one = one if (disc > _ZERO) & (z_one <= _ZERO) & (z_one >= -_TWO) & (one > _ZERO) else _FAR
        other = other if (disc > _ZERO) & (z_other <= _ZERO) & (z_other >= -_TWO) & (other > _ZERO) else _FAR
        base = base if (bx * bx + by * by <= _ONE) & (base > _ZERO) else _FAR
        t = one if one < other else other
        t = base if base < t else t
        hit = t < depth[y, k]
        depth[y, k] = t if hit else depth[y, k]
        index[y, k] = me if hit else index[y, k]


@compiled
def _room_row(
    depth: Any, index: Any, me: Any, us: Any, at: Any, o: Any, d: Any, r: Any, doorways: Any, scratch: Any
) -> None:
    """Hits the far side of the unit box from within; an opening is (axis, side, low, high, top) in the unit frame."""
    y, start, stop = at
    openings, first, last = doorways
    oz = o[2]
    for k in range(start, stop):
        near, far = _box_span(o, d, r, us[k])
        scratch[k] = far if (near <= far) & (far > _ZERO) else _FAR
    for n in range(first, last):
        side, low, high, top = openings[n, 1], openings[n, 2], openings[n, 3], openings[n, 4]
        through, along = ((o[0], d[0], r[0]), (o[1], d[1], r[1]))
        if openings[n, 0] > _ZERO:
            through, along = along, through
        for k in range(start, stop):
            u, t = us[k], scratch[k]
            wall = (through[0] + t * (through[1] + u * through[2])) * side
            across = along[0] + t * (along[1] + u * along[2])
            height = oz + t * (d[2] + u * r[2])
            open_ = (wall > np.float32(0.9999)) & (across > low) & (across < high) & (height < top)
            scratch[k] = _FAR if open_ else t
    for k in range(start, stop):
        # A wall is drawn before coplanar primitives: the lining of a doorway, a thing against the wall.
        t = scratch[k] * _WALL_FIRST
        hit = t < depth[y, k]
        depth[y, k] = t if hit else depth[y, k]
        index[y, k] = me if hit else index[y, k]


@inlined
def _turn(matrix: Any, x: Any, y: Any, z: Any) -> Any:
    return (
        matrix[0] * x + matrix[1] * y + matrix[2] * z,
        matrix[3] * x + matrix[4] * y + matrix[5] * z,
        matrix[6] * x + matrix[7] * y + matrix[8] * z,
    )


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
def _cast(
    primitives: Any,
    openings: Float32Array,
    opening_spans: Int32Array,
    rays: Any,
    scratch: Float32Array,
    depth: Float32Array,
    index: Int32Array,
) -> None:
    kinds, centers, _, _, inverses, _, rectangles = primitives
    eye, basis, _, us, vs = rays
    depth[:] = _FAR
    index[:] = -1
    for p in range(kinds.shape[0]):
        x0, x1, y0, y1 = rectangles[p, 0], rectangles[p, 1], rectangles[p, 2], rectangles[p, 3]
        if x1 <= x0 or y1 <= y0 or kinds[p] == SHADOW:
            continue
        m = inverses[p]
        o = _turn(m, eye[0] - centers[p, 0], eye[1] - centers[p, 1], eye[2] - centers[p, 2])
        f = _turn(m, basis[0, 0], basis[0, 1], basis[0, 2])
        r = _turn(m, basis[1, 0], basis[1, 1], basis[1, 2])
        w = _turn(m, basis[2, 0], basis[2, 1], basis[2, 2])
        me, kind = np.int32(p), kinds[p]
        for y in range(y0, y1):
            v = vs[y]
            d = (f[0] + v * w[0], f[1] + v * w[1], f[2] + v * w[2])
            at = (np.uint64(y), np.uint64(x0), np.uint64(x1))
            if kind == BOX:
                _box_row(depth, index, me, us, at, o, d, r)
            elif kind == ELLIPSOID:
                _ellipsoid_row(depth, index, me, us, at, o, d, r)
            elif kind == CYLINDER:
                _cylinder_row(depth, index, me, us, at, o, d, r)
            elif kind == CONE:
                _cone_row(depth, index, me, us, at, o, d, r)
            else:
                doorways = (openings, opening_spans[p, 0], opening_spans[p, 1])
                _room_row(depth, index, me, us, at, o, d, r, doorways, scratch)


@compiled
def cast(
    primitives: Any,
    openings: Float32Array,
    opening_spans: Int32Array,
    rays: Any,
    scratch: Float32Array,
    depth: Float32Array,
    index: Int32Array,
) -> None:
    """Fills `depth` [n, H, W] (inf where nothing is hit) and `index` [n, H, W] (the primitive's row, or -1).

    `primitives`, `rays`: the fields of `PlacedPrimitives` and of `Rays`. `openings` [O, 5]: doorways in the frame of
    their room's unit box, see `_room_row`; `opening_spans` [P, 2]: first and last row of each room. `scratch` [W] is
    overwritten. Shadows are skipped here and used by `shade` only.
    """
    for n in range(depth.shape[0]):
        placed = _in_picture(n, primitives)
        _cast(placed, openings, opening_spans, _rays_of(n, rays), scratch, depth[n], index[n])


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


@inlined
def _shade(light: Any, ids: Any, depth: Any, index: Any, names: Any, primitives: Any, rays: Any) -> None:
    kinds, centers, _, _, inverses, _, rectangles = primitives
    eye, basis, _, us, vs = rays
    for y in range(ids.shape[0]):
        for x in range(ids.shape[1]):
            ids[y, x] = names[index[y, x]] if index[y, x] >= 0 else np.int16(-1)
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
    """Fills `light` [n, H, W], 1 and less in the shadow beneath a thing, and `ids` [n, H, W], -1 for the background.

    Args:
        depth, index: [n, H, W], as `cast` fills them.
        names: [P], the id of each primitive.
        primitives, rays: the fields of `PlacedPrimitives` and `Rays`.
    """
    for n in range(depth.shape[0]):
        _shade(light[n], ids[n], depth[n], index[n], names, _in_picture(n, primitives), _rays_of(n, rays))
