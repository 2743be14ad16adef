"""Simulation of a house: two avatars walk, look, grasp, carry, push and throw.

Yaw, pitch and hands are simulated here, everything else by MuJoCo. Saving also reloads the live simulation from the
saved numbers, so that continuing it and continuing from the save are the same computation, bit for bit. (Setting
MuJoCo's state alone is not enough if bodies sleep: contacts, islands and the solver's warm start would still hold
information that the save does not.)
"""

from __future__ import annotations

import logging
import math
from collections.abc import Sequence
from dataclasses import dataclass

import mujoco
import numpy as np
from numpy.typing import NDArray

from interplay.env.arrays import Float32Array, Float64Array
from interplay.env.compiled import c_function, compiled
from interplay.env.playhouse.house.action_codec import COMPONENTS
from interplay.env.playhouse.house.config import PlayhouseConfig
from interplay.env.playhouse.house.house_layout import House
from interplay.env.playhouse.physics.contacts import ContactLog
from interplay.env.playhouse.physics.free_motion import AT_CONTACT, AT_GRASP, FreeMotion
from interplay.env.playhouse.physics.hand import Hand, gaze_direction, is_offered
from interplay.env.playhouse.physics.model import (
    EYE_HEIGHT_M,
    SLEEPS,
    SUBSTEPS_PER_FRAME,
    TIMESTEP_S,
    WAKES,
    bounding_radii,
)
from interplay.env.playhouse.physics.model_cache import ModelCache

START_PITCH_RAD = math.radians(-20.0)  # at pitch 0, an eye at 1.45 m sees the floor only beyond 2.5 m
FRAME_SECONDS = SUBSTEPS_PER_FRAME * TIMESTEP_S
REST_SPEED_MPS = 0.05  # below it a thing is at rest; angular speed: below 4 times it, rad/s

STATE = mujoco.mjtState.mjSTATE_INTEGRATION
NOOP_MOVE = tuple(0.0 for _ in COMPONENTS)


def _zero() -> float:
    return 0.0


# MuJoCo reads a clock several times in every substep, for timers that are not used here: an eighth of a substep.
_NO_CLOCK = c_function("float64()", _zero)
mujoco.set_mjcb_time(_NO_CLOCK.ctypes)

log = logging.getLogger(__name__)


def _log_warning(message: str) -> None:
    """Logs a warning of MuJoCo, which would also write it to MUJOCO_LOG.TXT in the working directory."""
    # `Simulation.load` resets with the avatars at their starts. Of the bodies that slept, MuJoCo then leaves awake
    # those that touch an awake one. Saving loads, too, so that the live simulation and a restored one stay the same.
    expected = "marked as sleep='init'" in message
    log.log(logging.DEBUG if expected else logging.WARNING, "MuJoCo: %s", message)


mujoco.set_mju_user_warning(_log_warning)

Move = Sequence[float]  # one player in one frame: a float per entry of `action_codec.COMPONENTS`


@dataclass(frozen=True)
class Moment:
    """Snapshot between two frames from which pictures and facts are computed; N things, furniture first."""

    time: float  # seconds
    positions: NDArray[np.float32]  # [N, 3]
    quaternions: NDArray[np.float32]  # [N, 4], w first
    avatars: NDArray[np.float32]  # [2, 4]: x, y, yaw, pitch
    holding: tuple[int | None, int | None]  # by player, the index of a thing
    resting: NDArray[np.bool_]  # [N]
    contacts: NDArray[np.float32] | None  # [N, kinds, fields] as in `ContactLog`; None if contacts are not tracked


def furnished(house: House) -> Moment:
    """A moment of a house with all things at their first places: the reference for poses, which omit furniture."""
    positions = np.array([thing.position for thing in house.things], dtype=np.float32).reshape(-1, 3)
    quaternions = np.array(
        [(math.cos(thing.yaw / 2), 0.0, 0.0, math.sin(thing.yaw / 2)) for thing in house.things], dtype=np.float32
    ).reshape(-1, 4)
    avatars = np.array([(x, y, yaw, START_PITCH_RAD) for x, y, yaw in house.starts], dtype=np.float32)
    return Moment(0.0, positions, quaternions, avatars, (None, None), np.ones(len(positions), dtype=bool), None)


