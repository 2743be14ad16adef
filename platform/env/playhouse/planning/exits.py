"""From where something can be thrown out of a room."""

from __future__ import annotations

import math

import numpy as np

from interplay.env.playhouse.planning.navigation import Ground, doorway_crossing
from interplay.env.playhouse.truth.facts import XY, HouseFacts

BEFORE = (1.6, 1.4, 1.8)  # meters before the middle of a doorway from which one throws through it, the best first


def doorway_exits(facts: HouseFacts, role: str, room: str) -> list[tuple[XY, XY]]:
    """Where a player can stand in a room to throw something through a doorway, and the point beyond it to aim at."""
    ground, ways = Ground(facts, role), []
    middle = next(each for each in facts.rooms if each.name == room).middle
    for door in facts.doorways:
        if room not in door.rooms:
            continue
        before, beyond = doorway_crossing(door, facts, middle)
        length = math.dist(before, beyond)
        along = ((beyond[0] - before[0]) / length, (beyond[1] - before[1]) / length)
        spots = [(door.middle[0] - away * along[0], door.middle[1] - away * along[1]) for away in BEFORE]
        prices = ground.price(np.array(spots))
        free = [spot for spot, price in zip(spots, prices.tolist(), strict=True) if price == 0.0]
        if free:
            ways.append((free[0], beyond))
    return ways
