"""Log of contact events: which player last touched, hit, pushed and released each thing, and when.

Tasks are stateless, and a touch may begin and end within one step. The simulation therefore examines its contacts as it
runs and keeps the last event of each kind for each thing. The log is part of a saved state.
"""

from __future__ import annotations

from collections.abc import Sequence

import mujoco
import numpy as np
from numpy.typing import NDArray

from interplay.env.playhouse.house.house_layout import House
from interplay.env.playhouse.physics.model import HouseModel

TOUCHED, HIT, PUSHED, LET_GO = EVENT_KINDS = range(4)
TIME, PLAYER, TOOL = range(3)
POSITION = slice(3, 6)
EVENT_FIELDS = 6  # of an event: time, player, tool, and the position of the thing
NEVER, NO_TOOL = -1.0, -1

MIN_HIT_SPEED_MPS = 1.0  # closing speed from which a touch is a hit; stretching out an arm is slower
SAME_CONTACT_S = 2.0  # after a longer interruption, a push or touch is a new event

ContactArray = NDArray[np.float64]  # [N, len(EVENT_KINDS), EVENT_FIELDS]


class ContactLog:
    """Last contact events of the N things of one house, furniture first. Players are numbered 0 and 1."""

    def __init__(self, house: House, compiled: HouseModel, data: mujoco.MjData) -> None:
        self.events = no_contacts(len(house.things))
        self._data = data
        self._first = len(house.furniture)
        count = len(house.objects)
        self._qpos = data.qpos[4:].reshape(count, 7)
        self.velocities: NDArray[np.float64] = data.qvel[4:].reshape(count, 6)  # current ones, of the loose things
        self._start_positions = np.array([thing.position for thing in house.things]).reshape(-1, 3)
        # By geom: index of a thing, -1 for walls and floor, -2 - player for avatars.
        self._owners = list(compiled.geom_thing)
        for player, body in enumerate(compiled.avatar_bodies):
            self._owners[int(compiled.model.body_geomadr[body])] = -2 - player

    def load(self, numbers: NDArray[np.float64] | None) -> None:
        """Restores saved events; None: no events.

        Raises:
            ValueError: the numbers belong to another house.
        """
        if numbers is not None and len(numbers) != self.events.size:
            raise ValueError(
                f"the state holds {len(numbers)} numbers of contact events, the {len(self.events)} things of this "
                f"house have {self.events.size}: it was saved by another version of the Playhouse"
            )
        self.events[:] = no_contacts(len(self.events)) if numbers is None else numbers.reshape(self.events.shape)

    def record_release(self, player: int, obj: int, time: float) -> None:
        """Records that a player released an object."""
        thing = self._first + obj
        self.events[thing, LET_GO] = (time, player, NO_TOOL, *self._position(thing))

    def record_pushes(self, time: float) -> None:
        """Records pushes among the current contacts; sufficient while both hands are empty."""
        owner_of_geom = self._owners
        for one, two in self._data.contact.geom.tolist():
            a, b = owner_of_geom[one], owner_of_geom[two]
            if a < NO_TOOL:
                self._record_push(time, -2 - a, one, b)
            elif b < NO_TOOL:
                self._record_push(time, -2 - b, two, a)

    def record_contacts(self, time: float, holds: Sequence[int | None], velocities_before: NDArray[np.float64]) -> None:
        """Records pushes, touches and hits among the current contacts.

        holds: by player, the object in its hand. velocities_before: a copy of `velocities` before them.
        """
        self.record_pushes(time)
        owner_of_geom, first = self._owners, self._first
        for number, (one, two) in enumerate(self._data.contact.geom.tolist()):
            a, b = owner_of_geom[one], owner_of_geom[two]
            if a >= 0 and b >= 0:
                for tool, thing in ((a, b), (b, a)):
                    if tool - first in holds:
                        self._record_touch(number, time, holds.index(tool - first), tool, thing, velocities_before)

    def _record_push(self, time: float, player: int, avatar: int, thing: int) -> None:
        """Records a contact of an avatar's geom with a thing as a push if the avatar walks towards the thing."""
        if thing < self._first:
            return
        x, y, _ = self._position(thing)
        at_x, at_y, _ = self._data.geom_xpos[avatar].tolist()
        speed_x, speed_y = self._data.ctrl[2 * player : 2 * player + 2].tolist()
        if (x - at_x) * speed_x + (y - at_y) * speed_y > 0.0:
            self._extend_event(thing, PUSHED, time, player, NO_TOOL)

    def _record_touch(
        self, contact: int, time: float, player: int, tool: int, thing: int, velocities_before: ContactArray
    ) -> None:
        self._extend_event(thing, TOUCHED, time, player, tool)
        touching = self._data.contact[contact]
        ahead = touching.frame[:3] if self._owners[touching.geom[0]] == tool else -touching.frame[:3]
        closing = velocities_before[tool - self._first, :3]
        if thing >= self._first:
            closing = closing - velocities_before[thing - self._first, :3]
        if float(closing @ ahead) >= MIN_HIT_SPEED_MPS:
            self.events[thing, HIT] = (time, player, tool, *self._position(thing))

    def _extend_event(self, thing: int, kind: int, time: float, player: int, tool: int) -> None:
        """Starts a push or touch, or extends the current one, which keeps the position where it began."""
        last = self.events[thing, kind]
        was, by, using = last[: POSITION.start].tolist()
        same = was != NEVER and (by, using) == (player, tool) and time - was <= SAME_CONTACT_S
        last[TIME] = time
        if not same or self.events[thing, LET_GO, TIME] > was:
            last[PLAYER], last[TOOL], last[POSITION] = player, tool, self._position(thing)

    def _position(self, thing: int) -> list[float]:
        place = self._start_positions[thing] if thing < self._first else self._qpos[thing - self._first, :3]
        numbers: list[float] = place.tolist()
        return numbers


def no_contacts(things: int) -> ContactArray:
    """The events of a house without any contact so far."""
    events = np.zeros((things, len(EVENT_KINDS), EVENT_FIELDS))
    events[..., TIME] = NEVER
    return events
