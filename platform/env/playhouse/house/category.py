"""Categories of things: the primitives to render, and simpler collision proxies."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

XYZ = tuple[float, float, float]
RGB = tuple[float, float, float]

PRIMITIVES = ("box", "ellipsoid", "cylinder", "cone")

# Directions of a part's x, y and z axes in the frame of its thing.
_AXES: dict[str, tuple[XYZ, XYZ, XYZ]] = {
    "z": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "-z": ((-1, 0, 0), (0, 1, 0), (0, 0, -1)),
    "x": ((0, 0, -1), (0, 1, 0), (1, 0, 0)),
    "-x": ((0, 0, 1), (0, 1, 0), (-1, 0, 0)),
    "y": ((1, 0, 0), (0, 0, -1), (0, 1, 0)),
    "-y": ((1, 0, 0), (0, 0, 1), (0, -1, 0)),
}


@dataclass(frozen=True)
class BodyPart:
    """One primitive of a thing of medium size. Meters.

    `half` is in the part's own frame, before rotation: half edges of a box; radii of an ellipsoid; two
    radii and the half height of a cylinder or of a cone (base at the part's own -z, apex at its +z).
    `paint`: "main" is the thing's color, "dark" and "light" its shades, "trim" is white, or gray on a white thing; any
    other name is a fixed color.
    """

    primitive: str
    offset: XYZ  # of its center, in the thing's frame
    half: XYZ
    paint: str = "main"
    axis: str = "z"  # where the part's own +z points in the thing's frame: "x", "-x", "y", "-y", "z", "-z"
    yaw: float = 0.0  # degrees about the thing's z axis, applied after `axis`

    def __post_init__(self) -> None:
        assert self.primitive in PRIMITIVES, self.primitive
        assert self.axis in _AXES, self.axis

    def rotation(self) -> NDArray[np.float64]:
        """From the part's frame to the thing's, [3, 3]; the columns are the part's own axes."""
        cos, sin = math.cos(math.radians(self.yaw)), math.sin(math.radians(self.yaw))
        turn = np.array([[cos, -sin, 0.0], [sin, cos, 0.0], [0.0, 0.0, 1.0]])
        return turn @ np.array(_AXES[self.axis], dtype=np.float64).T


@dataclass(frozen=True)
class Surface:
    """A horizontal surface for objects, in the frame of its furniture."""

    height: float
    half: tuple[float, float]


@dataclass(frozen=True)
class Category:
    """A kind of furniture or object. Its origin is the center of its bounding box; it faces +x."""

    name: str
    furniture: bool
    half_extents: XYZ  # of the bounding box at medium size
    shape: str  # of its collision proxies: "box", "cylinder", "sphere" or "composite"
    parts: tuple[BodyPart, ...]  # rendered
    proxies: tuple[BodyPart, ...]  # for collisions
    attributes: frozenset[str] = frozenset()
    surface: Surface | None = None
    against_wall: bool = False  # furniture placed with its back to a wall
    density: float = 120.0  # kg / m^3 of the proxies


def box(offset: XYZ, half: XYZ, paint: str = "main") -> BodyPart:
    return BodyPart("box", offset, half, paint)


def ellipsoid(offset: XYZ, half: XYZ, paint: str = "main", yaw: float = 0.0) -> BodyPart:
    return BodyPart("ellipsoid", offset, half, paint, yaw=yaw)


def cylinder(offset: XYZ, radius: float, height: float, paint: str = "main", axis: str = "z") -> BodyPart:
    """A round cylinder of this half height."""
    return BodyPart("cylinder", offset, (radius, radius, height), paint, axis)


def cone(offset: XYZ, radius: float, height: float, paint: str = "main", axis: str = "z") -> BodyPart:
    """A round cone of this half height; its apex points along `axis`."""
    return BodyPart("cone", offset, (radius, radius, height), paint, axis)
