"""The physics of a house in motion: two avatars walk, look, take hold, carry, push and throw.

Yaw, pitch and what a hand does belong to the players, everything else to MuJoCo. A saved simulation is canonical:
saving re-seats the live simulation on the saved numbers, so that going on here and going on from the save are the
same computation, bit for bit. (Setting MuJoCo's state alone is not enough where bodies sleep: contacts, islands and
the solver's warm start would remember what the save does not.)
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import mujoco
import numpy as np
from numpy.typing import NDArray

from interplay.env.playhouse.house.action_codec import COMPONENTS, FORWARD, PITCH, STRAFE, YAW
from interplay.env.playhouse.house.config import PlayhouseConfig
from interplay.env.playhouse.house.house_layout import House
from interplay.env.playhouse.physics.contacts import ContactLog
from interplay.env.playhouse.physics.hand import EYE_HEIGHT, Hand, gaze, offers
from interplay.env.playhouse.physics.model import SUBSTEPS, TIMESTEP, HouseModel, build_model

LOWEST_PITCH, HIGHEST_PITCH = math.radians(-75.0), math.radians(60.0)
START_PITCH = math.radians(-20.0)  # level, an eye at 1.45 m would see the floor only from 2.5 m on
FRAME_SECONDS = SUBSTEPS * TIMESTEP
STILL = 0.05  # meters a second (and radians a second, times four) below which a thing is at rest

STATE = mujoco.mjtState.mjSTATE_INTEGRATION
SLEEPS, WAKES = int(mujoco.mjtSleepPolicy.mjSLEEP_INIT), int(mujoco.mjtSleepPolicy.mjSLEEP_ALLOWED)
REST = tuple(0.0 for _ in COMPONENTS)

Move = Sequence[float]  # one frame of one player: a float for each of `codec.COMPONENTS`


@dataclass
class Avatar:
    """Where a player stands and looks. Meters and radians."""

    x: float
    y: float
    yaw: float
    pitch: float

    @property
    def eye(self) -> tuple[float, float, float]:
        return self.x, self.y, EYE_HEIGHT


@dataclass(frozen=True)
class Moment:
    """Everything that a picture or a fact needs, at a boundary of frames; N things, furniture first."""

    time: float  # seconds
    positions: NDArray[np.float32]  # [N, 3]
    quaternions: NDArray[np.float32]  # [N, 4], w first
    avatars: NDArray[np.float32]  # [2, 4]: x, y, yaw, pitch
    holding: tuple[int | None, int | None]  # by player, the index of a thing
    resting: NDArray[np.bool_]  # [N]
    deeds: NDArray[np.float32] | None  # [N, sorts, numbers] as in `memory`; None where nothing is remembered


class Simulation:
    """One house in motion."""

    def __init__(self, house: House, config: PlayhouseConfig) -> None:
        self.house = house
        self.config = config
        self.compiled: HouseModel = build_model(house, setter_solid=config.setter_visible)
        self.model = self.compiled.model
        self.data = mujoco.MjData(self.model)
        self.first = len(house.furniture)  # the index of the first loose object
        self.hands = tuple(Hand(player, self.compiled, self.data) for player in range(2))
        self.avatars = tuple(Avatar(x, y, yaw, START_PITCH) for x, y, yaw in house.starts)
        self.memory = ContactLog(house, self.compiled, self.data) if config.track_contacts else None
        self._state = np.empty(mujoco.mj_stateSize(self.model, STATE))
        count = len(house.objects)
        self._ctrl = self.data.ctrl
        self._avatar_qpos = self.data.qpos[:4].reshape(2, 2)
        self._object_qpos = self.data.qpos[4:].reshape(count, 7)
        self._object_qvel = self.data.qvel[4:].reshape(count, 6)
        self._positions = np.array([thing.position for thing in house.things], dtype=np.float32).reshape(-1, 3)
        self._quaternions = np.array(
            [(math.cos(thing.yaw / 2), 0.0, 0.0, math.sin(thing.yaw / 2)) for thing in house.things], dtype=np.float32
        ).reshape(-1, 4)

    def frame(self, moves: Sequence[Move]) -> None:
        """Advances one frame by the moves of the setter and of the solver."""
        for player, avatar in enumerate(self.avatars):
            self._move(player, avatar, moves[player])
        if self.memory is None:
            mujoco.mj_step(self.model, self.data, nstep=SUBSTEPS)
        else:
            self._step_and_remember(self.memory)
        for avatar, start, (x, y) in zip(self.avatars, self.house.starts, self._avatar_qpos.tolist(), strict=True):
            avatar.x, avatar.y = start[0] + x, start[1] + y

    def _move(self, player: int, avatar: Avatar, move: Move) -> None:
        turned = move[YAW]
        avatar.yaw = math.remainder(avatar.yaw + turned, math.tau)
        avatar.pitch = min(max(avatar.pitch + move[PITCH], LOWEST_PITCH), HIGHEST_PITCH)
        forward = self.config.walk_speed * move[FORWARD]
        right = self.config.strafe_speed * move[STRAFE]
        cos, sin = math.cos(avatar.yaw), math.sin(avatar.yaw)
        vx, vy = forward * cos + right * sin, forward * sin - right * cos
        self._ctrl[2 * player], self._ctrl[2 * player + 1] = vx, vy
        holder, other = self.avatars[1 - player], self.hands[1 - player]
        offered = other.holds is not None and offers((holder.x, holder.y), holder.yaw, (avatar.x, avatar.y))
        look = gaze(avatar.yaw, avatar.pitch)
        hand = self.hands[player]
        had = hand.holds
        hand.act(avatar.eye, look, turned, (vx, vy), move, other, offered)
        if had is not None and hand.holds is None and self.memory is not None:
            self.memory.let_go(player, had, self.data.time)

    def _step_and_remember(self, memory: ContactLog) -> None:
        """The physics of a frame; in halves where a hand is full, as what strikes may touch for less than a frame."""
        model, data, time = self.model, self.data, self.data.time
        if self.hands[0].holds is None and self.hands[1].holds is None:
            mujoco.mj_step(model, data, nstep=SUBSTEPS)
            if data.ncon:
                memory.look_for_pushes(time)
            return
        holds = [hand.holds for hand in self.hands]
        for _ in range(2):
            before = memory.speeds()
            mujoco.mj_step(model, data, nstep=SUBSTEPS // 2)
            if data.ncon:
                memory.look_for_touches(time, holds, before)

    def moment(self) -> Moment:
        """The present, in the single precision that is recorded: pictures drawn live and drawn again are the same."""
        positions, quaternions = self._positions.copy(), self._quaternions.copy()
        positions[self.first :] = self._object_qpos[:, :3]
        quaternions[self.first :] = self._object_qpos[:, 3:]
        resting = np.ones(len(positions), dtype=bool)
        speed = np.abs(self._object_qvel)
        resting[self.first :] = (speed[:, :3].max(axis=1) < STILL) & (speed[:, 3:].max(axis=1) < 4 * STILL)
        avatars = np.array([(a.x, a.y, a.yaw, a.pitch) for a in self.avatars], dtype=np.float32)
        held = [None if hand.holds is None else self.first + hand.holds for hand in self.hands]
        deeds = None if self.memory is None else self.memory.deeds.astype(np.float32)
        time = float(np.float32(self.data.time))
        return Moment(time, positions, quaternions, avatars, (held[0], held[1]), resting, deeds)

    def looked_at(self, player: int) -> int | None:
        """The index of the thing in the middle of a player's view."""
        avatar = self.avatars[player]
        mujoco.mj_kinematics(self.model, self.data)
        geom = self.hands[player].ray(avatar.eye, gaze(avatar.yaw, avatar.pitch))[0]
        thing = self.compiled.geom_thing[geom] if geom >= 0 else -1
        return None if thing < 0 else thing

    def save(self) -> NDArray[np.float64]:
        """Everything that moves as one vector; re-seats this simulation on it."""
        mujoco.mj_getState(self.model, self.data, self._state, STATE)
        avatars = [value for avatar in self.avatars for value in (avatar.x, avatar.y, avatar.yaw, avatar.pitch)]
        hands = np.concatenate([hand.save() for hand in self.hands])
        saved = np.concatenate([self._state, self.data.tree_asleep.astype(np.float64), avatars, hands])
        self.load(saved)
        return saved

    @property
    def saved_length(self) -> int:
        trees: int = self.model.ntree
        return self._state.size + trees + 8 + sum(len(hand.save()) for hand in self.hands)

    def load(self, saved: NDArray[np.float64]) -> None:
        """Seats the simulation on a vector from `save`."""
        state, asleep, avatars, hands = np.split(saved, np.cumsum([self._state.size, self.model.ntree, 8]).tolist())
        for avatar, values in zip(self.avatars, avatars.reshape(2, 4).tolist(), strict=True):
            avatar.x, avatar.y, avatar.yaw, avatar.pitch = values
        for hand, numbers in zip(self.hands, np.split(hands, 2), strict=True):
            hand.load(numbers.tolist())
        state = np.ascontiguousarray(state)
        model, data = self.model, self.data
        mujoco.mj_setState(model, data, state, STATE)
        # Resetting lays what sleeps where the model says that it starts, and works out its place only there.
        model.qpos0[4:] = data.qpos[4:]
        model.tree_sleep_policy[2:] = np.where(asleep[2:] >= 0, SLEEPS, WAKES)
        mujoco.mj_resetData(model, data)
        mujoco.mj_setState(model, data, state, STATE)

    def place(self, moment: Moment) -> None:
        """Puts a recorded moment on the stage for `looked_at`; the physics can not go on from it."""
        self.model.tree_sleep_policy[2:] = WAKES  # the places of the sleeping are not worked out
        mujoco.mj_resetData(self.model, self.data)
        self._object_qpos[:, :3] = moment.positions[self.first :]
        self._object_qpos[:, 3:] = moment.quaternions[self.first :]
        for avatar, start, qpos, values in zip(
            self.avatars, self.house.starts, self._avatar_qpos, moment.avatars.tolist(), strict=True
        ):
            avatar.x, avatar.y, avatar.yaw, avatar.pitch = values
            qpos[:] = avatar.x - start[0], avatar.y - start[1]
