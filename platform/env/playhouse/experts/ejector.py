"""Takes a thing to a doorway and throws it through."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from interplay.env.playhouse import queries
from interplay.env.playhouse.experts.thrower import Thrower
from interplay.env.playhouse.facts import XY, HouseFacts, Thing
from interplay.env.playhouse.navigation import Ground, through
from interplay.env.playhouse.walker import Spot
from interplay.env.world import Movement, WorldSpec

if TYPE_CHECKING:
    from interplay.env.playhouse.errands.throw import ThrowOut

BEFORE = (1.6, 1.4, 1.8)  # metres before the middle of a doorway from which one throws through it, the best first
REACHED = 0.3  # metres from there
CARRY = math.radians(-25)  # the pitch at which a thing is carried


class Ejector(Thrower):
    """Fetches a thing, carries it before a doorway of its room, and throws it through."""

    def __init__(self, task: ThrowOut, spec: WorldSpec) -> None:
        super().__init__(task, spec)
        self._room = task.room
        self._stand: XY | None = None

    def _ready(self, facts: HouseFacts, thing: Thing) -> Movement | None:
        body = facts.bodies[self.role]
        if self._aim is None or self._stand is None:
            ways = ways_out(facts, self.role, self._room)
            self._stand, self._aim = min(ways, key=lambda way: queries.walk(facts, body.position, way[0]))
        stand = self._stand
        if math.dist(body.position, stand) > REACHED and not self._drawn:
            return self._walker.step(
                facts,
                Spot(stand),
                lambda point: math.dist(point, stand),
                REACHED,
                pitch=CARRY - body.pitch,
                grasp=True,
                most=self._haste,
            )
        return self._turn(body, thing, self._aim)


def ways_out(facts: HouseFacts, role: str, room: str) -> list[tuple[XY, XY]]:
    """Where a player can stand in a room to throw something through a doorway, and the point beyond it to aim at."""
    ground, ways = Ground(facts, role), []
    middle = next(each for each in facts.rooms if each.name == room).middle
    for door in facts.doorways:
        if room not in door.rooms:
            continue
        before, beyond = through(door, facts, middle)
        length = math.dist(before, beyond)
        along = ((beyond[0] - before[0]) / length, (beyond[1] - before[1]) / length)
        spots = [(door.middle[0] - away * along[0], door.middle[1] - away * along[1]) for away in BEFORE]
        prices = ground.price(np.array(spots))
        free = [spot for spot, price in zip(spots, prices.tolist(), strict=True) if price == 0.0]
        if free:
            ways.append((free[0], beyond))
    return ways
