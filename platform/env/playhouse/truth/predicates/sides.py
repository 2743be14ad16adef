"""Left, right, in front and behind, relative to a player or to a thing as a player sees it."""

from __future__ import annotations

import math
from typing import Literal

from interplay.env.playhouse.truth.facts import XY, Body, Thing
from interplay.env.playhouse.truth.predicates.geometry import Placed, bearing, edge_distance, floor_position
from interplay.env.playhouse.truth.predicates.passages import same_room

Side = Literal["left", "right", "front", "behind"]

FACE_TO_FACE_RAD = math.radians(30)  # between a player's direction and the other player, at most
FACE_TO_FACE_DISTANCE_M = 2.5  # at most: conversation distance across a room


def in_front(body: Body, point: XY, within: float) -> bool:
    """Whether a body faces a point to within this angle."""
    return abs(bearing(body, point)) <= within


def side_of_player(body: Body, placed: Placed) -> Side | None:
    """The side of a player on which something is, in quarters; None if it is in another room."""
    if not same_room(body.room, placed.room):
        return None
    turn = bearing(body, floor_position(placed))
    return _quarter(math.cos(turn), math.sin(turn), "front", "behind")


def side_as_seen(viewer: Body, a: Placed, b: Placed) -> Side | None:
    """The side of `b` on which the center of `a` is, from the perspective of `viewer`, in quarters around b.

    The front of a thing is the side towards the viewer. None if `a` is in another room or over the footprint of `b`.
    """
    (x, y), (u, v) = floor_position(a), floor_position(b)
    over = edge_distance((x, y), b) == 0.0 if isinstance(b, Thing) else (x, y) == (u, v)
    if over or not same_room(a.room, b.room):
        return None
    cos, sin = math.cos(viewer.yaw), math.sin(viewer.yaw)
    dx, dy = x - u, y - v
    return _quarter(dx * cos + dy * sin, dy * cos - dx * sin, "behind", "front")


def face_to_face(a: Body, b: Body) -> bool:
    """Whether two players face each other at most `FACE_TO_FACE_DISTANCE_M` apart."""
    together = same_room(a.room, b.room) and math.dist(a.position, b.position) <= FACE_TO_FACE_DISTANCE_M
    return together and in_front(a, b.position, FACE_TO_FACE_RAD) and in_front(b, a.position, FACE_TO_FACE_RAD)


def _quarter(ahead: float, left: float, forward: Side, backward: Side) -> Side:
    if abs(left) >= abs(ahead):
        return "left" if left > 0.0 else "right"
    return forward if ahead > 0.0 else backward
