"""A player's hand: takes hold of what the player looks at, carries, turns, drops and throws it.

The hand is a mocap body that leads the object by a weld. It never runs more than `LEASH` ahead of the object, so the
pull is bounded and nothing is dragged through a wall; what falls too far behind is lost.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import mujoco
import numpy as np
from numpy.typing import NDArray

from interplay.env.playhouse.house.action_codec import GRASP, PUSH, ROTATE, THROW
from interplay.env.playhouse.house.category import XYZ
from interplay.env.playhouse.physics.model import AVATAR_RADIUS, AVATARS, THICK, HouseModel

EYE_HEIGHT = 1.45  # meters
REACH = 2.2  # meters from the eye
NEAREST, FARTHEST = 0.6, 1.8  # meters from the eye to what is carried
LEASH = 0.35  # meters that the hand may be ahead of the object
SLIP = 1.6  # meters between where the player points and where the object is
LOWEST = 0.05  # meters above the floor, for the hand
PUSH_STEP = 0.02  # meters a frame
ROTATE_STEP = 0.08  # radians a frame
THROW_SPEED = 4.5  # meters a second
NEIGHBOR = 0.05  # radians: a grasp forgives so much aim, up, down, left and right
OFF_WALLS = 0.1  # meters from the hand to a wall where it carries something slight, which it could press into it
NUDGE = 1e-9  # newtons: moves nothing, but what a force acts on does not sleep
OFFERING = math.radians(45)  # off the other player, at most, of who holds something out to it
NOTHING = -1


def offers(holder: tuple[float, float], yaw: float, taker: tuple[float, float]) -> bool:
    """Does who holds something hold it out to another: is it turned to it?"""
    towards = math.atan2(taker[1] - holder[1], taker[0] - holder[0])
    return abs(math.remainder(towards - yaw, math.tau)) <= OFFERING


def gaze(yaw: float, pitch: float) -> XYZ:
    """The unit vector of this yaw and pitch (radians)."""
    level = math.cos(pitch)
    return level * math.cos(yaw), level * math.sin(yaw), math.sin(pitch)


def _ball_radius(compiled: HouseModel, geoms: Sequence[int]) -> float:
    """The radius of the ball around an object's center that holds all of its geoms, meters."""
    model = compiled.model
    return max(float(np.linalg.norm(model.geom_pos[g]) + model.geom_rbound[g]) for g in geoms)


def _touches_thick_walls(compiled: HouseModel, geoms: Sequence[int]) -> bool:
    return bool(compiled.model.geom_conaffinity[geoms[0]] & THICK)


