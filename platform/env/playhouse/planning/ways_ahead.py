"""Free ways ahead of a player: to push a loose thing on, to strike a thing with another, to throw one out of a room."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from interplay.env.arrays import Points
from interplay.env.playhouse.planning.navigation import Ground, doorway_crossing, free_spots
from interplay.env.playhouse.truth import predicates
from interplay.env.playhouse.truth.facts import XY, XYZ, Body, HouseFacts, Thing

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

    `held`: the index of a thing that is not an obstacle.
    """
    body = facts.bodies[role].position
    options = []
    for angle in np.arange(PUSH_DIRECTIONS) * math.tau / PUSH_DIRECTIONS:
        start = (thing.xy[0] - run_up * math.cos(angle), thing.xy[1] - run_up * math.sin(angle))
        turn = abs(predicates.wrap_angle(angle - math.atan2(thing.xy[1] - body[1], thing.xy[0] - body[0])))
        options.append((predicates.route_length(facts, body, start) + TURN_COST_M * turn, start))
    obstacles = _Obstacles(facts, role, thing, held)
    return next((PushPath(start, thing.xy) for _, start in sorted(options) if obstacles.leave_free(start)), None)


def push_path_is_free(facts: HouseFacts, role: str, thing: Thing, start: XY) -> bool:
    """Whether a player can walk straight from `start` at a thing and push it on. Things in or on it move along."""
    return _Obstacles(facts, role, thing, None).leave_free(start)


class _Obstacles:
    """What is in the way of a player that pushes a thing on; `held`: as in `best_push_path`."""

    def __init__(self, facts: HouseFacts, role: str, thing: Thing, held: int | None) -> None:
        ignored = {other.index for other in facts.things if predicates.edge_distance(other.xy, thing) == 0.0}
        ignored |= set() if held is None else {held}
        self._facts, self._thing, self._ground = facts, thing, Ground(facts, role, ignored)
        self._low = [
            other
            for other in facts.things
            if other.index not in ignored and other.held_by is None and predicates.bottom(other) < predicates.top(thing)
        ]

    def leave_free(self, start: XY) -> bool:
        """See `push_path_is_free`."""
        x, y = self._thing.xy
        length = math.dist(start, (x, y))
        if length == 0.0:
            return False
        along = ((x - start[0]) / length, (y - start[1]) / length)
        line_is_free = not self._ground.price(_line(start, along, length + FREE_BEYOND_M)).any()
        return line_is_free and self._thing_fits(along)

    def _thing_fits(self, along: XY) -> bool:
        """Whether the way ahead of the thing is wide enough for it."""
        room = next(room for room in self._facts.rooms if room.name == self._thing.room)
        half_width = max(self._thing.half_extents[:2])
        return all(
            predicates.outside(room, (x, y)) <= -half_width
            and all(predicates.edge_distance((x, y), other) >= half_width for other in self._low)
            for x, y in _line(self._thing.xy, along, FREE_BEYOND_M).tolist()
        )


def _line(start: XY, along: XY, length: float, spacing: float = PUSH_SPACING_M) -> Points:
    steps = np.arange(0.0, length, spacing)[:, None]
    points: Points = np.asarray(start) + steps * np.asarray(along)
    return points


MIN_ARM_M = 1.65  # from the eye to the tool, to reach down to the floor well ahead of the feet
TOOL_CLEARANCE_M = 0.02  # between a tool and the support of the thing that is struck
STRIKING_HEIGHTS_M = (0.15, 1.1)  # where furniture is struck, lowest and highest
SWING_M = (0.3, 0.9)  # between the tool and the other thing, at the start of the walk
FOLLOW_THROUGH_M = 0.2  # of free floor past the strike
STRIKE_SPACING_M = 0.15  # between the samples of a line


def striking_spots(facts: HouseFacts, role: str, tool: Thing, other: Thing) -> list[XY]:
    """Spots from which a player can walk at a thing with a tool held out, with free ways for both."""
    body, ground = facts.bodies[role], Ground(facts, role, (tool.index, other.index))
    near = MIN_ARM_M + SWING_M[1] + mean_half_extent(tool) + other.radius
    spots = [
        spot
        for spot in (body.position, *free_spots(facts, role))
        if predicates.edge_distance(spot, other) < near and predicates.nearest_room(facts, spot).name == other.room
    ]
    return [spot for spot in spots if _can_strike(facts, ground, replace(body, position=spot), tool, other)]


def _can_strike(facts: HouseFacts, ground: Ground, body: Body, tool: Thing, other: Thing) -> bool:
    point = striking_point(body, other)
    height = striking_height(tool, other, point)
    arm = math.sqrt(max(MIN_ARM_M**2 - (body.eye_height - height) ** 2, 0.1))  # along the floor
    length = math.dist(body.position, point[:2])
    edge = length - (0.0 if other.furniture else mean_half_extent(other))
    swing = edge - arm - mean_half_extent(tool)
    if not SWING_M[0] <= swing <= SWING_M[1]:
        return False
    along = ((point[0] - body.position[0]) / length, (point[1] - body.position[1]) / length)
    if ground.price(_line(body.position, along, swing + FOLLOW_THROUGH_M, STRIKE_SPACING_M)).any():
        return False
    lowest = height - tool.half_extents[2]
    tall = [
        each for each in facts.things if each.index not in (tool.index, other.index) and predicates.top(each) > lowest
    ]
    swept = np.asarray(body.position) + np.arange(arm, edge, STRIKE_SPACING_M)[:, None] * np.asarray(along)
    radius = mean_half_extent(tool)
    return not any(predicates.edge_distance((x, y), each) < radius for x, y in swept.tolist() for each in tall)


def striking_height(tool: Thing, other: Thing, point: XYZ) -> float:
    """Meters above the floor of the middle of a tool that strikes the other thing and not its support."""
    if other.furniture:
        return max(point[2], tool.half_extents[2] + TOOL_CLEARANCE_M)
    lowest = predicates.bottom(other) + tool.half_extents[2] + TOOL_CLEARANCE_M
    return max(other.position[2], lowest)


def mean_half_extent(thing: Thing) -> float:
    """About the distance from a thing's middle to its edge."""
    return sum(thing.half_extents) / 3


def striking_point(body: Body, other: Thing) -> XYZ:
    """The middle of a loose thing; of furniture, the point nearest to the body at a height that can be struck."""
    if not other.furniture:
        return other.position
    low, high = STRIKING_HEIGHTS_M
    solid = [
        part for part in predicates.parts(other) if predicates.top(part) >= low and predicates.bottom(part) <= high
    ]
    nearest = min(
        solid or [other],
        key=lambda part: (round(predicates.edge_distance(body.position, part), 1), -predicates.top(part)),
    )
    x, y = predicates.to_own_frame(nearest, body.position)
    a, b = nearest.half_extents[:2]
    spot = predicates.from_own_frame(nearest, min(max(x, -a), a), min(max(y, -b), b))
    z = min(max(nearest.position[2], low, predicates.bottom(nearest)), high, predicates.top(nearest))
    return (*spot, z)


THROW_DISTANCES_M = (1.6, 1.4, 1.8)  # from the middle of a doorway to where one throws through it, the best first


def doorway_exits(facts: HouseFacts, role: str, room: str, *, occupied: bool = False) -> list[tuple[XY, XY]]:
    """For each doorway of a room: a free spot to stand at, and the point beyond the doorway to aim at.

    `occupied`: also doorways before which every spot is occupied, with the best one.
    """
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
        if free or occupied:
            exits.append(((free or spots)[0], beyond))
    return exits
