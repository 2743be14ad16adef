"""Transforms from a moment's poses to the world coordinates of all primitives."""

from __future__ import annotations

from typing import Any

import numpy as np

from interplay.env.arrays import Float32Array
from interplay.env.playhouse.render.kernels import compiled, inlined


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
        places[n] = positions[n]
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
    _, owners, offsets, rotations, halves, _, _, _, extents = parts
    _, centers, _, world, inverses, axes, _ = primitives
    for p in range(owners.shape[0] - extents.shape[0]):
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
        inverses[s, :] = zero
        inverses[s, 0], inverses[s, 1] = cos / x, sin / x
        inverses[s, 3], inverses[s, 4] = -sin / y, cos / y
        inverses[s, 8] = np.float32(1.0) / deep
        axes[s, :] = zero
        axes[s, 0], axes[s, 3] = cos * x, sin * x
        axes[s, 1], axes[s, 4] = -sin * y, cos * y
        axes[s, 8] = deep
        radii[s] = np.sqrt(x * x + y * y + deep * deep)


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
    """Places all primitives from the poses of a moment.

    `places`, `turns`: scratch, as in `_place_bodies`. `parts`, `primitives`: the fields of `RenderPrimitives` and of
    `PlacedPrimitives`.
    """
    _place_bodies(places, turns, positions, quaternions, avatars, eye_height)
    _place_parts(parts, places, turns, primitives)
    _place_shadows(parts, places, turns, primitives)
