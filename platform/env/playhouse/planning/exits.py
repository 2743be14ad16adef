"""Spots from which a thing can be thrown out of a room."""

from __future__ import annotations

import math

import numpy as np

from interplay.env.playhouse.planning.navigation import Ground, doorway_crossing
from interplay.env.playhouse.truth.facts import XY, HouseFacts

THROW_DISTANCES_M = (1.6, 1.4, 1.8)  # from the middle of a doorway to where one throws through it, the best first


def doorway_exits(facts: HouseFacts, role: str, room: str) -> list[tuple[XY, XY]]:
    """For each doorway of a room: a free spot to stand at, and the point beyond the doorway to aim at."""
    ground, exits = Ground(facts, role), []
    middle = next(each for each in facts.rooms if each.name == room).middle
    for door in facts.doorways:
        if room not in door.rooms:
            continue
        before, beyond = doorway_crossing(door, facts, middle)
        length = math.dist(before, beyond)
        along = ((beyond[0] - before[0]) / length, (beyond[1] - before[1]) / length)
        spots = [(door.middle[0] - away * along[0], door.middle[1] - away * along[1]) for away in THROW_DISTANCES_M]
        prices = ground.price(np.array(spots))
        free = [spot for spot, price in zip(spots, prices.tolist(), strict=True) if price == 0.0]
        if free:
            exits.append((free[0], beyond))
    return exits
