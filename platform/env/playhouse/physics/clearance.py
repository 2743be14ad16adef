"""Proof that a frame brings no contact, in which case MuJoCo need not search for any.

A search for contacts is more than half of a substep, and most frames have none: everything sleeps, and the avatars walk
where nothing is near. MuJoCo neither tests sleeping things against each other nor against the house, so only the
avatars can touch anything. The avatars are upright cylinders that move horizontally, so distances on the floor suffice.
"""

from __future__ import annotations

import mujoco
import numpy as np
from numpy.typing import NDArray

from interplay.env.arrays import Float64Array
from interplay.env.compiled import compiled
from interplay.env.playhouse.physics.model import (
    AVATAR_HALF_HEIGHT_M,
    AVATAR_MASS_KG,
    AVATAR_MAX_FORCE_N,
    AVATAR_RADIUS_M,
    STATIC,
    SUBSTEPS_PER_FRAME,
    TIMESTEP_S,
    HouseModel,
)

MARGIN_M = 0.02  # beyond what the bound on the motion demands
FRAME_S = SUBSTEPS_PER_FRAME * TIMESTEP_S
# By which an avatar may become faster within a frame along each axis. Its motor is the only force on it.
MAX_GAIN_MPS = AVATAR_MAX_FORCE_N / AVATAR_MASS_KG * FRAME_S


@compiled
def _is_clear(
    starts: Float64Array,
    avatar_qpos: Float64Array,
    avatar_qvel: Float64Array,
    asleep: NDArray[np.int32],
    objects: Float64Array,
    object_qvel: Float64Array,
    forces: Float64Array,
    radii: Float64Array,
    boxes: Float64Array,
    body: float,
    gain: float,
    seconds: float,
) -> bool:
    """Whether all objects sleep and will not wake, and no avatar can reach anything within a frame.

    Args:
        starts: [2, 3], where the avatars' coordinates are zero. avatar_qpos, avatar_qvel: [2, 2].
        asleep: [2 + objects], negative for a tree that is awake; the first two are the avatars.
        objects, object_qvel: [objects, 7], positions and quaternions; [objects, 6].
        forces: [bodies, 6], applied from outside; they wake a sleeping object, as does a speed.
        radii: [objects], of bounding balls.
        boxes: [boxes, 4], low x, low y, high x, high y of what does not move.
        body: radius of an avatar, and a margin, meters. gain: by which it may become faster along each axis, m/s.
        seconds: of a frame. Passed, because numba's cache would keep constants of another file after they changed.
    """
    for k in range(objects.shape[0]):
        if asleep[2 + k] < 0 or np.any(object_qvel[k]):
            return False
    if np.any(forces):
        return False
    apart = 2 * body
    for player in range(2):
        x, y = starts[player, 0] + avatar_qpos[player, 0], starts[player, 1] + avatar_qpos[player, 1]
        speed = abs(avatar_qvel[player, 0]) + abs(avatar_qvel[player, 1]) + 2 * gain
        reach = body + speed * seconds
        apart += speed * seconds
        for b in range(boxes.shape[0]):
            dx = max(boxes[b, 0] - x, x - boxes[b, 2], 0.0)
            dy = max(boxes[b, 1] - y, y - boxes[b, 3], 0.0)
            if dx * dx + dy * dy <= reach * reach:
                return False
        for k in range(objects.shape[0]):
            dx, dy, near = objects[k, 0] - x, objects[k, 1] - y, reach + radii[k]
            if dx * dx + dy * dy <= near * near:
                return False
    dx = starts[0, 0] + avatar_qpos[0, 0] - starts[1, 0] - avatar_qpos[1, 0]
    dy = starts[0, 1] + avatar_qpos[0, 1] - starts[1, 1] - avatar_qpos[1, 1]
    return bool(dx * dx + dy * dy > apart * apart)


class Clearance:
    """The surroundings of the avatars in one simulation.

    `radii`: of the objects' bounding balls [objects]. `starts`: poses of the avatars at coordinates 0.
    """

    def __init__(
        self,
        compiled_model: HouseModel,
        data: mujoco.MjData,
        starts: tuple[tuple[float, float, float], ...],
        radii: list[float],
    ) -> None:
        count = len(radii)
        self._arguments = (
            np.array(starts, np.float64).reshape(2, 3),
            data.qpos[:4].reshape(2, 2),
            data.qvel[:4].reshape(2, 2),
            data.tree_asleep,
            data.qpos[4:].reshape(count, 7),
            data.qvel[4:].reshape(count, 6),
            data.xfrc_applied,
            np.array(radii, np.float64),
            obstacles(compiled_model.model),
            AVATAR_RADIUS_M + MARGIN_M,
            MAX_GAIN_MPS,
            FRAME_S,
        )

    def is_certain(self) -> bool:
        """Whether no contact can arise in the next frame, once the players have acted in it."""
        return _is_clear(*self._arguments)


def obstacles(model: mujoco.MjModel) -> Float64Array:
    """Bounds of walls and furniture at the height of the avatars, [N, 4]: low x, low y, high x, high y."""
    rows = []
    turn = np.empty(9)
    for geom in np.flatnonzero((model.geom_bodyid == 0) & ((model.geom_contype & STATIC) != 0)):
        if model.geom_type[geom] == mujoco.mjtGeom.mjGEOM_PLANE:
            continue  # floor and ceiling, which an avatar never touches
        mujoco.mju_quat2Mat(turn, model.geom_quat[geom])
        rotation = turn.reshape(3, 3)
        center = model.geom_pos[geom] + rotation @ model.geom_aabb[geom, :3]
        half = np.abs(rotation) @ model.geom_aabb[geom, 3:]
        low, high = center - half, center + half
        if low[2] <= 2 * AVATAR_HALF_HEIGHT_M + 2 * MARGIN_M:
            rows.append((low[0], low[1], high[0], high[1]))
    return np.array(rows, np.float64).reshape(-1, 4)
