"""Gaze of the builder: the block or ground cell that it meets, and the free cell in front of that."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from interplay.env.voxel.dynamics import REACH, first_hit
from interplay.env.voxel.space import Cell, Grid, in_zone


class Gaze(NamedTuple):
    """What a ray from the eye meets within reach. Cells are (y, x, z)."""

    block: Cell | None  # first block, or a ground cell with y = -1 (also outside the zone); None if there is nothing
    free: Cell | None  # the cell before the face met, where a block would be placed; None outside the zone


def trace(grid: Grid, eye: Sequence[float], yaw: float, pitch: float, reach: float = REACH) -> Gaze:
    """Follows the gaze from cell to cell, exactly.

    Args:
        grid: int8 [9, 11, 11].
        eye: (x, y, z) in world coordinates; the cell around it is transparent.
        yaw: degrees, 0 south, 90 west.
        pitch: degrees, positive down.
        reach: distance from the eye to the farthest face that counts.
    """
    x, y, z = (float(value) for value in eye)
    hit, by, bx, bz, fy, fx, fz = first_hit(grid, x, y, z, float(yaw), float(pitch), float(reach))
    if not hit:
        return Gaze(None, None)
    free = (int(fy), int(fx), int(fz))
    return Gaze((int(by), int(bx), int(bz)), free if in_zone(free) else None)