def _thick_walls(model: mujoco.MjModel) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The low and the high corners of the thick walls, [W, 3] each."""
    walls = model.geom_contype == THICK
    return model.geom_pos[walls] - model.geom_size[walls], model.geom_pos[walls] + model.geom_size[walls]


class Hand:
    """One player's hand in one simulation. Objects are numbered as in `House.objects`."""

    def __init__(self, player: int, compiled: HouseModel, data: mujoco.MjData) -> None:
        self.player = player
        self.compiled = compiled
        self.model = compiled.model
        self.data = data
        self.holds: int | None = None
        self.distance = 1.0  # meters from the eye to what it carries
        self.spent = False  # it threw or lost something, and must open before it takes hold again
        self.leaving: int | None = None  # what it let go of, while that still overlaps the avatar
        objects = len(compiled.object_geoms)
        self._qpos = data.qpos[4:].reshape(objects, 7)
        self._qvel = data.qvel[4:].reshape(objects, 6)
        self._body = compiled.avatar_bodies[player]
        self._bodies = [int(self.model.geom_bodyid[geoms[0]]) for geoms in compiled.object_geoms]
        self._position = data.mocap_pos[player]
        self._quaternion = data.mocap_quat[player]
        self._geom = np.full(1, -1, dtype=np.int32)
        self._object_of_geom = {geom: k for k, geoms in enumerate(compiled.object_geoms) for geom in geoms}
        self._slight = [_touches_thick_walls(compiled, geoms) for geoms in compiled.object_geoms]
        self._walls = _thick_walls(self.model)
        self._reach_of = [_ball_radius(compiled, geoms) for geoms in compiled.object_geoms]

    def act(
        self,
        eye: XYZ,
        look: XYZ,
        turned: float,
        walk: tuple[float, float],
        move: Sequence[float],
        other: Hand,
        offered: bool,
    ) -> None:
        """One frame of a player whose eye looks along `look`.

        turned: radians of yaw in this frame. walk: the avatar's velocity, meters a second. move: as in `codec`.
        offered: does the other hand hold out what it holds? Only then can it be taken from it.
        """
        if self.leaving is not None:
            self._part_from(eye)
        grasps = move[GRASP] >= 0.5
        if self.holds is None:
            self.spent = self.spent and grasps
            if grasps and not self.spent:
                self._take(eye, look, other, offered)
            if self.holds is None:
                return
        if move[THROW] >= 0.5:
            self._throw(look, walk)
        elif not grasps:
            self._let_go()
        else:
            self._carry(eye, look, turned, move)

    def ray(self, eye: XYZ, look: XYZ) -> tuple[int, float]:
        """The geom that a ray from the eye hits first, -1 for none, and how far away. Needs fresh kinematics."""
        start, along = np.array(eye), np.array(look)
        distance = mujoco.mj_ray(self.model, self.data, start, along, None, True, self._body, self._geom)
        return int(self._geom[0]), distance

    def _take(self, eye: XYZ, look: XYZ, other: Hand, offered: bool) -> None:
        """Takes hold of an object in reach along the gaze, or a little beside it; out of the other hand, too, if that
        holds it out. That hand then has to open before it takes hold again."""
        if not self._may_take(eye, look):
            return
        mujoco.mj_kinematics(self.model, self.data)
        yaw, pitch = math.atan2(look[1], look[0]), math.asin(look[2])
        aims = ((0, 0), (0, -NEIGHBOR), (0, NEIGHBOR), (-NEIGHBOR, 0), (NEIGHBOR, 0))
        for aside, up in aims:
            geom, distance = self.ray(eye, gaze(yaw + aside, pitch + up))
            found = self._object_of_geom.get(geom)
            if found is not None and distance <= REACH and (found != other.holds or offered):
                if found == other.holds:
                    other.give()
                self._hold(found)
                center = self._qpos[found]
                along = sum((float(center[k]) - eye[k]) * look[k] for k in range(3))
                self.distance = min(max(along, NEAREST), FARTHEST)
                self._position[:], self._quaternion[:] = center[:3], center[3:]
                return

    def _may_take(self, eye: XYZ, look: XYZ) -> bool:
        """Is the ball around any object near enough to the gaze? Where none is, no ray need be cast."""
        for (x, y, z), radius in zip(self._qpos[:, :3].tolist(), self._reach_of, strict=True):
            dx, dy, dz = x - eye[0], y - eye[1], z - eye[2]
            away, along = math.sqrt(dx * dx + dy * dy + dz * dz), dx * look[0] + dy * look[1] + dz * look[2]
            aside = math.sqrt(max(away * away - along * along, 0.0))
            if away < REACH + radius and along > -radius and aside < radius + 2 * NEIGHBOR * away:
                return True
        return False

    def _hold(self, obj: int) -> None:
        if self.leaving is not None:
            self._collide(self.leaving, True)
            self.leaving = None
        self.holds = obj
        self.data.eq_active[self.compiled.weld(self.player, obj)] = 1
        self._collide(obj, False)
        self.data.xfrc_applied[self._bodies[obj], 2] = NUDGE

    def _carry(self, eye: XYZ, look: XYZ, turned: float, move: Sequence[float]) -> None:
        assert self.holds is not None
        self.distance = min(max(self.distance + PUSH_STEP * move[PUSH], NEAREST), FARTHEST)
        x, y, z = self._qpos[self.holds, :3].tolist()
        away = self.distance
        if self._slight[self.holds]:
            away = min(away, self._wall_ahead(eye, look) - OFF_WALLS)
        dx = eye[0] + look[0] * away - x
        dy = eye[1] + look[1] * away - y
        dz = max(eye[2] + look[2] * away, LOWEST) - z
        behind = math.sqrt(dx * dx + dy * dy + dz * dz)
        if behind > SLIP:
            self._let_go()
            self.spent = True
            return
        part = LEASH / behind if behind > LEASH else 1.0
        self._position[:] = (x + part * dx, y + part * dy, z + part * dz)
        turn = turned + ROTATE_STEP * move[ROTATE]
        if turn:
            self._turn(turn)

    def _wall_ahead(self, eye: XYZ, look: XYZ) -> float:
        """How far it is from the eye to a wall, meters; inf through a doorway into the open."""
        along = np.where(np.abs(look) > 1e-9, look, 1e-9)
        one, other = (self._walls[0] - eye) / along, (self._walls[1] - eye) / along
        enters, leaves = np.minimum(one, other).max(axis=1), np.maximum(one, other).min(axis=1)
        ahead = enters[(enters < leaves) & (enters > 0.0)]
        return float(ahead.min(initial=math.inf))

    def _turn(self, angle: float) -> None:
        """Turns what it carries about the vertical."""
        cos, sin = math.cos(angle / 2), math.sin(angle / 2)
        w, x, y, z = self._quaternion.tolist()
        turned = (cos * w - sin * z, cos * x - sin * y, cos * y + sin * x, cos * z + sin * w)
        norm = math.sqrt(sum(value * value for value in turned))
        self._quaternion[:] = [value / norm for value in turned]

    def _throw(self, look: XYZ, walk: tuple[float, float]) -> None:
        assert self.holds is not None
        speed = (walk[0] + THROW_SPEED * look[0], walk[1] + THROW_SPEED * look[1], THROW_SPEED * look[2])
        self._qvel[self.holds, :3] = speed
        self._let_go()
        self.spent = True

    def _let_go(self) -> None:
        """Opens; the object goes on ignoring its holder until the two no longer overlap."""
        assert self.holds is not None
        self.data.eq_active[self.compiled.weld(self.player, self.holds)] = 0
        self.data.xfrc_applied[self._bodies[self.holds], 2] = 0.0
        self.leaving, self.holds = self.holds, None

    def give(self) -> None:
        """Leaves what it holds to another hand."""
        self._let_go()
        self.spent = True

    def _part_from(self, eye: XYZ) -> None:
        assert self.leaving is not None
        x, y = self._qpos[self.leaving, :2].tolist()
        if math.hypot(x - eye[0], y - eye[1]) > AVATAR_RADIUS + self._reach_of[self.leaving]:
            self._collide(self.leaving, True)
            self.leaving = None

    def _collide(self, obj: int, on: bool) -> None:
        """Whether an object touches this player's avatar."""
        bit = AVATARS[self.player]
        for geom in self.compiled.object_geoms[obj]:
            affinity = int(self.model.geom_conaffinity[geom])
            self.model.geom_conaffinity[geom] = affinity | bit if on else affinity & ~bit

    def save(self) -> list[float]:
        """What MuJoCo's own state does not know."""
        holds = NOTHING if self.holds is None else self.holds
        leaving = NOTHING if self.leaving is None else self.leaving
        return [float(holds), float(leaving), self.distance, float(self.spent)]

    def load(self, saved: Sequence[float]) -> None:
        """Back to what was saved; welds are MuJoCo's to restore."""
        for obj in (self.holds, self.leaving):
            if obj is not None:
                self._collide(obj, True)
        holds, leaving = int(saved[0]), int(saved[1])
        self.holds = None if holds == NOTHING else holds
        self.leaving = None if leaving == NOTHING else leaving
        self.distance, self.spent = float(saved[2]), bool(saved[3])
        for obj in (self.holds, self.leaving):
            if obj is not None:
                self._collide(obj, False)
