"""Rows of numbers from which views are drawn: a house, a camera, and the poses of a moment."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from interplay.env.arrays import Float32Array
from interplay.env.playhouse.house.config import PlayhouseConfig
from interplay.env.playhouse.physics.model import EYE_HEIGHT_M
from interplay.env.playhouse.render.primitives import AVATAR_IDS
from interplay.env.playhouse.world import hide_setter
from interplay.gpu_render.packed_houses import PackedHouses

# Columns of a row. The basis is row-major: forward, right, up.
HOUSE, HIDDEN, EYE, BASIS, AVATARS, THINGS = 0, 1, 2, 5, 14, 26
AVATAR_COLUMNS = 6  # x, y, then cosine and sine of half the yaw, cosine and sine of half the pitch
THING_COLUMNS = 7  # position, quaternion (w, x, y, z)
NOTHING_HIDDEN = 1 << 15  # in column HIDDEN, instead of the id of an avatar that is not drawn; no primitive has this id


def row_length(most_things: int) -> int:
    """Numbers in a row, 4 bytes each, for houses with at most `most_things` things."""
    return THINGS + THING_COLUMNS * most_things


def player_cameras(avatars: Float32Array, role: int) -> Float32Array:
    """Cameras [N, 5] of a player, 0 for the setter and 1 for the solver, from the avatars [N, 2, 4]."""
    cameras = np.empty((len(avatars), 5), np.float32)
    cameras[:, :2], cameras[:, 2], cameras[:, 3:] = avatars[:, role, :2], EYE_HEIGHT_M, avatars[:, role, 2:]
    return cameras


def pack_views(
    houses: PackedHouses,
    number: int,
    positions: Float32Array,
    quaternions: Float32Array,
    avatars: Float32Array,
    cameras: Float32Array,
    hide_role: int | None = None,
) -> Float32Array:
    """Packs N views of one house as float32 [N, `row_length`]; rows of several houses may be concatenated.

    Args:
        number: of the house in `houses`.
        positions, quaternions: [N, things, 3] and [N, things, 4] (w, x, y, z) of the house's things.
        avatars: [N, 2, 4] (x, y, yaw, pitch) of setter and solver.
        cameras: [N, 5] (x, y, z, yaw, pitch), in meters and radians as in `Camera`.
        hide_role: the avatar that is not drawn, the viewer's own: 0, 1 or None.

    Raises:
        ValueError: another shape, a number without a house, or a role that does not exist.
    """
    if not 0 <= number < len(houses.things):
        raise ValueError(f"there is no house {number}: {len(houses.things)} were packed, numbered from 0")
    if hide_role not in (None, *range(len(AVATAR_IDS))):
        raise ValueError(f"hide_role={hide_role!r}: give 0 (the setter), 1 (the solver) or None")
    count, things = len(positions), houses.things[number]
    _check_shape("positions", positions, (count, things, 3))
    _check_shape("quaternions", quaternions, (count, things, 4))
    _check_shape("avatars", avatars, (count, 2, 4))
    _check_shape("cameras", cameras, (count, 5))
    return pack_rows(row_length(houses.most_things), number, positions, quaternions, avatars, cameras, hide_role)


def pack_rows(
    length: int,
    number: int | NDArray[np.int64],
    positions: Float32Array,
    quaternions: Float32Array,
    avatars: Float32Array,
    cameras: Float32Array,
    hide_role: int | None,
) -> Float32Array:
    """The rows of `pack_views` [N, length], without its checks. `number`: of the house of all views, or of each [N]."""
    rows = np.zeros((len(positions), length), np.float32)
    rows[:, HOUSE], rows[:, HIDDEN] = number, NOTHING_HIDDEN if hide_role is None else AVATAR_IDS[hide_role]
    rows[:, EYE:BASIS], rows[:, BASIS:AVATARS] = cameras[:, :3], _bases(cameras[:, 3], cameras[:, 4])
    rows[:, AVATARS:THINGS] = _half_angles(avatars).reshape(len(rows), -1)
    poses = np.concatenate([positions, quaternions], axis=2).reshape(len(rows), -1)
    rows[:, THINGS : THINGS + poses.shape[1]] = poses
    return rows


def player_rows(
    config: PlayhouseConfig,
    number: int | NDArray[np.int64],
    positions: Float32Array,
    quaternions: Float32Array,
    avatars: Float32Array,
    player: int,
) -> Float32Array:
    """The rows [N, S] of what a player sees at N moments of worlds with this configuration; see `pack_rows`."""
    cameras = player_cameras(avatars, player)
    seen = avatars if config.setter_visible else hide_setter(avatars)
    return pack_rows(row_length(config.most_things), number, positions, quaternions, seen, cameras, player)


def _check_shape(name: str, array: NDArray[np.float32], shape: tuple[int, ...]) -> None:
    if array.shape != shape:
        raise ValueError(f"{name} is {list(array.shape)}; this house and these views need {list(shape)}")


def _bases(yaw: Float32Array, pitch: Float32Array) -> Float32Array:
    """The rows of `Camera.basis`, [N, 9]: computed in float64, as there."""
    angles = yaw.astype(np.float64), pitch.astype(np.float64)
    (cy, cp), (sy, sp) = (np.cos(angle) for angle in angles), (np.sin(angle) for angle in angles)
    zero = np.zeros_like(cy)
    return np.stack([cy * cp, sy * cp, sp, sy, -cy, zero, -cy * sp, -sy * sp, cp], axis=1).astype(np.float32)


def _half_angles(avatars: Float32Array) -> Float32Array:
    """[N, 2, AVATAR_COLUMNS] from avatars [N, 2, 4]."""
    half = (np.float32(0.5) * avatars[:, :, 2:].astype(np.float32)).astype(np.float64)
    turns = np.stack([np.cos(half), np.sin(half)], axis=3).reshape(len(avatars), 2, 4)
    return np.concatenate([avatars[:, :, :2], turns.astype(np.float32)], axis=2)
