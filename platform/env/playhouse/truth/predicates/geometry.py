"""Distances, heights, directions and routes, on which all other predicates are based. Meters and radians throughout.

Footprints are oriented rectangles, seen from above: a thing's half extents turned by its yaw. A thing that has
tipped over keeps the footprint it stood with.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable
from dataclasses import replace
from itertools import pairwise

import numpy as np

from interplay.env.playhouse.house.catalog import CATEGORIES
from interplay.env.playhouse.truth.facts import XY, XYZ, Body, Doorway, HouseFacts, Room, Thing

Placed = Thing | Body  # anything with a position


def floor_position(placed: Placed) -> XY:
    """Position seen from above."""
    return placed.xy if isinstance(placed, Thing) else placed.position


def to_own_frame(thing: Thing, point: XY) -> XY:
    """A point in the thing's own frame, seen from above."""
    dx, dy = point[0] - thing.position[0], point[1] - thing.position[1]
    cos, sin = math.cos(thing.yaw), math.sin(thing.yaw)
    return dx * cos + dy * sin, dy * cos - dx * sin


def from_own_frame(thing: Thing, along: float, aside: float) -> XY:
    """The point with these coordinates in the thing's own frame, seen from above."""
    cos, sin = math.cos(thing.yaw), math.sin(thing.yaw)
    return thing.position[0] + along * cos - aside * sin, thing.position[1] + along * sin + aside * cos


def edge_distance(point: XY, thing: Thing) -> float:
    """Distance from a point to the edge of a thing's footprint; 0 inside it."""
    x, y = to_own_frame(thing, point)
    return math.hypot(max(abs(x) - thing.half_extents[0], 0.0), max(abs(y) - thing.half_extents[1], 0.0))


def corners(thing: Thing) -> tuple[XY, XY, XY, XY]:
    """The corners of a footprint, counterclockwise."""
    cos, sin = math.cos(thing.yaw), math.sin(thing.yaw)
    x, y = thing.xy
    a, b = thing.half_extents[0], thing.half_extents[1]
    first, second = ((x + u * cos - v * sin, y + u * sin + v * cos) for u, v in ((a, b), (-a, b)))
    return first, second, (2 * x - first[0], 2 * y - first[1]), (2 * x - second[0], 2 * y - second[1])


@functools.lru_cache(maxsize=4096)
def gap(a: Thing, b: Thing) -> float:
    """Edge to edge distance of two footprints; 0 if they overlap."""
    if edge_distance(a.xy, b) == 0.0 or edge_distance(b.xy, a) == 0.0:
        return 0.0
    # Of two separate convex shapes, a corner of one is nearest to the other.
    return min(min(edge_distance(c, b) for c in corners(a)), min(edge_distance(c, a) for c in corners(b)))


def distance(a: Placed, b: Placed) -> float:
    """Distance of two things or bodies seen from above: from the edge of a thing, from the center of a body."""
    if isinstance(a, Thing):
        return gap(a, b) if isinstance(b, Thing) else edge_distance(b.position, a)
    return edge_distance(a.position, b) if isinstance(b, Thing) else math.dist(a.position, b.position)


def wrap_angle(angle: float) -> float:
    """The equivalent angle in (-pi, pi]."""
    return math.pi - (math.pi - angle) % math.tau


def bearing(body: Body, point: XY) -> float:
    """Yaw change, counterclockwise positive, to face a point."""
    return wrap_angle(math.atan2(point[1] - body.position[1], point[0] - body.position[0]) - body.yaw)


def elevation(body: Body, thing: Thing) -> float:
    """Pitch that centers a thing in the view, once faced."""
    return math.atan2(thing.position[2] - body.eye_height, math.dist(body.position, thing.xy))


def bottom(thing: Thing) -> float:
    return thing.position[2] - thing.half_extents[2]


def top(thing: Thing) -> float:
    return thing.position[2] + thing.half_extents[2]


def volume(thing: Thing) -> float:
    """Volume of the bounding box, cubic meters."""
    return 8.0 * math.prod(thing.half_extents)


@functools.lru_cache(maxsize=1024)
def parts(thing: Thing) -> tuple[Thing, ...]:
    """The solid parts of a thing (a table's top and legs, a bin's floor and walls), each as a thing with its own box;
    the thing itself if it has only one part."""
    a, b, c = thing.half_extents
    found = tuple(
        replace(
            thing,
            position=(*from_own_frame(thing, u * a, v * b), thing.position[2] + w * c),
            half_extents=(a * p, b * q, c * r),
        )
        for (u, v, w), (p, q, r) in _solids(thing.category)
    )
    return found or (thing,)


@functools.cache
def _solids(category: str) -> tuple[tuple[XYZ, XYZ], ...]:
    """Centers and half extents of a category's solid parts, relative to its half extents; none if it has only one."""
    known = CATEGORIES.get(category)
    if known is None or known.shape != "composite":
        return ()
    whole = np.array(known.half_extents)
    solids = []
    for part in known.proxies:
        half = np.abs(part.rotation()) @ np.array(part.half)
        (u, v, w), (p, q, r) = (np.array(part.offset) / whole).tolist(), (half / whole).tolist()
        solids.append(((u, v, w), (p, q, r)))
    return tuple(solids)


def same_room(a: str | None, b: str | None) -> bool:
    """Whether two rooms may be the same; None (between rooms) matches any."""
    return a is None or b is None or a == b


def nearest_room(facts: HouseFacts, point: XY) -> Room:
    """The room that contains a point, or the nearest one."""
    x, y = point
    for room in facts.rooms:  # they do not overlap
        if room.low[0] <= x <= room.high[0] and room.low[1] <= y <= room.high[1]:
            return room
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
    paths = _paths(facts.doorways, first, last)
    return list(min(paths, key=lambda path: _length(start, path, goal), default=()))


@functools.lru_cache(maxsize=1024)
def _paths(doorways: tuple[Doorway, ...], first: str, last: str) -> tuple[tuple[Doorway, ...], ...]:
    """All ways between two rooms that enter no room twice."""
    found: list[tuple[Doorway, ...]] = []
    unfinished: list[tuple[str, tuple[Doorway, ...]]] = [(first, ())]
    while unfinished:
        room, path = unfinished.pop()
        if room == last:
            found.append(path)
            continue
        seen = {name for doorway in path for name in doorway.rooms} | {first}
        for doorway in doorways:
            if room in doorway.rooms:
                beyond = doorway.rooms[1] if doorway.rooms[0] == room else doorway.rooms[0]
                if beyond not in seen:
                    unfinished.append((beyond, (*path, doorway)))
    return tuple(found)


def route_length(facts: HouseFacts, start: XY, goal: XY) -> float:
    """Length of the shortest route between two points through doorways, ignoring furniture."""
    return _length(start, route(facts, start, goal) if len(facts.rooms) > 1 else [], goal)


def _length(start: XY, path: Iterable[Doorway], goal: XY) -> float:
    return sum(math.dist(a, b) for a, b in pairwise([start, *(doorway.middle for doorway in path), goal]))


def walking_distance(facts: HouseFacts, start: XY, thing: Thing) -> float:
    """Length of the route from a point through doorways to the edge of a thing's footprint, ignoring furniture."""
    path = route(facts, start, thing.xy) if len(facts.rooms) > 1 else []
    if not path:
        return edge_distance(start, thing)
    return _length(start, path, path[-1].middle) + edge_distance(path[-1].middle, thing)
