"""Perception of a player: visible, looked-at and held things. Meters and radians throughout."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import product

import numpy as np
from numpy.typing import NDArray

from interplay.env.arrays import Points
from interplay.env.playhouse.truth.facts import Body, Doorway, HouseFacts, Thing
from interplay.env.playhouse.truth.predicates.geometry import parts, route, same_room

DEFAULT_VIEW_WIDTH_RAD, DEFAULT_VIEW_HEIGHT_RAD = math.radians(75), math.radians(60)  # field of view
MIN_VISIBLE_SHARE = 2 / 9  # of a thing's nine points, for the thing to be visible; one corner is not enough
_CORNER_SHARE = 0.8  # position of eight of those points, as a share of the way from the center to the corners


def visible(
    facts: HouseFacts, role: str, across: float = DEFAULT_VIEW_WIDTH_RAD, tall: float = DEFAULT_VIEW_HEIGHT_RAD
) -> list[Thing]:
    """Things that a player sees in a view of this width and height, from the center of the view outwards.

    A thing is seen if at least two of nine points of it are in view and not occluded by walls or other things. Avatars
    do not occlude, and held things count as well.
    """
    body = facts.bodies[role]
    eye = np.array([*body.position, body.eye_height])
    points = np.array([_points_of(thing) for thing in facts.things]).reshape(-1, 9, 3)
    seen = _in_view(points - eye, body, across, tall) & ~_hidden(facts.things, eye, points)
    for row, thing in zip(seen, facts.things, strict=True):
        if not same_room(body.room, thing.room):
            doors = route(facts, body.position, thing.xy)
            row &= bool(doors)
            for door in doors:
                row &= _through(facts, door, eye, points[thing.index])
    found = [thing for row, thing in zip(seen, facts.things, strict=True) if row.mean() >= MIN_VISIBLE_SHARE]

    def off_gaze(thing: Thing) -> float:
        ray = np.array(thing.position) - eye
        return math.acos(float(np.clip(ray @ _gaze(body)[0] / np.linalg.norm(ray), -1.0, 1.0)))

    return sorted(found, key=off_gaze)


def _points_of(thing: Thing) -> list[tuple[float, float, float]]:
    """The center of a thing's box and eight points near its corners."""
    cos, sin = math.cos(thing.yaw), math.sin(thing.yaw)
    x, y, z = thing.position
    a, b, c = (_CORNER_SHARE * half for half in thing.half_extents)
    corners = product((-a, a), (-b, b), (-c, c))
    return [(x, y, z), *((x + u * cos - v * sin, y + u * sin + v * cos, z + w) for u, v, w in corners)]


def _gaze(body: Body) -> Points:
    """Unit vectors forward, left and up of a player's view as rows, [3, 3]."""
    cy, sy, cp, sp = math.cos(body.yaw), math.sin(body.yaw), math.cos(body.pitch), math.sin(body.pitch)
    return np.array([[cy * cp, sy * cp, sp], [-sy, cy, 0.0], [-cy * sp, -sy * sp, cp]])


def _in_view(rays: Points, body: Body, across: float, tall: float) -> NDArray[np.bool_]:
    """Whether rays [..., 3] from the eye are in the picture, [...]."""
    ahead, left, up = np.moveaxis(rays @ _gaze(body).T, -1, 0)
    wide, high = np.abs(left) <= ahead * math.tan(across / 2), np.abs(up) <= ahead * math.tan(tall / 2)
    inside: NDArray[np.bool_] = (ahead > 0.0) & wide & high
    return inside


def _hidden(things: Sequence[Thing], eye: Points, points: Points) -> NDArray[np.bool_]:
    """Whether points [N, 9, 3] of the things are occluded by a part of another thing, [N, 9]."""
    hidden = np.zeros(points.shape[:2], dtype=bool)
    for other in things:
        for part in parts(other):
            before = _crosses(part, eye, points)
            before[other.index] = False
            hidden |= before
    return hidden


def _crosses(box: Thing, eye: Points, points: Points) -> NDArray[np.bool_]:
    """Whether the lines from the eye to the points [..., 3] intersect a box, [...]; by the slab method."""
    cos, sin = math.cos(box.yaw), math.sin(box.yaw)
    own = np.array([[cos, sin, 0.0], [-sin, cos, 0.0], [0.0, 0.0, 1.0]])  # into the box's frame
    start, way = own @ (eye - np.array(box.position)), (points - eye) @ own.T
    way = np.where(np.abs(way) < 1e-9, 1e-9, way)
    one, two = (-np.array(box.half_extents) - start) / way, (np.array(box.half_extents) - start) / way
    enters, leaves = np.minimum(one, two).max(axis=-1), np.maximum(one, two).min(axis=-1)
    crosses: NDArray[np.bool_] = (enters <= leaves) & (leaves > 0.0) & (enters < 1.0)
    return crosses


def _through(facts: HouseFacts, door: Doorway, eye: Points, points: Points) -> NDArray[np.bool_]:
    """Whether the lines from the eye to the points [N, 3] pass through a doorway, past both faces of its wall."""
    a, b = (next(room for room in facts.rooms if room.name == name) for name in door.rooms)
    across = 0 if a.high[0] <= b.low[0] or b.high[0] <= a.low[0] else 1  # the axis along which one walks through
    faces = (a.high[across], b.low[across]) if a.high[across] <= b.low[across] else (b.high[across], a.low[across])
    way = points - eye
    passes = np.ones(len(points), dtype=bool)
    for face in faces:
        share = (face - eye[across]) / np.where(np.abs(way[:, across]) < 1e-9, 1e-9, way[:, across])
        aside = eye[1 - across] + share * way[:, 1 - across] - door.middle[1 - across]
        passes &= (share > 0.0) & (share < 1.0) & (np.abs(aside) <= door.width / 2)
    return passes
