"""Where a player can stand to put something down at a point."""

from __future__ import annotations

import math
from collections.abc import Collection

import numpy as np

from interplay.env.playhouse.planning.navigation import Ground
from interplay.env.playhouse.truth import predicates
from interplay.env.playhouse.truth.facts import XY, HouseFacts

ARMS = (0.85, 1.0)  # meters from the point, as the hand likes it
ROUND = 16  # directions looked at
CLEARING = 0.4  # meters from loose things to where one stands, not to knock them in turning
CROWDED = 1.0  # meters of walking that one would rather go than stand closer to them than that


def standing_spot(
    facts: HouseFacts, role: str, point: XY, *, away: float = 0.0, held: int | None = None, taken: Collection[XY] = ()
) -> XY | None:
    """The spot, in the point's room and with a free line to it, that is best to walk to; None where there is none.

    `away`: meters that it is farther off than the arm likes, for what stands at the point is wide. `taken`: spots
    where things will lie.
    """
    room = predicates.nearest_room(facts, point)
    body = facts.bodies[role]
    ground = Ground(facts, role, () if held is None else (held,))
    angles = np.arange(ROUND) * math.tau / ROUND
    around = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    spots = np.concatenate([np.asarray(point) + (arm + away) * around for arm in ARMS])
    free = ground.price(spots) == 0.0
    best, least = None, math.inf
    for x, y in spots[free].tolist():
        if predicates.outside(room, (x, y)) > 0.0 or any(math.dist((x, y), other) < CLEARING for other in taken):
            continue
        if not in_reach(facts, (x, y), point):
            continue
        near = sum(1 for thing in facts.things if _loose(thing.index, facts, held) and _close(facts, thing.index, x, y))
        cost = math.dist(body.position, (x, y)) + CROWDED * near
        if cost < least:
            best, least = (x, y), cost
    return best


def _loose(index: int, facts: HouseFacts, held: int | None) -> bool:
    thing = facts.things[index]
    return not thing.furniture and thing.held_by is None and index != held


def _close(facts: HouseFacts, index: int, x: float, y: float) -> bool:
    return predicates.edge_distance((x, y), facts.things[index]) < CLEARING


def in_reach(facts: HouseFacts, start: XY, point: XY) -> bool:
    """Does no furniture stand between a spot and a point? What is carried would hit it."""
    steps = max(int(math.dist(start, point) / 0.15), 1)
    line = [
        (start[0] + (point[0] - start[0]) * i / steps, start[1] + (point[1] - start[1]) * i / steps)
        for i in range(steps + 1)
    ]
    return not any(
        predicates.edge_distance(spot, thing) < 0.1 and predicates.edge_distance(point, thing) > 0.0
        for thing in facts.things
        if thing.furniture
        for spot in line
    )
