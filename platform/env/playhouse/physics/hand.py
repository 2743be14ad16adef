"""A player's hand: grasps the object the player looks at, then carries, turns, drops or throws it.

The hand is a mocap body that pulls the object through a weld constraint. It stays within `MAX_HAND_LEAD_M` of the
object, which bounds the pull, so nothing is dragged through a wall. An object that lags more than `MAX_HAND_LAG_M`
behind is dropped.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import mujoco
import numpy as np
from numpy.typing import NDArray

from interplay.env.arrays import Float64Array
from interplay.env.playhouse.house.action_codec import GRASP, PUSH, ROTATE, THROW, YAW
from interplay.env.playhouse.house.category import XYZ
from interplay.env.playhouse.physics.free_motion import is_any_in_reach
from interplay.env.playhouse.physics.model import AVATAR_RADIUS_M, AVATARS, GRASP_AIM_RAD, REACH_M, THICK, HouseModel

MIN_CARRY_M, MAX_CARRY_M = 0.6, 1.8  # from the eye to a carried object
MAX_HAND_LEAD_M = 0.35  # maximum hand-object distance
MAX_HAND_LAG_M = 1.6  # an object farther than this from its target position is dropped
MIN_HAND_HEIGHT_M = 0.05  # above the floor
PUSH_M_PER_FRAME = 0.02
ROTATE_RAD_PER_FRAME = 0.08
THROW_SPEED_MPS = 4.5
# Minimum hand-wall distance while carrying a thin object, which could otherwise be pressed into the wall.
WALL_CLEARANCE_M = 0.1
WAKE_FORCE_N = 1e-9  # too small to move anything, but an applied force keeps the body awake
OFFER_AIM_RAD = math.radians(45)  # an object is offered if the other player is within this angle of the holder's gaze
NO_OBJECT = -1


def is_offered(holder: tuple[float, float], yaw: float, taker: tuple[float, float]) -> bool:
    """Whether the holder of an object offers it to the taker, i.e. faces it."""
    towards = math.atan2(taker[1] - holder[1], taker[0] - holder[0])
    return abs(math.remainder(towards - yaw, math.tau)) <= OFFER_AIM_RAD


def gaze_direction(yaw: float, pitch: float) -> XYZ:
    """Returns the unit vector for the given yaw and pitch (radians)."""
    level = math.cos(pitch)
    return level * math.cos(yaw), level * math.sin(yaw), math.sin(pitch)


class Hand:
    """One player's hand in a simulation. Objects are numbered as in `House.objects`."""

    def __init__(
        self,
        player: int,
        compiled: HouseModel,
        data: mujoco.MjData,
        must_open: NDArray[np.bool_],
        radii: Float64Array,
    ) -> None:
        """must_open: [2], by player; changed here and by `FreeMotion`. radii: of `bounding_radii`."""
        self.player = player
        self.compiled = compiled
        self.model = compiled.model
        self.data = data
        self.holds: int | None = None
        self.distance = 1.0  # meters from the eye to the carried object
        self._must_open = must_open
        self.released: int | None = None  # the last released object while it still overlaps the avatar
        objects = len(compiled.object_geoms)
        self._qpos = data.qpos[4:].reshape(objects, 7)
        self._qvel = data.qvel[4:].reshape(objects, 6)
        self._body = compiled.avatar_bodies[player]
        self._position = data.mocap_pos[player]
        self._quaternion = data.mocap_quat[player]
        self._geom = np.full(1, -1, dtype=np.int32)
        self._object_of_geom = {geom: k for k, geoms in enumerate(compiled.object_geoms) for geom in geoms}
        affinities = self.model.geom_conaffinity.tolist()
        self._is_thin = [bool(affinities[geoms[0]] & THICK) for geoms in compiled.object_geoms]
        self._radii = radii

    @property
    def must_open(self) -> bool:
        """Whether the hand must open before it can grasp again, after a throw, loss or hand-over."""
        return bool(self._must_open[self.player])

    @must_open.setter
    def must_open(self, must_open: bool) -> None:
        self._must_open[self.player] = must_open

    @property
    def is_free(self) -> bool:
        """Whether it holds nothing and touches nothing that it released."""
        return self.holds is None and self.released is None

    def act(
        self, eye: XYZ, look: XYZ, walk: Sequence[float], move: Sequence[float], other: Hand, offered: bool
    ) -> None:
        """Applies one frame of this player's hand actions.

        Args:
            eye: position of the player's eye.
            look: unit vector of the player's gaze.
            walk: velocity of the avatar along x and y, m/s.
            move: the player's action in this frame, as in `action_codec`.
            other: hand of the other player.
            offered: whether the other hand offers its object; this hand can take the object only then.
        """
        if self.released is not None:
            self._stop_ignoring(eye)
        grasps = move[GRASP] >= 0.5
        if self.holds is None:
            self.must_open = self.must_open and grasps
            if grasps and not self.must_open:
                self._take(eye, look, other, offered)
            if self.holds is None:
                return
        if move[THROW] >= 0.5:
            self._throw(look, walk)
        elif not grasps:
            self._let_go()
        else:
            self._carry(eye, look, move)

    def ray(self, eye: XYZ, look: XYZ) -> tuple[int, float]:
        """The first geom hit by a ray from the eye (-1: none) and its distance. Requires current kinematics."""
        start, along = np.array(eye), np.array(look)
        distance = mujoco.mj_ray(self.model, self.data, start, along, None, True, self._body, self._geom)
        return int(self._geom[0]), distance

    def _take(self, eye: XYZ, look: XYZ, other: Hand, offered: bool) -> None:
        """Grasps an object within reach on or near the gaze, including one offered by the other hand.

        The other hand must then open before it can grasp again.
        """
        if not is_any_in_reach(self._qpos, self._radii, eye, look, REACH_M, GRASP_AIM_RAD):
            return
        mujoco.mj_kinematics(self.model, self.data)
        yaw, pitch = math.atan2(look[1], look[0]), math.asin(look[2])
        aims = ((0, 0), (0, -GRASP_AIM_RAD), (0, GRASP_AIM_RAD), (-GRASP_AIM_RAD, 0), (GRASP_AIM_RAD, 0))
        for aside, up in aims:
            geom, distance = self.ray(eye, gaze_direction(yaw + aside, pitch + up))
            found = self._object_of_geom.get(geom)
            if found is not None and distance <= REACH_M and (found != other.holds or offered):
                if found == other.holds:
                    other.lose_object()
                self._hold(found)
                center = self._qpos[found]
                along = sum((float(center[k]) - eye[k]) * look[k] for k in range(3))
                self.distance = min(max(along, MIN_CARRY_M), MAX_CARRY_M)
                self._position[:], self._quaternion[:] = center[:3], center[3:]
                return

    def _hold(self, obj: int) -> None:
        if self.released is not None:
            self._collide(self.released, True)
            self.released = None
        self.holds = obj
        self.data.eq_active[self.compiled.weld(self.player, obj)] = 1
        self._collide(obj, False)
        self.data.xfrc_applied[self.compiled.object_bodies[obj], 2] = WAKE_FORCE_N

    def _carry(self, eye: XYZ, look: XYZ, move: Sequence[float]) -> None:
        assert self.holds is not None
        self.distance = min(max(self.distance + PUSH_M_PER_FRAME * move[PUSH], MIN_CARRY_M), MAX_CARRY_M)
        x, y, z = self._qpos[self.holds, :3].tolist()
        away = self.distance
        if self._is_thin[self.holds]:
            away = min(away, self._wall_distance(eye, look) - WALL_CLEARANCE_M)
        dx = eye[0] + look[0] * away - x
        dy = eye[1] + look[1] * away - y
        dz = max(eye[2] + look[2] * away, MIN_HAND_HEIGHT_M) - z
        lag = math.sqrt(dx * dx + dy * dy + dz * dz)
        if lag > MAX_HAND_LAG_M:
            self.lose_object()
            return
        share = MAX_HAND_LEAD_M / lag if lag > MAX_HAND_LEAD_M else 1.0
        self._position[:] = (x + share * dx, y + share * dy, z + share * dz)
        turn = move[YAW] + ROTATE_RAD_PER_FRAME * move[ROTATE]
        if turn:
            self._turn(turn)

    def _wall_distance(self, eye: XYZ, look: XYZ) -> float:
        """Distance from the eye to the nearest thick wall along the gaze, meters; inf without one."""
        lows, highs = self.compiled.thick_walls
        along = np.where(np.abs(look) > 1e-9, look, 1e-9)
        one, other = (lows - eye) / along, (highs - eye) / along
        enters, leaves = np.minimum(one, other).max(axis=1), np.maximum(one, other).min(axis=1)
        ahead = enters[(enters < leaves) & (enters > 0.0)]
        return float(ahead.min(initial=math.inf))

    def _turn(self, angle: float) -> None:
        """Turns the carried object by `angle` radians about the vertical axis."""
        cos, sin = math.cos(angle / 2), math.sin(angle / 2)
        w, x, y, z = self._quaternion.tolist()
        turned = (cos * w - sin * z, cos * x - sin * y, cos * y + sin * x, cos * z + sin * w)
        norm = math.sqrt(sum(value * value for value in turned))
        self._quaternion[:] = [value / norm for value in turned]

    def _throw(self, look: XYZ, walk: Sequence[float]) -> None:
        assert self.holds is not None
        speed = (walk[0] + THROW_SPEED_MPS * look[0], walk[1] + THROW_SPEED_MPS * look[1], THROW_SPEED_MPS * look[2])
        self._qvel[self.holds, :3] = speed
        self.lose_object()

    def _let_go(self) -> None:
        """Releases the object, which ignores collisions with the avatar until the two no longer overlap."""
        assert self.holds is not None
        self.data.eq_active[self.compiled.weld(self.player, self.holds)] = 0
        self.data.xfrc_applied[self.compiled.object_bodies[self.holds], 2] = 0.0
        self.released, self.holds = self.holds, None

    def lose_object(self) -> None:
        """Releases the object, thrown, lost or taken by the other hand; this one must open before it grasps again."""
        self._let_go()
        self.must_open = True

    def _stop_ignoring(self, eye: XYZ) -> None:
        assert self.released is not None
        x, y = self._qpos[self.released, :2].tolist()
        if math.hypot(x - eye[0], y - eye[1]) > AVATAR_RADIUS_M + self._radii[self.released]:
            self._collide(self.released, True)
            self.released = None

    def _collide(self, obj: int, on: bool) -> None:
        """Switches collisions of an object with this player's avatar on or off."""
        bit = AVATARS[self.player]
        for geom in self.compiled.object_geoms[obj]:
            affinity = int(self.model.geom_conaffinity[geom])
            self.model.geom_conaffinity[geom] = affinity | bit if on else affinity & ~bit

    def save(self) -> list[float]:
        """Hand state that is not part of MuJoCo's."""
        holds = NO_OBJECT if self.holds is None else self.holds
        released = NO_OBJECT if self.released is None else self.released
        return [float(holds), float(released), self.distance, float(self.must_open)]

    def load(self, saved: Sequence[float]) -> None:
        """Restores a result of `save`; welds are part of MuJoCo's state."""
        for obj in (self.holds, self.released):
            if obj is not None:
                self._collide(obj, True)
        holds, released = int(saved[0]), int(saved[1])
        self.holds = None if holds == NO_OBJECT else holds
        self.released = None if released == NO_OBJECT else released
        self.distance, self.must_open = float(saved[2]), bool(saved[3])
        for obj in (self.holds, self.released):
            if obj is not None:
                self._collide(obj, False)
