"""From a moment's poses to the screen: transforms to the world coordinates of all primitives, and portal culling.

Culling computes the screen rectangle of each primitive, clipped to the windows through which its room is visible. The
room around the eye fills the screen; each doorway passes the part of the window that it covers on to the next room.
Only primitives that no ray can reach are culled, so culling changes no pixel.

Small arrays are filled number by number: numba compiles each assignment of a slice for about a second.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from interplay.env.arrays import Float32Array, Int32Array
from interplay.env.compiled import compiled, inlined
from interplay.env.playhouse.render.raycast import ROOM


@inlined
def _rotation(out: Any, w: Any, x: Any, y: Any, z: Any) -> None:
    """Rotation matrix [9, row-major] of a unit quaternion."""
    one, two = np.float32(1.0), np.float32(2.0)
    out[0], out[1], out[2] = one - two * (y * y + z * z), two * (x * y - w * z), two * (x * z + w * y)
    out[3], out[4], out[5] = two * (x * y + w * z), one - two * (x * x + z * z), two * (y * z - w * x)
    out[6], out[7], out[8] = two * (x * z - w * y), two * (y * z + w * x), one - two * (x * x + y * y)


@inlined
def _product(out: Any, a: Any, b: Any) -> None:
    """Product of two row-major 3 x 3 matrices."""
    for i in range(3):
        for j in range(3):
            out[3 * i + j] = a[3 * i] * b[j] + a[3 * i + 1] * b[3 + j] + a[3 * i + 2] * b[6 + j]


@compiled
def _place_bodies(
    places: Float32Array,
    turns: Float32Array,
    positions: Float32Array,
    quaternions: Float32Array,
    avatars: Float32Array,
    eye_height: np.float32,
) -> None:
    """Fills `places` [B, 3] and `turns` [B, 9] of all bodies: N things, body and head of each avatar, and finally the
    house itself, which never moves. positions [N, 3], quaternions [N, 4] (w, x, y, z), avatars [2, 4]."""
    things = positions.shape[0]
    half = np.float32(0.5)
    for n in range(things):
        places[n, 0], places[n, 1], places[n, 2] = positions[n, 0], positions[n, 1], positions[n, 2]
        _rotation(turns[n], quaternions[n, 0], quaternions[n, 1], quaternions[n, 2], quaternions[n, 3])
    tilt = np.empty(9, np.float32)
    for role in range(2):
        body, head = things + 2 * role, things + 2 * role + 1
        yaw, pitch = avatars[role, 2], avatars[role, 3]
        zero = np.float32(0.0)
        _rotation(turns[body], np.cos(half * yaw), zero, zero, np.sin(half * yaw))
        _rotation(tilt, np.cos(half * pitch), zero, -np.sin(half * pitch), zero)
        _product(turns[head], turns[body], tilt)
        places[body, 0], places[body, 1], places[body, 2] = avatars[role, 0], avatars[role, 1], zero
        places[head, 0], places[head, 1], places[head, 2] = avatars[role, 0], avatars[role, 1], eye_height


@compiled
def _place_parts(parts: Any, places: Float32Array, turns: Float32Array, primitives: Any) -> None:
    """Fills the tables of the ray-caster and the shader for all but the shadows.

    `places`, `turns`: of the bodies that own the parts, as `_place_bodies` fills them.
    """
    _, owners, offsets, rotations, halves, bounds, _, _, extents = parts
    _, centers, radii, world, inverses, axes, _ = primitives
    for p in range(owners.shape[0] - extents.shape[0]):
        radii[p] = bounds[p]
        turn, place, at = turns[owners[p]], places[owners[p]], offsets[p]
        _product(world[p], turn, rotations[p])
        for i in range(3):
            centers[p, i] = place[i] + turn[3 * i] * at[0] + turn[3 * i + 1] * at[1] + turn[3 * i + 2] * at[2]
        for j in range(3):
            half = halves[p, j]
            x, y, z = world[p, j], world[p, 3 + j], world[p, 6 + j]
            inverses[p, 3 * j], inverses[p, 3 * j + 1], inverses[p, 3 * j + 2] = x / half, y / half, z / half
            axes[p, j], axes[p, 3 + j], axes[p, 6 + j] = x * half, y * half, z * half


@compiled
def _place_shadows(parts: Any, places: Float32Array, turns: Float32Array, primitives: Any) -> None:
    """Fills the shadow boxes under things: upright boxes from a thing's lowest point to the floor, at most 1.2 m deep,
    with the thing's yaw if it stands upright. Arguments as in `_place_parts`."""
    _, owners, _, _, _, _, _, _, extents = parts
    _, centers, radii, _, inverses, axes, _ = primitives
    first = owners.shape[0] - extents.shape[0]
    zero, half = np.float32(0.0), np.float32(0.5)
    for n in range(extents.shape[0]):
        s = first + n
        turn, place, extent = turns[owners[s]], places[owners[s]], extents[n]
        x = abs(turn[0]) * extent[0] + abs(turn[1]) * extent[1] + abs(turn[2]) * extent[2]
        y = abs(turn[3]) * extent[0] + abs(turn[4]) * extent[1] + abs(turn[5]) * extent[2]
        z = abs(turn[6]) * extent[0] + abs(turn[7]) * extent[1] + abs(turn[8]) * extent[2]
        cos, sin = np.float32(1.0), zero
        if turn[8] > np.float32(0.99):
            x, y, cos, sin = extent[0], extent[1], turn[0], turn[3]
        bottom = max(place[2] - z, zero)
        deep = min(bottom, np.float32(1.2)) * half + np.float32(0.02)
        x, y = x * np.float32(1.25), y * np.float32(1.25)
        centers[s, 0], centers[s, 1], centers[s, 2] = place[0], place[1], bottom + np.float32(0.02) - deep
        for i in range(9):
            inverses[s, i], axes[s, i] = zero, zero
        inverses[s, 0], inverses[s, 1] = cos / x, sin / x
        inverses[s, 3], inverses[s, 4] = -sin / y, cos / y
        inverses[s, 8] = np.float32(1.0) / deep
        axes[s, 0], axes[s, 3] = cos * x, sin * x
        axes[s, 1], axes[s, 4] = -sin * y, cos * y
        axes[s, 8] = deep
        radii[s] = np.sqrt(x * x + y * y + deep * deep)