@compiled
def _copy_objects(
    positions: Float32Array,
    quaternions: Float32Array,
    resting: NDArray[np.bool_],
    first: int,
    qpos: NDArray[np.float64],
    qvel: NDArray[np.float64],
) -> None:
    """Fills the rows from `first` on, from the objects' coordinates [objects, 7] and velocities [objects, 6]."""
    for k in range(qpos.shape[0]):
        for j in range(3):
            positions[first + k, j] = qpos[k, j]
        for j in range(4):
            quaternions[first + k, j] = qpos[k, 3 + j]
        rests = True
        for j in range(6):
            rests &= abs(qvel[k, j]) < (REST_SPEED_MPS if j < 3 else 4 * REST_SPEED_MPS)
        resting[first + k] = rests


class Simulation:
    """MuJoCo simulation of one house with two players."""

    def __init__(self, house: House, config: PlayhouseConfig, models: ModelCache | None = None) -> None:
        """`models`: those of earlier simulations of these settings, which must not be used any more."""
        self.house = house
        self.config = config
        if models is None:
            models = ModelCache(setter_solid=config.setter_visible)
        self.compiled, self.data = models.get(house)
        self.model = self.compiled.model
        self.first = len(house.furniture)  # the index of the first loose object
        must_open, radii = np.zeros(2, np.bool_), bounding_radii(self.compiled)
        self.hands = tuple(Hand(player, self.compiled, self.data, must_open, radii) for player in range(2))
        # Of the avatars [2, 4]: x, y, yaw, pitch; meters and radians.
        self.poses = np.array([(*start, START_PITCH_RAD) for start in house.starts])
        self.contact_log = ContactLog(house, self.compiled, self.data) if config.track_contacts else None
        self._starts = np.array(house.starts, np.float64)
        speeds = config.walk_speed, config.strafe_speed
        self._free_motion = FreeMotion(self.compiled, self.data, self._starts, self.poses, must_open, radii, speeds)
        self._state = np.empty(mujoco.mj_stateSize(self.model, STATE))
        count = len(house.objects)
        self._ctrl = self.data.ctrl
        self._avatar_qpos = self.data.qpos[:4].reshape(2, 2)
        self._avatar_starts, self._avatar_places = self._starts[:, :2], self.poses[:, :2]
        self._object_qpos = self.data.qpos[4:].reshape(count, 7)
        self._object_qvel = self.data.qvel[4:].reshape(count, 6)
        still = furnished(house)
        self._positions, self._quaternions, self._resting = still.positions, still.quaternions, still.resting

    def frame(self, moves: Sequence[Move]) -> None:
        """Advances one frame with the moves of the setter and the solver."""
        self.frames(np.array(moves, np.float64)[:, None])

    def frames(self, moves: Float64Array) -> None:
        """Advances by the moves [2, frames, 8] of the setter and the solver."""
        frame, count = 0, moves.shape[1]
        while frame < count:
            reason = AT_GRASP
            if self._hands_are_free():
                frame, reason = self._free_motion.advance(moves, frame, False)
            if reason == AT_GRASP:
                for player in range(2):
                    self._move(player, moves[player, frame])
                reason = AT_CONTACT
                if self._hands_are_free():
                    frame, reason = self._free_motion.advance(moves, frame, True)
            if reason == AT_CONTACT:
                self._step()
                frame += 1

    def _hands_are_free(self) -> bool:
        return self.hands[0].is_free and self.hands[1].is_free

    def _move(self, player: int, move: Float64Array) -> None:
        """Applies a player's move; the physics of the frame come after it."""
        walk = self._ctrl[2 * player : 2 * player + 2]
        self._free_motion.turn_and_walk(self.poses[player], move, walk)
        x, y, yaw, pitch = self.poses[player].tolist()
        holder_x, holder_y, holder_yaw, _ = self.poses[1 - player].tolist()
        hand, other = self.hands[player], self.hands[1 - player]
        offered = other.holds is not None and is_offered((holder_x, holder_y), holder_yaw, (x, y))
        held_before = hand.holds
        hand.act((x, y, EYE_HEIGHT_M), gaze_direction(yaw, pitch), walk.tolist(), move.tolist(), other, offered)
        if held_before is not None and hand.holds is None and self.contact_log is not None:
            self.contact_log.record_release(player, held_before, self.data.time)

    def _step(self) -> None:
        """Steps MuJoCo for one frame, whose moves have been applied, and logs its contacts.

        While an object is held, it does so in two halves: a strike may last less than a frame.
        """
        model, data, time, contact_log = self.model, self.data, self.data.time, self.contact_log
        empty = self.hands[0].holds is None and self.hands[1].holds is None
        if contact_log is None or empty:
            mujoco.mj_step(model, data, nstep=SUBSTEPS_PER_FRAME)
            if contact_log is not None and data.ncon:
                contact_log.record_pushes(time)
        else:
            holds = [hand.holds for hand in self.hands]
            for _ in range(2):
                velocities_before = contact_log.velocities.copy()
                mujoco.mj_step(model, data, nstep=SUBSTEPS_PER_FRAME // 2)
                if data.ncon:
                    contact_log.record_contacts(time, holds, velocities_before)
        np.add(self._avatar_starts, self._avatar_qpos, out=self._avatar_places)

    def moment(self) -> Moment:
        """The current moment, in the float32 precision of recordings: live and redrawn pictures are identical."""
        positions, quaternions, resting = self._positions.copy(), self._quaternions.copy(), self._resting.copy()
        _copy_objects(positions, quaternions, resting, self.first, self._object_qpos, self._object_qvel)
        avatars = self.poses.astype(np.float32)
        held = [None if hand.holds is None else self.first + hand.holds for hand in self.hands]
        contacts = None if self.contact_log is None else self.contact_log.events.astype(np.float32)
        time = float(np.float32(self.data.time))
        return Moment(time, positions, quaternions, avatars, (held[0], held[1]), resting, contacts)

    def looked_at(self, player: int) -> int | None:
        """The index of the thing in the middle of a player's view."""
        x, y, yaw, pitch = self.poses[player].tolist()
        mujoco.mj_kinematics(self.model, self.data)
        geom = self.hands[player].ray((x, y, EYE_HEIGHT_M), gaze_direction(yaw, pitch))[0]
        thing = self.compiled.geom_thing[geom] if geom >= 0 else -1
        return None if thing < 0 else thing

    def save(self) -> NDArray[np.float64]:
        """The whole dynamic state as one vector; also reloads this simulation from it."""
        mujoco.mj_getState(self.model, self.data, self._state, STATE)
        hands = np.concatenate([hand.save() for hand in self.hands])
        saved = np.concatenate([self._state, self.data.tree_asleep.astype(np.float64), self.poses.ravel(), hands])
        self.load(saved)
        return saved

    @property
    def saved_length(self) -> int:
        trees: int = self.model.ntree
        return self._state.size + trees + 8 + sum(len(hand.save()) for hand in self.hands)

    def load(self, saved: NDArray[np.float64]) -> None:
        """Restores the simulation from a vector returned by `save`."""
        model, data = self.model, self.data
        avatars_start = self._state.size + model.ntree
        hands_start = avatars_start + self.poses.size
        state, asleep = saved[: self._state.size], saved[self._state.size : avatars_start]
        self.poses[...] = saved[avatars_start:hands_start].reshape(2, 4)
        for hand, numbers in zip(self.hands, saved[hands_start:].reshape(2, -1).tolist(), strict=True):
            hand.load(numbers)
        mujoco.mj_setState(model, data, state, STATE)
        # A reset puts sleeping bodies at their start pose in the model and computes their kinematics only there.
        model.qpos0[4:] = data.qpos[4:]
        model.tree_sleep_policy[2:] = np.where(asleep[2:] >= 0, SLEEPS, WAKES)
        mujoco.mj_resetData(model, data)
        mujoco.mj_setState(model, data, state, STATE)

    def load_moment(self, moment: Moment) -> None:
        """Loads a recorded moment for `looked_at`; the simulation cannot be stepped from it."""
        self.model.tree_sleep_policy[2:] = WAKES  # kinematics of sleeping bodies are not computed
        mujoco.mj_resetData(self.model, self.data)
        self._object_qpos[:, :3] = moment.positions[self.first :]
        self._object_qpos[:, 3:] = moment.quaternions[self.first :]
        self.poses[...] = moment.avatars
        self._avatar_qpos[...] = self._avatar_places - self._avatar_starts
