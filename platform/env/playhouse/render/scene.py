"""Renderer of one house: views of the players and of the whole house, and their cameras."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from interplay.env.arrays import Float32Array, Image
from interplay.env.playhouse.house.config import PlayhouseConfig
from interplay.env.playhouse.house.house_layout import House
from interplay.env.playhouse.house.rooms import WALL_HEIGHT_M, WALL_THICKNESS_M
from interplay.env.playhouse.physics.model import EYE_HEIGHT_M
from interplay.env.playhouse.render.primitives import AVATAR_IDS, build_primitives, pale_colors
from interplay.env.playhouse.render.raycast import PlacedPrimitives, Rays, cast, shade
from interplay.env.playhouse.render.room_shading import FLOOR_PATTERNS, WALL_PATTERNS, paint_rooms
from interplay.env.playhouse.render.shading import halve, paint_parts
from interplay.env.playhouse.render.transforms import cull, place


@dataclass(frozen=True)
class Camera:
    """Position, direction and field of view. Yaw 0 is +x and grows counterclockwise, pitch grows upwards; radians."""

    eye: tuple[float, float, float]
    yaw: float
    pitch: float
    field_of_view: float  # vertical, degrees

    def slope(self, height: int) -> float:
        """Slope of one pixel in a picture of this height."""
        return 2.0 * math.tan(math.radians(self.field_of_view) / 2) / height

    def basis(self) -> Float32Array:
        """Unit vectors forward, right and up as rows, [3, 3]."""
        return np.array(self.rows()[1:], np.float32)

    def rows(self) -> tuple[tuple[float, float, float], ...]:
        """The eye, and unit vectors forward, right and up."""
        cy, sy, cp, sp = math.cos(self.yaw), math.sin(self.yaw), math.cos(self.pitch), math.sin(self.pitch)
        return self.eye, (cy * cp, sy * cp, sp), (sy, -cy, 0.0), (-cy * sp, -sy * sp, cp)


def map_camera(house: House, height: int, width: int) -> Camera:
    """A camera high above the house, looking down; +y is up in the picture."""
    return _around(house, yaw=math.pi / 2, pitch=-math.pi / 2, field_of_view=5.0, aspect=width / height)


def overview_camera(house: House, height: int, width: int) -> Camera:
    """A camera that sees the whole house over its near walls, which are not drawn from outside."""
    return _around(house, yaw=math.radians(65.0), pitch=math.radians(-52.0), field_of_view=24.0, aspect=width / height)


def _around(house: House, yaw: float, pitch: float, field_of_view: float, aspect: float) -> Camera:
    """The nearest camera in this direction that has the whole house in its picture."""
    low = np.array([*np.min([room.low for room in house.rooms], axis=0), 0.0])
    high = np.array([*np.max([room.high for room in house.rooms], axis=0), WALL_HEIGHT_M])
    middle = (low + high) / 2
    corners = np.array([[(low, high)[bit >> k & 1][k] for k in range(3)] for bit in range(8)]) - middle
    forward, right, up = Camera((0, 0, 0), yaw, pitch, field_of_view).basis().astype(np.float64)
    tall = math.tan(math.radians(field_of_view) / 2) / 1.04
    away = np.maximum(np.abs(corners @ right) / (tall * aspect), np.abs(corners @ up) / tall) - corners @ forward
    x, y, z = (float(c) for c in middle - away.max() * forward)
    return Camera((x, y, z), yaw, pitch, field_of_view)


_EYE_HEIGHT, _CEILING = np.float32(EYE_HEIGHT_M), np.float32(WALL_HEIGHT_M)
_SLIVER = 0.001  # meters by which an opening is smaller than its lining, so that no ray passes between the two

_HOUSE_BYTES, _THING_BYTES, _PART_BYTES = 2_000, 2_000, 250  # of a house, and of each of its things and primitives
_AT_ONCE = 8  # pictures; more take more memory and hardly less time

_Placed = tuple[Float32Array | NDArray[np.int32], ...]
RenderedView = tuple[Image, NDArray[np.int16], Float32Array]
Poses = tuple[Float32Array, Float32Array, Float32Array]  # positions, quaternions and avatars, as in `Scene`


class Scene:
    """Renders one house. Not thread-safe; created at each reset.

    The poses of a moment are float32: positions [N, 3] and quaternions [N, 4] (w, x, y, z) of the house's things,
    and avatars [2, 4] (x, y, yaw, pitch) of setter and solver. Equal poses give equal bytes in any process.
    """

    def __init__(self, house: House, config: PlayhouseConfig) -> None:
        self.house = house
        self.config = config
        parts = self._parts = build_primitives(house)
        self._table = tuple(parts)
        count, things = len(parts.kinds), len(house.things)
        self._places, self._turns = np.zeros((things + 5, 3), np.float32), np.zeros((things + 5, 9), np.float32)
        self._turns[-1] = np.eye(3, dtype=np.float32).reshape(9)
        self._hidden = {role: parts.names == name for role, name in enumerate(AVATAR_IDS)}
        self._nothing_hidden = np.zeros(count, np.bool_)
        self._rooms = np.array([(*room.low, *room.high) for room in house.rooms], np.float32)
        self._looks = (
            np.array([FLOOR_PATTERNS[room.floor] for room in house.rooms], np.int32),
            np.array([WALL_PATTERNS[room.walls] for room in house.rooms], np.int32),
            pale_colors([room.wall_color for room in house.rooms]),
        )
        self._openings, self._doors = doorway_openings(house, count), _doors(house)

    @property
    def nbytes(self) -> int:
        """Memory of the house and of what it is drawn from, estimated."""
        return _HOUSE_BYTES + _THING_BYTES * len(self.house.things) + _PART_BYTES * len(self._parts.kinds)

    def draw(
        self,
        positions: Float32Array,
        quaternions: Float32Array,
        avatars: Float32Array,
        eye: Float32Array,
        yaw: float,
        pitch: float,
        fov_y_deg: float,
        height: int,
        width: int,
        hide_role: int | None = None,
        antialias: bool = False,
        portals: bool = True,
    ) -> RenderedView:
        """Renders the view from `eye` [3]: image uint8 [H, W, 3], ids int16 [H, W], depth float32 [H, W].

        The ids are indices of things, -1 for the house, -2 and -3 for the setter and the solver. Depth is measured
        along the gaze, in meters; inf for background. `hide_role` omits the viewer's own avatar.
        `antialias` averages 2 x 2 rays per pixel; ids and depth are those of one of the four.
        `portals=False` disables culling by doorways: the same picture, slower.
        """
        x, y, z = (float(c) for c in eye)
        camera = Camera((x, y, z), float(yaw), float(pitch), float(fov_y_deg))
        poses = (positions[None], quaternions[None], avatars[None])
        images, ids, depth = self._render(poses, [camera], height, width, hide_role, antialias, portals)
        return images[0], ids[0], depth[0]

    def draw_player(self, poses: Poses, player: int, height: int, width: int) -> Image:
        """Renders what a player, 0 for the setter and 1 for the solver, sees at n moments. uint8 [n, H, W, 3]

        `poses` have n rows each. Equal to `draw` of each moment, with fewer calls and less time in Python.
        """
        field, antialias = self.config.field_of_view, self.config.antialias
        eyes = poses[2][:, player].tolist()
        cameras = [Camera((x, y, EYE_HEIGHT_M), yaw, pitch, field) for x, y, yaw, pitch in eyes]
        if len(cameras) <= _AT_ONCE:
            return self._render(poses, cameras, height, width, player, antialias, True)[0]
        images = np.empty((len(cameras), height, width, 3), np.uint8)
        for start in range(0, len(cameras), _AT_ONCE):
            rows = slice(start, start + _AT_ONCE)
            moments = (poses[0][rows], poses[1][rows], poses[2][rows])
            images[rows] = self._render(moments, cameras[rows], height, width, player, antialias, True)[0]
        return images

    def draw_from(self, camera: Camera, poses: Poses, height: int, width: int) -> Image:
        """Renders the view of `map_camera` or `overview_camera`, without ceilings and near walls. [H, W, 3]"""
        moment = (poses[0][None], poses[1][None], poses[2][None])
        picture: Image = self._render(moment, [camera], height, width, None, True, True)[0][0]
        return picture

    def _place(self, poses: Poses) -> tuple[_Placed, Float32Array]:
        """The fields of `PlacedPrimitives` at the moments of n pictures, before culling, and memory for their faces."""
        n = len(poses[0])
        placed, faces = self._single if n == 1 else self._buffers(n)
        # Copied: numba compiles again for each memory layout and for read-only arrays.
        positions, quaternions, avatars = (np.array(array, np.float32, order="C") for array in poses)
        place(self._table, positions, quaternions, avatars, _EYE_HEIGHT, self._places, self._turns, placed)
        return placed, faces

    @functools.cached_property
    def _single(self) -> tuple[_Placed, Float32Array]:
        """Kept for one picture after another: new memory for each would be a tenth of its time."""
        return self._buffers(1)

    def _buffers(self, n: int) -> tuple[_Placed, Float32Array]:
        count = len(self._parts.kinds)
        centers, radii = np.empty((n, count, 3), np.float32), np.empty((n, count), np.float32)
        world, inverses, axes = (np.empty((n, count, 9), np.float32) for _ in range(3))
        rectangles, faces = np.empty((n, count, 4), np.int32), np.empty((n, count, 6), np.float32)
        return tuple(PlacedPrimitives(self._parts.kinds, centers, radii, world, inverses, axes, rectangles)), faces

    def _render(
        self,
        poses: Poses,
        cameras: Sequence[Camera],
        height: int,
        width: int,
        hide_role: int | None,
        antialias: bool,
        portals: bool,
    ) -> RenderedView:
        """As `draw`, of n moments, by cameras of one field of view; each array has a first dimension of n."""
        if antialias:
            images, ids, depth = self._render(poses, cameras, 2 * height, 2 * width, hide_role, False, portals)
            small = np.empty((len(images), height, width, 3), np.uint8)
            halve(small, images)
            return small, np.ascontiguousarray(ids[:, 1::2, 1::2]), np.ascontiguousarray(depth[:, 1::2, 1::2])
        slope, (placed, faces), parts = cameras[0].slope(height), self._place(poses), self._table
        us, vs = pixel_slopes(slope, height, width)
        rays = tuple(Rays(np.array([camera.rows() for camera in cameras], np.float32), np.float32(slope), us, vs))
        hidden = self._nothing_hidden if hide_role is None else self._hidden[hide_role]
        cull(placed, hidden, self._rooms, _CEILING, *self._doors, rays, portals)
        shape = (len(cameras), height, width)
        depth, index = np.empty(shape, np.float32), np.empty(shape, np.int32)
        cast(placed, *self._openings, rays, np.empty(width, np.float32), depth, index)
        images, ids, light = np.empty((*shape, 3), np.uint8), np.empty(shape, np.int16), np.empty(shape, np.float32)
        shade(light, ids, depth, index, self._parts.names, placed, rays)
        paint_parts(images, light, faces, depth, index, parts, placed, len(self._rooms), rays)
        paint_rooms(images, light, faces, depth, index, parts, placed, *self._looks, rays)
        return images, ids, depth


@functools.lru_cache(maxsize=32)
def pixel_slopes(slope: float, height: int, width: int) -> tuple[Float32Array, Float32Array]:
    """Slopes of columns [W] and rows [H]: distance right and up per meter forward."""
    us = (np.arange(width) + 0.5 - width / 2) * slope
    vs = (height / 2 - 0.5 - np.arange(height)) * slope
    return us.astype(np.float32), vs.astype(np.float32)


def doorway_openings(house: House, count: int) -> tuple[Float32Array, NDArray[np.int32]]:
    """Doorways of each room in the frame of its unit box [O, 5], and each room's first and last row [count, 2]."""
    rows: list[tuple[float, float, float, float, float]] = []
    spans = np.zeros((count, 2), np.int32)
    for number, room in enumerate(house.rooms):
        spans[number, 0] = len(rows)
        for door in house.doorways:
            if number not in door.rooms:
                continue
            along = "xy".index(door.axis)
            across = 1 - along
            center = [(room.low[k] + room.high[k]) / 2 for k in (0, 1)]
            half = (room.high[across] - room.low[across]) / 2
            middle, wide = (door.middle[across] - center[across]) / half, (door.width / 2 - _SLIVER) / half
            side = 1.0 if door.middle[along] > center[along] else -1.0
            top = 2 * (door.height - _SLIVER) / WALL_HEIGHT_M - 1
            rows.append((float(along), side, middle - wide, middle + wide, top))
        spans[number, 1] = len(rows)
    return np.array(rows, np.float32).reshape(-1, 5), spans


def _doors(house: House) -> tuple[Float32Array, NDArray[np.int32]]:
    """The space inside each doorway, center and half-sizes [D, 6], and the two rooms it joins [D, 2]."""
    rows = []
    for door in house.doorways:
        wide, deep = door.width / 2, WALL_THICKNESS_M + 0.05
        x, y = (deep, wide) if door.axis == "x" else (wide, deep)
        rows.append((*door.middle, door.height / 2, x, y, door.height / 2))
    rooms = [door.rooms for door in house.doorways]
    return np.array(rows, np.float32).reshape(-1, 6), np.array(rooms, np.int32).reshape(-1, 2)


def start_poses(house: House) -> Poses:
    """Positions, quaternions and avatars of a house at its start."""
    yaws = np.array([thing.yaw for thing in house.things])
    quaternions = np.zeros((len(yaws), 4), np.float32)
    quaternions[:, 0], quaternions[:, 3] = np.cos(yaws / 2), np.sin(yaws / 2)
    positions = np.array([thing.position for thing in house.things], np.float32).reshape(-1, 3)
    return positions, quaternions, np.array([(*start, 0.0) for start in house.starts], np.float32)
