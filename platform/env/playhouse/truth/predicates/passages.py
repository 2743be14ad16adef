"""Rooms and routes between them. Meters throughout."""

from __future__ import annotations

import math
from itertools import pairwise

from interplay.env.playhouse.truth.facts import XY, Doorway, HouseFacts, Room, Thing
from interplay.env.playhouse.truth.predicates.geometry import edge_distance


def same_room(a: str | None, b: str | None) -> bool:
    """Whether two rooms may be the same; None (between rooms) matches any."""
    return a is None or b is None or a == b


def nearest_room(facts: HouseFacts, point: XY) -> Room:
    """The room that contains a point, or the nearest one."""
    return min(facts.rooms, key=lambda room: outside(room, point))


def outside(room: Room, point: XY) -> float:
    """Signed distance of a point from a room: positive outside, negative inside."""
    dx = max(room.low[0] - point[0], point[0] - room.high[0])
    dy = max(room.low[1] - point[1], point[1] - room.high[1])
    return math.hypot(max(dx, 0.0), max(dy, 0.0)) if max(dx, dy) > 0.0 else max(dx, dy)


def route(facts: HouseFacts, start: XY, goal: XY) -> list[Doorway]:
    """The doorways on the shortest route between two points, ignoring furniture; none within a room.

    Exhaustive over simple paths through rooms: houses have a handful of them. A goal that no doorway leads to is
    taken as straight ahead.
    """
    first, last = nearest_room(facts, start).name, nearest_room(facts, goal).name
    best: list[Doorway] = []
    shortest = math.inf
    unfinished: list[tuple[str, list[Doorway]]] = [(first, [])]
    while unfinished:
        room, path = unfinished.pop()
        if room == last:
            length = _length(start, path, goal)
            if length < shortest:
                shortest, best = length, path
            continue
        seen = {name for doorway in path for name in doorway.rooms} | {first}
        for doorway in facts.doorways:
            if room in doorway.rooms:
                beyond = doorway.rooms[1] if doorway.rooms[0] == room else doorway.rooms[0]
                if beyond not in seen:
                    unfinished.append((beyond, [*path, doorway]))
    return best


def route_length(facts: HouseFacts, start: XY, goal: XY) -> float:
    """Length of the shortest route between two points through doorways, ignoring furniture."""
    return _length(start, route(facts, start, goal) if len(facts.rooms) > 1 else [], goal)


def _length(start: XY, path: list[Doorway], goal: XY) -> float:
    return sum(math.dist(a, b) for a, b in pairwise([start, *(doorway.middle for doorway in path), goal]))


def walking_distance(facts: HouseFacts, start: XY, thing: Thing) -> float:
    """Length of the route from a point through doorways to the edge of a thing's footprint, ignoring furniture."""
    path = route(facts, start, thing.xy) if len(facts.rooms) > 1 else []
    if not path:
        return edge_distance(start, thing)
    return _length(start, path, path[-1].middle) + edge_distance(path[-1].middle, thing)