@inlined
def _in_picture(n: Any, primitives: Any) -> Any:
    """The fields of `PlacedPrimitives` in one of several pictures."""
    kinds, centers, radii, world, inverses, axes, rectangles = primitives
    return kinds, centers[n], radii[n], world[n], inverses[n], axes[n], rectangles[n]


@compiled
def place(
    parts: Any,
    positions: Float32Array,
    quaternions: Float32Array,
    avatars: Float32Array,
    eye_height: np.float32,
    places: Float32Array,
    turns: Float32Array,
    primitives: Any,
) -> None:
    """Places all primitives of n pictures from the poses of their moments [n, ...], as in `_place_bodies`.

    `places`, `turns`: scratch, as in `_place_bodies`. `parts`, `primitives`: the fields of `RenderPrimitives` and of
    `PlacedPrimitives`.
    """
    for n in range(positions.shape[0]):
        placed = _in_picture(n, primitives)
        _place_bodies(places, turns, positions[n], quaternions[n], avatars[n], eye_height)
        _place_parts(parts, places, turns, placed)
        _place_shadows(parts, places, turns, placed)


@inlined
def _rays_of(n: Any, rays: Any) -> Any:
    """The rays of one of several pictures: eye, basis, slope of a pixel, slopes of columns and rows."""
    cameras, slope, us, vs = rays
    return cameras[n, 0], cameras[n, 1:], slope, us, vs


_NEAR = np.float32(0.005)  # near plane, meters
_SLACK = np.float32(0.06)  # meters: a room's share of the wall around it, plus a margin


