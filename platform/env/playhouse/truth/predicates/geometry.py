"""Distances, heights and directions, on which all other predicates are based. Meters and radians throughout.

Footprints are oriented rectangles, seen from above: a thing's half extents turned by its yaw. A thing that has
tipped over keeps the footprint it stood with.
"""

from __future__ import annotations

import functools
import math
from dataclasses import replace

import numpy as np

from interplay.env.playhouse.house.catalog import CATEGORIES
from interplay.env.playhouse.truth.facts import XY, XYZ, Body, Thing

Placed = Thing | Body  # anything with a position


def floor_position(placed: Placed) -> XY:
    """Position seen from above."""
    return placed.xy if isinstance(placed, Thing) else placed.position


def to_own_frame(thing: Thing, point: XY) -> XY:
    """A point in the thing's own frame, seen from above."""
    dx, dy = point[0] - thing.position[0], point[1] - thing.position[1]
    cos, sin = math.cos(thing.yaw), math.sin(thing.yaw)
    return dx * cos + dy * sin, dy * cos - dx * sin


def edge_distance(point: XY, thing: Thing) -> float:
    """Distance from a point to the edge of a thing's footprint; 0 inside it."""
    x, y = to_own_frame(thing, point)
    return math.hypot(max(abs(x) - thing.half_extents[0], 0.0), max(abs(y) - thing.half_extents[1], 0.0))


def corners(thing: Thing) -> tuple[XY, XY, XY, XY]:
    """The corners of a footprint, anticlockwise."""
    cos, sin = math.cos(thing.yaw), math.sin(thing.yaw)
    x, y = thing.xy
    a, b = thing.half_extents[0], thing.half_extents[1]
    first, second = ((x + u * cos - v * sin, y + u * sin + v * cos) for u, v in ((a, b), (-a, b)))
    return first, second, (2 * x - first[0], 2 * y - first[1]), (2 * x - second[0], 2 * y - second[1])


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
    """Yaw change, anticlockwise positive, to face a point."""
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


def parts(thing: Thing) -> tuple[Thing, ...]:
    """The solid parts of a thing (a table's top and legs, a bin's floor and walls), each as a thing with its own box;
    the thing itself if it has only one part."""
    cos, sin = math.cos(thing.yaw), math.sin(thing.yaw)
    x, y, z = thing.position
    a, b, c = thing.half_extents
    found = tuple(
        replace(
            thing,
            position=(x + u * a * cos - v * b * sin, y + u * a * sin + v * b * cos, z + w * c),
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
