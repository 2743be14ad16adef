"""Frames in which nothing touches, computed without MuJoCo and with the same numbers, bit for bit.

Most frames are of this kind: everything sleeps, the hands are empty, and the avatars walk where nothing is near. MuJoCo
neither tests sleeping things against each other nor against the house, so only the avatars move, and only they can
touch anything. They are upright cylinders that move horizontally, so distances on the floor decide whether they do.
Each of their coordinates is a mass with a velocity actuator, whose substep is a few operations; they are those of
MuJoCo's integrator `implicitfast`, in its order.
"""

from __future__ import annotations

import math
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from interplay.env.arrays import Float64Array
from interplay.env.compiled import compiled, inlined
from interplay.env.playhouse.house.action_codec import FORWARD, GRASP, PITCH, STRAFE, YAW
from interplay.env.playhouse.physics.model import (
    AVATAR_RADIUS_M,
    EYE_HEIGHT_M,
    GRASP_AIM_RAD,
    MARGIN_M,
    MAX_PITCH_RAD,
    MIN_PITCH_RAD,
    REACH_M,
    SUBSTEPS_PER_FRAME,
    HouseModel,
)

# Why `FreeMotion.advance` stopped: after the last frame; before a frame in which a hand may grasp something; in a frame
# in which something may touch, with its moves applied and its physics still to do.
FINISHED, AT_GRASP, AT_CONTACT = range(3)

# Compiled functions get the constants of other files as arguments, because numba's cache would keep the old ones.
_BODY, _EYE, _REACH, _AIM, _LEAST_PITCH, _MOST_PITCH, _WALK, _STRAFE, _MASS, _GAIN, _FORCE, _TIMESTEP = range(12)
_FORWARD_COLUMN, _STRAFE_COLUMN, _YAW_COLUMN, _PITCH_COLUMN, _GRASP_COLUMN = range(5)


@compiled
def is_any_in_reach(objects: Float64Array, radii: Float64Array, eye: Any, look: Any, reach: float, aim: float) -> bool:
    """Whether the bounding ball of any object is near the gaze; if not, no ray needs to be cast.

    objects: positions and quaternions [objects, 7]. radii: of their bounding balls [objects].
    eye, look: position of the eye and unit vector of the gaze. reach: meters from the eye.
    aim: angular tolerance, radians.
    """
    for k in range(objects.shape[0]):
        dx, dy, dz, radius = objects[k, 0] - eye[0], objects[k, 1] - eye[1], objects[k, 2] - eye[2], radii[k]
        away, along = math.sqrt(dx * dx + dy * dy + dz * dz), dx * look[0] + dy * look[1] + dz * look[2]
        aside = math.sqrt(max(away * away - along * along, 0.0))
        if away < reach + radius and along > -radius and aside < radius + 2 * aim * away:
            return True
    return False


@inlined
def _turned(pose: Any, move: Any, columns: Any, constants: Any) -> Any:
    """Yaw and pitch of a player after its move; the yaw as `math.remainder(yaw, math.tau)`."""
    yaw = pose[2] + move[columns[_YAW_COLUMN]]
    while abs(yaw) > math.pi:
        yaw -= math.copysign(math.tau, yaw)  # exact up to two turns
    pitch = pose[3] + move[columns[_PITCH_COLUMN]]
    return yaw, min(max(pitch, constants[_LEAST_PITCH]), constants[_MOST_PITCH])


@compiled
def _may_grasp(pose: Any, move: Any, objects: Any, radii: Any, constants: Any, columns: Any) -> bool:
    """Whether an open hand closes in this frame while an object is near the gaze."""
    if move[columns[_GRASP_COLUMN]] < 0.5:
        return False
    yaw, pitch = _turned(pose, move, columns, constants)
    level = math.cos(pitch)
    look = level * math.cos(yaw), level * math.sin(yaw), math.sin(pitch)
    eye = pose[0], pose[1], constants[_EYE]
    return is_any_in_reach(objects, radii, eye, look, constants[_REACH], constants[_AIM])


