"""Cameras: a player's eye, and the views of the whole house."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from interplay.env.arrays import Float32Array
from interplay.env.playhouse.house.house_layout import House
from interplay.env.playhouse.house.rooms import WALL_HEIGHT_M


@dataclass(frozen=True)
class Camera:
    """Position, direction and field of view. Yaw 0 is +x and grows anticlockwise, pitch grows upwards; radians."""

    eye: tuple[float, float, float]
    yaw: float
    pitch: float
    field_of_view: float  # vertical, degrees

    def slope(self, height: int) -> float:
        """Slope of one pixel in a picture of this height."""
        return 2.0 * math.tan(math.radians(self.field_of_view) / 2) / height

    def basis(self) -> Float32Array:
        """Unit vectors forward, right and up as rows, [3, 3]."""
        cy, sy, cp, sp = math.cos(self.yaw), math.sin(self.yaw), math.cos(self.pitch), math.sin(self.pitch)
        return np.array([[cy * cp, sy * cp, sp], [sy, -cy, 0.0], [-cy * sp, -sy * sp, cp]], np.float32)


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