@inlined
def _set(out: Any, a: Any) -> None:
    out[0], out[1], out[2], out[3] = a[0], a[1], a[2], a[3]


@inlined
def _clear(out: Any) -> None:
    out[0], out[1], out[2], out[3] = 0, 0, 0, 0


@inlined
def _overlap(out: Any, a: Any, b: Any) -> None:
    out[0], out[1] = max(a[0], b[0]), min(a[1], b[1])
    out[2], out[3] = max(a[2], b[2]), min(a[3], b[3])


@inlined
def _include(out: Any, a: Any) -> None:
    """Grows `out` to include `a`; empty rectangles are ignored."""
    if a[1] <= a[0] or a[3] <= a[2]:
        return
    if out[1] <= out[0] or out[3] <= out[2]:
        _set(out, a)
        return
    out[0], out[1] = min(out[0], a[0]), max(out[1], a[1])
    out[2], out[3] = min(out[2], a[2]), max(out[3], a[3])


@compiled
def _project(out: Any, corners: Any, scale: Any, height: Any, width: Any) -> None:
    """The screen rectangle of a box whose `corners` [8, 3] are given as depth, right, up from the eye.

    Corner c differs from corner c ^ 1, c ^ 2 and c ^ 4 by one edge. Edges through the near plane are cut there."""
    low_u = low_v = np.float32(1e9)
    high_u = high_v = np.float32(-1e9)
    for c in range(8):
        depth = corners[c, 0]
        if depth >= _NEAR:
            u, v = corners[c, 1] / depth, corners[c, 2] / depth
            low_u, high_u = min(low_u, u), max(high_u, u)
            low_v, high_v = min(low_v, v), max(high_v, v)
            continue
        for bit in (1, 2, 4):
            other = c ^ bit
            beyond = corners[other, 0]
            if beyond >= _NEAR:
                share = (_NEAR - depth) / (beyond - depth)
                u = (corners[c, 1] + share * (corners[other, 1] - corners[c, 1])) / _NEAR
                v = (corners[c, 2] + share * (corners[other, 2] - corners[c, 2])) / _NEAR
                low_u, high_u = min(low_u, u), max(high_u, u)
                low_v, high_v = min(low_v, v), max(high_v, v)
    _clear(out)
    if low_u > high_u:
        return
    # Whole pixels, with one extra on each side for float32 rounding.
    out[0] = max(0, int(max(low_u / scale, np.float32(-1e6)) + width * np.float32(0.5)) - 1)
    out[1] = min(width, int(min(high_u / scale, np.float32(1e6)) + width * np.float32(0.5)) + 2)
    out[2] = max(0, int(height * np.float32(0.5) - min(high_v / scale, np.float32(1e6))) - 1)
    out[3] = min(height, int(height * np.float32(0.5) - max(low_v / scale, np.float32(-1e6))) + 2)


@compiled
def _corners(out: Any, center: Any, axes: Any, eye: Any, basis: Any) -> None:
    """The eight corners of center +- the columns of `axes` [9, row-major], as depth, right, up from the eye."""
    for k in range(3):
        b0, b1, b2 = basis[k, 0], basis[k, 1], basis[k, 2]
        middle = b0 * (center[0] - eye[0]) + b1 * (center[1] - eye[1]) + b2 * (center[2] - eye[2])
        x = b0 * axes[0] + b1 * axes[3] + b2 * axes[6]
        y = b0 * axes[1] + b1 * axes[4] + b2 * axes[7]
        z = b0 * axes[2] + b1 * axes[5] + b2 * axes[8]
        for c in range(8):
            out[c, k] = middle + (x if c & 1 else -x) + (y if c & 2 else -y) + (z if c & 4 else -z)


@inlined
def _touches(center: Any, radius: Any, room: Any) -> Any:
    """Whether a ball touches a room [low x, low y, high x, high y]."""
    reach = radius + _SLACK
    return (
        (center[0] > room[0] - reach)
        & (center[0] < room[2] + reach)
        & (center[1] > room[1] - reach)
        & (center[1] < room[3] + reach)
    )


