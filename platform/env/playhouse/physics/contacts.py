"""What a house remembers of what was done in it: who last touched, hit, pushed and let go of each thing, and when.

Tasks have no memory, and a touch may begin and end within one step. So the simulation looks at its contacts as it goes,
and keeps of each thing the last deed of each sort. The memory is part of what is saved.
"""

from __future__ import annotations

from collections.abc import Sequence

import mujoco
import numpy as np
from numpy.typing import NDArray

from interplay.env.playhouse.house.house_layout import House
from interplay.env.playhouse.physics.model import HouseModel

TOUCHED, HIT, PUSHED, LET_GO = DEEDS = range(4)
TIME, PLAYER, TOOL = range(3)
PLACE = slice(3, 6)
NUMBERS = 6  # of a deed: time, player, tool, and where the thing was
NEVER, NOTHING = -1.0, -1

HITS = 1.0  # meters a second at which what is held closes in on what it hits: more than by stretching out an arm
PAUSE = 2.0  # seconds after which a push or a touch is another one than before

Deeds = NDArray[np.float64]  # [N, len(DEEDS), NUMBERS]


class ContactLog:
    """The deeds done to the N things of one house, furniture first. Players are numbered 0 and 1."""

    def __init__(self, house: House, compiled: HouseModel, data: mujoco.MjData) -> None:
        self.deeds = nothing_done(len(house.things))
        self._data = data
        self._first = len(house.furniture)
        count = len(house.objects)
        self._qpos = data.qpos[4:].reshape(count, 7)
        self._qvel = data.qvel[4:].reshape(count, 6)
        self._places = np.array([thing.position for thing in house.things]).reshape(-1, 3)
        self._owners = list(compiled.geom_thing)  # of each geom: a thing, -1 for walls and floor, -2 - player
        for player, body in enumerate(compiled.avatar_bodies):
            self._owners[int(compiled.model.body_geomadr[body])] = -2 - player

    def load(self, numbers: NDArray[np.float64] | None) -> None:
        """Back to what was saved; None: nothing is known.

        Raises:
            ValueError: the numbers are of another house.
        """
        if numbers is not None and len(numbers) != self.deeds.size:
            raise ValueError(
                f"the state remembers {len(numbers)} numbers of what was done, the {len(self.deeds)} things of this "
                f"house have {self.deeds.size}: it was saved by another version of the Playhouse"
            )
        self.deeds[:] = nothing_done(len(self.deeds)) if numbers is None else numbers.reshape(self.deeds.shape)

    def speeds(self) -> NDArray[np.float64]:
        """How fast each loose thing moves now [N - furniture, 6], to be handed to `look_for_touches` a little later."""
        speeds: NDArray[np.float64] = self._qvel.copy()
        return speeds

    def let_go(self, player: int, obj: int, time: float) -> None:
        """A player's hand opens, and an object leaves it."""
        thing = self._first + obj
        self.deeds[thing, LET_GO] = (time, player, NOTHING, *self._place(thing))

    def look_for_pushes(self, time: float) -> None:
        """Looks at the contacts that there are now, while all hands are open."""
        owners = self._owners
        for one, two in self._data.contact.geom.tolist():
            a, b = owners[one], owners[two]
            if a < NOTHING:
                self._bump(time, -2 - a, one, b)
            elif b < NOTHING:
                self._bump(time, -2 - b, two, a)

    def look_for_touches(self, time: float, holds: Sequence[int | None], before: NDArray[np.float64]) -> None:
        """... and while one is not.

        holds: by player, the object in its hand. before: `speeds` before these contacts.
        """
        self.look_for_pushes(time)
        owners, first = self._owners, self._first
        for number, (one, two) in enumerate(self._data.contact.geom.tolist()):
            a, b = owners[one], owners[two]
            if a >= 0 and b >= 0:
                for tool, thing in ((a, b), (b, a)):
                    if tool - first in holds:
                        self._touch(number, time, holds.index(tool - first), tool, thing, before)

    def _bump(self, time: float, player: int, avatar: int, thing: int) -> None:
        """An avatar's geom and a thing come together: a push, where the avatar walks towards the thing."""
        if thing < self._first:
            return
        x, y, _ = self._place(thing)
        at_x, at_y, _ = self._data.geom_xpos[avatar].tolist()
        speed_x, speed_y = self._data.ctrl[2 * player : 2 * player + 2].tolist()
        if (x - at_x) * speed_x + (y - at_y) * speed_y > 0.0:
            self._go_on(thing, PUSHED, time, player, NOTHING)

    def _touch(self, contact: int, time: float, player: int, tool: int, thing: int, before: Deeds) -> None:
        self._go_on(thing, TOUCHED, time, player, tool)
        touching = self._data.contact[contact]
        ahead = touching.frame[:3] if self._owners[touching.geom[0]] == tool else -touching.frame[:3]
        closing = before[tool - self._first, :3]
        if thing >= self._first:
            closing = closing - before[thing - self._first, :3]
        if float(closing @ ahead) >= HITS:
            self.deeds[thing, HIT] = (time, player, tool, *self._place(thing))

    def _go_on(self, thing: int, sort: int, time: float, player: int, tool: int) -> None:
        """A push or a touch begins, or goes on: then its place stays where it began."""
        last = self.deeds[thing, sort]
        was, by, using = last[: PLACE.start].tolist()
        same = was != NEVER and (by, using) == (player, tool) and time - was <= PAUSE
        last[TIME] = time
        if not same or self.deeds[thing, LET_GO, TIME] > was:
            last[PLAYER], last[TOOL], last[PLACE] = player, tool, self._place(thing)

    def _place(self, thing: int) -> list[float]:
        place = self._places[thing] if thing < self._first else self._qpos[thing - self._first, :3]
        numbers: list[float] = place.tolist()
        return numbers


def nothing_done(things: int) -> Deeds:
    """The memory of a house in which nothing has happened."""
    deeds = np.zeros((things, len(DEEDS), NUMBERS))
    deeds[..., TIME] = NEVER
    return deeds