@compiled
def _turn_and_walk(pose: Any, move: Any, ctrl: Any, constants: Any, columns: Any) -> None:
    """Applies a player's move, except for its hand, to yaw, pitch and the controls [2] of its motors."""
    yaw, pitch = _turned(pose, move, columns, constants)
    forward, right = (
        constants[_WALK] * move[columns[_FORWARD_COLUMN]],
        constants[_STRAFE] * move[columns[_STRAFE_COLUMN]],
    )
    cos, sin = math.cos(yaw), math.sin(yaw)
    pose[2], pose[3] = yaw, pitch
    ctrl[0], ctrl[1] = forward * cos + right * sin, forward * sin - right * cos


@compiled
def _is_apart(at: Any, starts: Any, solid: Any, boxes: Any, objects: Any, radii: Any, reach: float) -> bool:
    """Whether avatars with the coordinates `at` [4] touch nothing. Arguments as in `_advance`."""
    for player in range(2):
        x, y = starts[player, 0] + at[2 * player], starts[player, 1] + at[2 * player + 1]
        for b in range(boxes.shape[0]):
            dx = max(boxes[b, 0] - x, x - boxes[b, 2], 0.0)
            dy = max(boxes[b, 1] - y, y - boxes[b, 3], 0.0)
            if dx * dx + dy * dy <= reach * reach:
                return False
        if solid[player]:
            for k in range(objects.shape[0]):
                dx, dy, near = objects[k, 0] - x, objects[k, 1] - y, reach + radii[k]
                if dx * dx + dy * dy <= near * near:
                    return False
    dx = starts[0, 0] + at[0] - starts[1, 0] - at[2]
    dy = starts[0, 1] + at[1] - starts[1, 1] - at[3]
    return bool(dx * dx + dy * dy > 4 * reach * reach or not (solid[0] and solid[1]))


@compiled
def _is_still(asleep: Any, qvel: Any, forces: Any) -> bool:
    """Whether all but the avatars sleeps. The first two trees and the first four speeds are theirs."""
    for tree in range(2, asleep.shape[0]):
        if asleep[tree] < 0:  # it is awake
            return False
    for i in range(4, qvel.shape[0]):
        if qvel[i] != 0.0:  # a speed wakes it, as a force does
            return False
    for body in range(forces.shape[0]):
        for i in range(forces.shape[1]):
            if forces[body, i] != 0.0:
                return False
    return True


@compiled
def _coast(substeps: int, data: Any, surroundings: Any, scratch: Any, constants: Any) -> bool:
    """Moves the avatars by a frame; False, and nothing changed, if they may touch anything. Everything else sleeps."""
    qpos, qvel, ctrl, _, _, qacc, qacc_smooth, qacc_warmstart = data
    starts, solid, boxes, objects, radii = surroundings
    mass, gain, force_limit, timestep = constants[_MASS], constants[_GAIN], constants[_FORCE], constants[_TIMESTEP]
    at, speed, acceleration = scratch[0], scratch[1], scratch[2]
    for i in range(4):
        at[i], speed[i] = qpos[i], qvel[i]
    for _ in range(substeps):
        if not _is_apart(at, starts, solid, boxes, objects, radii, constants[_BODY]):
            return False
        for i in range(4):
            force = gain * ctrl[i] + (0.0 - gain * speed[i])
            force = min(max(force, -force_limit), force_limit)
            damping = gain if -force_limit < force < force_limit else 0.0  # a force at its limit depends on no speed
            acceleration[i] = force * (1.0 / mass)
            speed[i] += force * (1.0 / (mass + damping * timestep)) * timestep
            at[i] += speed[i] * timestep
    for i in range(4):
        qpos[i], qvel[i], qacc_smooth[i] = at[i], speed[i], acceleration[i]
    for i in range(qacc.shape[0]):  # MuJoCo does so in each substep without constraints, for all that sleeps, too
        qacc[i], qacc_warmstart[i] = qacc_smooth[i], qacc_smooth[i]
    return True