@compiled
def _windows(
    windows: Any, rooms: Any, ceiling: Any, doors: Any, door_rooms: Any, eye: Any, basis: Any, scale: Any, whole: Any
) -> None:
    """Fills `windows` [R, 4]: the part of the screen in which each room is visible."""
    inside = False
    for room in range(rooms.shape[0]):
        if _touches(eye, np.float32(0.0), rooms[room]) and np.float32(0.0) < eye[2] < ceiling:
            _set(windows[room], whole)
            inside = True
        else:
            _clear(windows[room])
    if not inside:
        for room in range(rooms.shape[0]):
            _set(windows[room], whole)
        return
    corners = np.empty((8, 3), np.float32)
    axes = np.zeros(9, np.float32)
    portals = np.empty((doors.shape[0], 4), np.int32)
    for door in range(doors.shape[0]):
        axes[0], axes[4], axes[8] = doors[door, 3], doors[door, 4], doors[door, 5]
        _corners(corners, doors[door, :3], axes, eye, basis)
        _project(portals[door], corners, scale, whole[3], whole[1])
    seen = np.empty(4, np.int32)
    for _ in range(rooms.shape[0]):
        for door in range(doors.shape[0]):
            one, other = door_rooms[door, 0], door_rooms[door, 1]
            _overlap(seen, windows[one], portals[door])
            _include(windows[other], seen)
            _overlap(seen, windows[other], portals[door])
            _include(windows[one], seen)


@inlined
def _cull(
    primitives: Any,
    hidden: Any,
    rooms: Float32Array,
    ceiling: np.float32,
    doors: Float32Array,
    door_rooms: Int32Array,
    rays: Any,
    portals: bool,
) -> None:
    kinds, centers, radii, _, _, axes, rectangles = primitives
    eye, basis, scale, us, vs = rays
    height, width = vs.shape[0], us.shape[0]
    whole = np.empty(4, np.int32)
    whole[0], whole[1], whole[2], whole[3] = 0, width, 0, height
    windows = np.empty((rooms.shape[0], 4), np.int32)
    if portals:
        _windows(windows, rooms, ceiling, doors, door_rooms, eye, basis, scale, whole)
    else:
        for room in range(rooms.shape[0]):
            _set(windows[room], whole)
    corners = np.empty((8, 3), np.float32)
    window = np.empty(4, np.int32)
    for p in range(kinds.shape[0]):
        _clear(window)
        if not hidden[p]:
            if kinds[p] == ROOM:
                _set(window, windows[p])
            else:
                for room in range(rooms.shape[0]):
                    if _touches(centers[p], radii[p], rooms[room]):
                        _include(window, windows[room])
        if window[1] <= window[0]:
            _clear(rectangles[p])
            continue
        _corners(corners, centers[p], axes[p], eye, basis)
        _project(rectangles[p], corners, scale, height, width)
        _overlap(rectangles[p], rectangles[p], window)


@compiled
def cull(
    primitives: Any,
    hidden: Any,
    rooms: Float32Array,
    ceiling: np.float32,
    doors: Float32Array,
    door_rooms: Int32Array,
    rays: Any,
    portals: bool,
) -> None:
    """Fills the rectangles of all primitives in n pictures. The first primitives are the rooms.

    Args:
        primitives, rays: the fields of `PlacedPrimitives` and of `Rays`.
        hidden: bool [P], primitives to omit.
        rooms: [R, 4], low x, low y, high x, high y. ceiling: their height.
        doors: [D, 6], center and half-sizes of the openings through the wall. door_rooms: [D, 2].
        portals: False draws every room in the whole screen (slower, same picture).
    """
    for n in range(rays[0].shape[0]):
        _cull(_in_picture(n, primitives), hidden, rooms, ceiling, doors, door_rooms, _rays_of(n, rays), portals)
