"""From where a loose thing can be pushed, and which way: straight lines along which nothing stands."""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from interplay.env.arrays import Points
from interplay.env.playhouse.planning.navigation import Ground
from interplay.env.playhouse.truth import predicates
from interplay.env.playhouse.truth.facts import XY, HouseFacts, Thing

DIRECTIONS = 16
PUSH_RUN_UP_M = 0.75  # meters from a thing's edge where one sets out to push it with the body
TOOL_RUN_UP_M = 1.7  # meters from the other's edge to where a run with a tool starts
BEYOND = 0.5  # meters, past where a thing lies, that have to be free
SPACING = 0.1  # meters between the points of a line that are looked at
TURNING = 0.5  # meters of walking that a turn by a radian is worth


@dataclass(frozen=True)
class PushPath:
    """Where to start from, and through where, to push a thing straight on."""

    start: XY
    through: XY


def best_push_path(facts: HouseFacts, role: str, thing: Thing, back: float, held: int | None = None) -> PushPath | None:
    """The nearest run at a thing from `back` meters away; None where every way is blocked. `held` is in no way."""
    body = facts.bodies[role].position
    runs = []
    for angle in np.arange(DIRECTIONS) * math.tau / DIRECTIONS:
        start = (thing.xy[0] - back * math.cos(angle), thing.xy[1] - back * math.sin(angle))
        if push_path_is_free(facts, role, thing, start, held):
            turn = abs(predicates.wrap(angle - math.atan2(thing.xy[1] - body[1], thing.xy[0] - body[0])))
            runs.append((predicates.walk(facts, body, start) + TURNING * turn, start))
    return PushPath(min(runs)[1], thing.xy) if runs else None


def push_path_is_free(facts: HouseFacts, role: str, thing: Thing, start: XY, held: int | None = None) -> bool:
    """Can a player walk straight from `start` at a thing, and push it on from where it lies? What is in or on it goes
    with it."""
    x, y = thing.xy
    length = math.dist(start, (x, y))
    if length == 0.0:
        return False
    along = ((x - start[0]) / length, (y - start[1]) / length)
    ignored = {other.index for other in facts.things if predicates.edge_distance(other.xy, thing) == 0.0}
    ignored |= set() if held is None else {held}
    ground = Ground(facts, role, ignored)
    return not ground.price(_points(start, along, length + BEYOND)).any() and _passes(facts, thing, along, ignored)


def _points(start: XY, along: XY, length: float) -> Points:
    steps = np.arange(0.0, length, SPACING)[:, None]
    points: Points = np.asarray(start) + steps * np.asarray(along)
    return points


def _passes(facts: HouseFacts, thing: Thing, along: XY, ignored: Collection[int]) -> bool:
    """Is there as much room before a thing as it takes?"""
    room = next(room for room in facts.rooms if room.name == thing.room)
    others = [other for other in facts.things if other.index not in ignored and other.held_by is None]
    low = [other for other in others if predicates.bottom(other) < predicates.top(thing)]
    wide = max(thing.half_extents[:2])
    return all(
        predicates.outside(room, (x, y)) <= -wide
        and all(predicates.edge_distance((x, y), other) >= wide for other in low)
        for x, y in _points(thing.xy, along, BEYOND).tolist()
    )