@compiled
def _advance(
    moves: Float64Array,
    frame: int,
    moved: bool,
    time: float,
    substeps: int,
    poses: Float64Array,
    must_open: Any,
    data: Any,
    surroundings: Any,
    scratch: Float64Array,
    constants: Float64Array,
    columns: Any,
) -> tuple[int, int, float]:
    """See `FreeMotion.advance`; returns the time, too.

    Args:
        poses: [2, 4], of the avatars: x, y, yaw, pitch. must_open: bool [2], of the hands.
        data: arrays of MuJoCo's data: qpos, qvel, ctrl, tree_asleep, xfrc_applied, qacc, qacc_smooth, qacc_warmstart.
        surroundings: `starts` [2, 3], where the avatars' coordinates are zero; `solid` [2], whether objects and the
            other avatar touch an avatar; `boxes` [boxes, 4], low x, low y, high x, high y of what never moves;
            `objects` [objects, 7], positions and quaternions; `radii` [objects], of their bounding balls.
        scratch: [3, 4]. constants: [12]. columns: of a move, in the order of the names above.
    """
    _, qvel, ctrl, asleep, forces, _, _, _ = data
    starts, _, _, objects, radii = surroundings
    still = _is_still(asleep, qvel, forces)
    for now in range(frame, moves.shape[1]):
        if not (moved and now == frame):
            for player in range(2):
                move = moves[player, now]
                if not must_open[player] and _may_grasp(poses[player], move, objects, radii, constants, columns):
                    return now, AT_GRASP, time
            for player in range(2):
                move = moves[player, now]
                _turn_and_walk(poses[player], move, ctrl[2 * player : 2 * player + 2], constants, columns)
                must_open[player] &= move[columns[_GRASP_COLUMN]] >= 0.5
        if not still or not _coast(substeps, data, surroundings, scratch, constants):
            return now, AT_CONTACT, time
        for _ in range(substeps):
            time += constants[_TIMESTEP]
        for player in range(2):
            for axis in range(2):
                poses[player, axis] = starts[player, axis] + data[0][2 * player + axis]
    return moves.shape[1], FINISHED, time


class FreeMotion:
    """Advances one simulation through frames in which nothing touches."""

    def __init__(
        self,
        compiled_model: HouseModel,
        data: mujoco.MjData,
        starts: Float64Array,
        poses: Float64Array,
        must_open: NDArray[np.bool_],
        radii: Float64Array,
        speeds: tuple[float, float],
    ) -> None:
        """Keeps the arrays, and changes `poses` [2, 4] and `must_open` [2]. `_advance` describes them.

        speeds: forward and to the side, m/s.
        """
        model, avatars = compiled_model.model, list(compiled_model.avatar_bodies)
        motor = model.actuator_gainprm[0, 0], model.actuator_forcerange[0, 1]
        grasp, pitches = (EYE_HEIGHT_M, REACH_M, GRASP_AIM_RAD), (MIN_PITCH_RAD, MAX_PITCH_RAD)
        body, mass = AVATAR_RADIUS_M + MARGIN_M, model.body_mass[avatars[0]]
        self._constants = np.array([body, *grasp, *pitches, *speeds, mass, *motor, model.opt.timestep])
        self._columns = FORWARD, STRAFE, YAW, PITCH, GRASP
        self._data = data
        self._arguments = (
            SUBSTEPS_PER_FRAME,
            poses,
            must_open,
            (
                *(data.qpos, data.qvel, data.ctrl, data.tree_asleep, data.xfrc_applied),
                *(data.qacc, data.qacc_smooth, data.qacc_warmstart),
            ),
            (
                *(starts, model.body_contype[avatars] != 0, compiled_model.obstacles),
                *(data.qpos[4:].reshape(-1, 7), radii),
            ),
            np.empty((3, 4)),
            self._constants,
            self._columns,
        )

    def turn_and_walk(self, pose: Float64Array, move: Float64Array, walk: Float64Array) -> None:
        """Applies a player's move [8], except for its hand, to its pose [4] and the controls [2] of its motors."""
        _turn_and_walk(pose, move, walk, self._constants, self._columns)

    def advance(self, moves: Float64Array, frame: int, moved: bool) -> tuple[int, int]:
        """Plays `moves` [2, frames, 8] from `frame` on; both hands hold nothing, and touch nothing they released.

        moved: whether the moves of the first frame were applied before. Returns the frame at which it stopped, and
        why: FINISHED, AT_GRASP or AT_CONTACT.
        """
        frame, reason, self._data.time = _advance(moves, frame, moved, self._data.time, *self._arguments)
        return frame, reason
