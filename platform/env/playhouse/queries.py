"""Questions about a moment of a house: pure functions of `HouseFacts`. Metres and radians throughout.

Footprints are oriented rectangles, seen from above: a thing's half extents turned by its yaw. A thing that has
tipped over keeps the footprint it stood with.
"""

from __future__ import annotations

import math
from itertools import pairwise

from interplay.env.playhouse.facts import XY, Body, Doorway, HouseFacts, Room, Thing

RESTING_GAP = 0.06  # metres between a thing's underside and what it is said to stand on


def local(thing: Thing, point: XY) -> XY:
    """A point in the thing's own frame, seen from above."""
    dx, dy = point[0] - thing.position[0], point[1] - thing.position[1]
    cos, sin = math.cos(thing.yaw), math.sin(thing.yaw)
    return dx * cos + dy * sin, dy * cos - dx * sin


def edge_distance(point: XY, thing: Thing) -> float:
    """From a point to the edge of a thing's footprint; 0 above it."""
    x, y = local(thing, point)
    return math.hypot(max(abs(x) - thing.half_extents[0], 0.0), max(abs(y) - thing.half_extents[1], 0.0))


def corners(thing: Thing) -> tuple[XY, XY, XY, XY]:
    """The corners of a footprint, anticlockwise."""
    cos, sin = math.cos(thing.yaw), math.sin(thing.yaw)
    x, y = thing.xy
    a, b = thing.half_extents[0], thing.half_extents[1]
    first, second = ((x + u * cos - v * sin, y + u * sin + v * cos) for u, v in ((a, b), (-a, b)))
    return first, second, (2 * x - first[0], 2 * y - first[1]), (2 * x - second[0], 2 * y - second[1])


def gap(a: Thing, b: Thing) -> float:
    """Edge to edge distance of two footprints; 0 where they overlap."""
    if edge_distance(a.xy, b) == 0.0 or edge_distance(b.xy, a) == 0.0:
        return 0.0
    # Of two separate convex shapes, a corner of one is nearest to the other.
    return min(min(edge_distance(c, b) for c in corners(a)), min(edge_distance(c, a) for c in corners(b)))


def wrap(angle: float) -> float:
    """An angle as its equal in (-pi, pi]."""
    return math.pi - (math.pi - angle) % math.tau


def bearing(body: Body, point: XY) -> float:
    """How far to turn, anticlockwise positive, to face a point."""
    return wrap(math.atan2(point[1] - body.position[1], point[0] - body.position[0]) - body.yaw)


def elevation(body: Body, thing: Thing) -> float:
    """The pitch at which the middle of a thing is in the middle of the view, once faced."""
    return math.atan2(thing.position[2] - body.eye_height, math.dist(body.position, thing.xy))


def bottom(thing: Thing) -> float:
    return thing.position[2] - thing.half_extents[2]


def top(thing: Thing) -> float:
    return thing.position[2] + thing.half_extents[2]


def on(a: Thing, b: Thing) -> bool:
    """Does `a` stand on top of `b`?"""
    return a is not b and edge_distance(a.xy, b) == 0.0 and abs(bottom(a) - top(b)) < RESTING_GAP


def inside(a: Thing, b: Thing) -> bool:
    """Is `a` within a container `b`: its middle over b's footprint, and below b's rim?"""
    over = "container" in b.attributes and edge_distance(a.xy, b) == 0.0
    return over and bottom(b) - RESTING_GAP < bottom(a) < top(b) - RESTING_GAP


def next_to(a: Thing, b: Thing, within: float) -> bool:
    """Is `a` beside `b`: at most `within` from edge to edge, neither on top of the other nor inside it?"""
    stacked = on(a, b) or on(b, a) or inside(a, b) or inside(b, a)
    return not stacked and same_room(a.room, b.room) and gap(a, b) <= within


def same_room(a: str | None, b: str | None) -> bool:
    """A room that is not known (between two rooms) may be any."""
    return a is None or b is None or a == b


def matching(
    facts: HouseFacts, colour: str | None = None, category: str | None = None, room: str | None = None
) -> list[Thing]:
    """The things of this colour, category and room; None is any."""
    return [
        thing
        for thing in facts.things
        if (colour is None or thing.colour == colour)
        and (category is None or thing.category == category)
        and (room is None or thing.room == room)
    ]


def looked_at(facts: HouseFacts, role: str) -> Thing | None:
    """The thing in the middle of a player's view."""
    index = facts.bodies[role].looking_at
    return None if index is None else facts.things[index]


def held_by(facts: HouseFacts, role: str) -> Thing | None:
    """The thing in a player's hand."""
    index = facts.bodies[role].holding
    return None if index is None else facts.things[index]


def in_front(body: Body, point: XY, within: float) -> bool:
    """Does the body face a point, to within this angle?"""
    return abs(bearing(body, point)) <= within


def nearest_room(facts: HouseFacts, point: XY) -> Room:
    """The room a point is in, or else the nearest one."""
    return min(facts.rooms, key=lambda room: outside(room, point))


def outside(room: Room, point: XY) -> float:
    """How far a point is outside a room; negative within it: the distance to the nearest wall."""
    dx = max(room.low[0] - point[0], point[0] - room.high[0])
    dy = max(room.low[1] - point[1], point[1] - room.high[1])
    return math.hypot(max(dx, 0.0), max(dy, 0.0)) if max(dx, dy) > 0.0 else max(dx, dy)


def route(facts: HouseFacts, start: XY, goal: XY) -> list[Doorway]:
    """The doorways on the shortest way from one point to another, furniture aside; none within a room.

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


def _length(start: XY, path: list[Doorway], goal: XY) -> float:
    return sum(math.dist(a, b) for a, b in pairwise([start, *(doorway.middle for doorway in path), goal]))


def walking_distance(facts: HouseFacts, start: XY, thing: Thing) -> float:
    """From a point through doorways to the edge of a thing's footprint, furniture aside."""
    path = route(facts, start, thing.xy) if len(facts.rooms) > 1 else []
    if not path:
        return edge_distance(start, thing)
    return _length(start, path, path[-1].middle) + edge_distance(path[-1].middle, thing)
