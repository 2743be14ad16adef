"""Straight paths along which a loose thing can be pushed on, free of obstacles."""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from interplay.env.arrays import Points
from interplay.env.playhouse.planning.navigation import Ground
from interplay.env.playhouse.truth import predicates
from interplay.env.playhouse.truth.facts import XY, HouseFacts, Thing

PUSH_DIRECTIONS = 16
PUSH_RUN_UP_M = 0.75  # from a thing's edge to the start of a push with the body
TOOL_RUN_UP_M = 1.7  # from a thing's edge to the start of a push with a tool
FREE_BEYOND_M = 0.5  # past a thing, the length of the way that has to be free
PUSH_SPACING_M = 0.1  # between the samples of a line
TURN_COST_M = 0.5  # meters of walking worth a turn by a radian


@dataclass(frozen=True)
class PushPath:
    """The start of a straight push, and the point that it goes through."""

    start: XY
    through: XY


def best_push_path(
    facts: HouseFacts, role: str, thing: Thing, run_up: float, held: int | None = None
) -> PushPath | None:
    """The nearest path at a thing that starts `run_up` meters from its middle; None if every one is blocked.

    `held`: the index of a thing that is no obstacle.
    """
    body = facts.bodies[role].position
    options = []
    for angle in np.arange(PUSH_DIRECTIONS) * math.tau / PUSH_DIRECTIONS:
        start = (thing.xy[0] - run_up * math.cos(angle), thing.xy[1] - run_up * math.sin(angle))
        if push_path_is_free(facts, role, thing, start, held):
            turn = abs(predicates.wrap_angle(angle - math.atan2(thing.xy[1] - body[1], thing.xy[0] - body[0])))
            options.append((predicates.route_length(facts, body, start) + TURN_COST_M * turn, start))
    return PushPath(min(options)[1], thing.xy) if options else None


def push_path_is_free(facts: HouseFacts, role: str, thing: Thing, start: XY, held: int | None = None) -> bool:
    """Whether a player can walk straight from `start` at a thing and push it on. Things in or on it move along."""
    x, y = thing.xy
    length = math.dist(start, (x, y))
    if length == 0.0:
        return False
    along = ((x - start[0]) / length, (y - start[1]) / length)
    ignored = {other.index for other in facts.things if predicates.edge_distance(other.xy, thing) == 0.0}
    ignored |= set() if held is None else {held}
    ground = Ground(facts, role, ignored)
    line_is_free = not ground.price(_line(start, along, length + FREE_BEYOND_M)).any()
    return line_is_free and _thing_fits(facts, thing, along, ignored)


def _line(start: XY, along: XY, length: float) -> Points:
    steps = np.arange(0.0, length, PUSH_SPACING_M)[:, None]
    points: Points = np.asarray(start) + steps * np.asarray(along)
    return points


def _thing_fits(facts: HouseFacts, thing: Thing, along: XY, ignored: Collection[int]) -> bool:
    """Whether the way ahead of a thing is wide enough for it."""
    room = next(room for room in facts.rooms if room.name == thing.room)
    others = [other for other in facts.things if other.index not in ignored and other.held_by is None]
    low = [other for other in others if predicates.bottom(other) < predicates.top(thing)]
    half_width = max(thing.half_extents[:2])
    return all(
        predicates.outside(room, (x, y)) <= -half_width
        and all(predicates.edge_distance((x, y), other) >= half_width for other in low)
        for x, y in _line(thing.xy, along, FREE_BEYOND_M).tolist()
    )
