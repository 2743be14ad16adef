"""The builder and its building site: the body, its gaze, the blocks around it, and what commands do to them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

import numpy as np

from interplay.env.arrays import Float32Array, Float64Array
from interplay.env.voxel import dynamics
from interplay.env.voxel.commands import Command
from interplay.env.voxel.space import MIDDLE, Cell, Grid, empty_grid, in_zone

LENGTH = 9  # numbers of a body
Way = Literal["walk", "fly", "cells"]  # physics; free flight through blocks; one cell a frame
WAYS: tuple[Way, ...] = ("walk", "fly", "cells")  # in the order of `dynamics.WALK`, `FLY`, `CELLS`


class Gaze(NamedTuple):
    """What a ray from the eye meets within reach. Cells are (y, x, z)."""

    block: Cell | None  # first block, or a ground cell with y = -1 (also outside the zone); None if there is nothing
    free: Cell | None  # the cell before the face met, where a block would be placed; None outside the zone


class BuilderBody:
    """A view of one body's numbers, float32 [9]: position (x, y, z of the feet), velocity, yaw, pitch, color held.

    World coordinates: x east, y up, z south, the origin on the ground in the middle of the zone. The body is 0.6 wide
    and 1.8 high, its eye at 1.62. float32 is the precision of recorded poses, so pictures of recorded moments are
    exact.
    """

    def __init__(self, numbers: Float32Array | None = None) -> None:
        self.numbers = np.zeros(LENGTH, np.float32) if numbers is None else numbers
        if numbers is None:
            self.held = 1

    @classmethod
    def at(
        cls, x: float, y: float, z: float, yaw: float = 180.0, pitch: float = 0.0, held: int = 1
    ) -> BuilderBody:  # facing north by default
        """A body at rest."""
        return cls(np.array([x, y, z, 0, 0, 0, wrapped(yaw), pitch, held], np.float32))

    def copy(self) -> BuilderBody:
        """A body of its own with the same numbers."""
        return BuilderBody(self.numbers.copy())

    @property
    def position(self) -> tuple[float, float, float]:
        """Feet (x, y, z)."""
        x, y, z = self.numbers[:3].tolist()
        return x, y, z

    @property
    def eye(self) -> tuple[float, float, float]:
        """Eye (x, y, z), 1.62 above the feet."""
        x, y, z = self.position
        return x, y + dynamics.EYE_HEIGHT, z

    @property
    def velocity(self) -> tuple[float, float, float]:
        """Cells per second east, up and south."""
        x, y, z = self.numbers[3:6].tolist()
        return x, y, z

    @property
    def yaw(self) -> float:
        """Degrees from -180 to 180: 0 south, 90 west."""
        return float(self.numbers[dynamics.YAW])

    @property
    def pitch(self) -> float:
        """Degrees from -90 to 90, positive down."""
        return float(self.numbers[dynamics.PITCH])

    @property
    def held(self) -> int:
        """Id of the color held."""
        return int(self.numbers[dynamics.HELD])

    @held.setter
    def held(self, color: int) -> None:
        self.numbers[dynamics.HELD] = color

    @property
    def compass(self) -> float:
        """Degrees clockwise from north, -180 to 180."""
        return wrapped(self.yaw + 180.0)

    @property
    def cell(self) -> Cell:
        """The cell (y, x, z) of the feet; x and z may be outside the zone."""
        x, y, z = self.position
        return int(np.floor(y + 1e-4)), int(np.floor(x + MIDDLE + 0.5)), int(np.floor(z + MIDDLE + 0.5))

    def angles_to(self, x: float, y: float, z: float) -> tuple[float, float]:
        """Yaw and pitch of the gaze that meets a point in world coordinates."""
        eye_x, eye_y, eye_z = self.eye
        dx, dy, dz = x - eye_x, y - eye_y, z - eye_z
        return math.degrees(math.atan2(-dx, dz)), math.degrees(math.atan2(-dy, math.hypot(dx, dz)))

    def gaze(self, grid: Grid) -> Gaze:
        """What the body looks at within its reach."""
        return trace(grid, self.eye, self.yaw, self.pitch)


@dataclass
class BuildState:
    """Blocks and the builder. The inventory follows from the grid: 20 of each color less what it holds."""

    grid: Grid = field(default_factory=empty_grid)
    body: BuilderBody = field(default_factory=BuilderBody)

    def copy(self) -> BuildState:
        """A state that shares nothing with this one, for planners."""
        return BuildState(self.grid.copy(), self.body.copy())


def wrapped(angle: float) -> float:
    """An angle in degrees as -180 <= angle < 180."""
    return (angle + 180.0) % 360.0 - 180.0


def trace(grid: Grid, eye: Sequence[float], yaw: float, pitch: float, reach: float = dynamics.REACH) -> Gaze:
    """Follows the gaze from cell to cell, exactly.

    Args:
        grid: int8 [9, 11, 11].
        eye: (x, y, z) in world coordinates; the cell around it is transparent.
        yaw: degrees, 0 south, 90 west.
        pitch: degrees, positive down.
        reach: distance from the eye to the farthest face that counts.
    """
    x, y, z = (float(value) for value in eye)
    hit, by, bx, bz, fy, fx, fz = dynamics.first_hit(grid, x, y, z, float(yaw), float(pitch), float(reach))
    if not hit:
        return Gaze(None, None)
    free = (int(fy), int(fx), int(fz))
    return Gaze((int(by), int(bx), int(bz)), free if in_zone(free) else None)


def advance(body: BuilderBody, grid: Grid, command: Command, way: Way = "walk", auto_jump: bool = False) -> None:
    """Camera and movement of one frame, in place; does not place or break (see `apply`).

    Args:
        body: changed in place.
        grid: int8 [9, 11, 11], the obstacles.
        command: one frame's.
        way: how the body moves.
        auto_jump: with `way="cells"`, climb one block without `command.jump`.
    """
    dynamics.move(grid, body.numbers, np.array(command, np.float64), WAYS.index(way), auto_jump)


def step_by_cells(
    grid: Grid, position: tuple[float, float, float], dx: int, dz: int, jump: bool = False
) -> tuple[float, float, float]:
    """Feet after a step of one cell under `way="cells"`, for planners; equal to `position` where it is not possible.

    `dx`, `dz`: -1, 0 or 1, east and south. `jump` climbs one block where the way is not free. The body falls at once.
    """
    x, y, z = position
    to_x, to_y, to_z = dynamics.cell_step(grid, float(x), float(y), float(z), dx, dz, jump)
    return float(to_x), float(to_y), float(to_z)


def apply(state: BuildState, command: Command, way: Way = "walk", auto_jump: bool = False) -> bool:
    """Runs one frame in place: select, attack or use by the gaze, camera, movement.

    Returns:
        Whether a block was placed or removed.
    """
    return apply_all(state, np.array([command], np.float64), way, auto_jump) > 0


def apply_all(state: BuildState, commands: Float64Array, way: Way = "walk", auto_jump: bool = False) -> int:
    """Runs the frames of `commands` [frames, 9] in place. Returns the number of blocks placed and removed."""
    return int(dynamics.run(state.grid, state.body.numbers, commands, WAYS.index(way), auto_jump))
