"""Three-valued spatial predicates: certainly true, certainly false, or None if people could disagree.

True implies that the predicate of the same name in `truth.predicates` holds, False that it does not. Meters and
radians.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

from interplay.env.playhouse.truth import predicates
from interplay.env.playhouse.truth.facts import Body, Thing

# Gaps up to which things certainly are next to, or near, each other, and beyond which they certainly are not.
NEXT_TO_RANGE_M = (0.5, 0.9)
NEAR_RANGE_M = (1.0, 1.7)
# Gap from which things certainly are far from each other, and up to which they certainly are not.
FAR_M, NOT_FAR_M = 3.0, 2.0
# Angle off the middle of a side up to which a thing certainly is on it, and from which it certainly is not; a quarter
# ends at 45 degrees.
ON_SIDE_RAD, OFF_SIDE_RAD = math.radians(33), math.radians(60)
BETWEEN_RAD = math.radians(130)  # between the directions to two things, from which being between them is possible
EDGE_TOLERANCE_M = 0.15  # off a footprint, of things that possibly are on or under it

Ternary = bool | None
TernaryPredicate = Callable[[Thing, Thing], Ternary]

_SIDE_ANGLES: dict[str, float] = {"front": 0.0, "left": math.pi / 2, "behind": math.pi, "right": -math.pi / 2}


def on(a: Thing, b: Thing) -> Ternary:
    if a.held_by or b.held_by:
        return None
    if predicates.on(a, b):
        return True
    near_edge = predicates.edge_distance(a.xy, b) <= EDGE_TOLERANCE_M
    return None if near_edge and predicates.bottom(a) > predicates.bottom(b) else False


def inside(a: Thing, b: Thing) -> Ternary:
    if predicates.inside(a, b):
        return True
    return None if predicates.on(a, b) else False


def under(a: Thing, b: Thing) -> Ternary:
    if a.held_by or b.held_by:
        return None
    if predicates.under(a, b):
        return True
    return None if predicates.edge_distance(a.xy, b) <= EDGE_TOLERANCE_M else False


def next_to(a: Thing, b: Thing) -> Ternary:
    if not predicates.same_room(a.room, b.room):
        return False
    if _overlap(a, b):
        return None
    gap = predicates.gap(a, b)
    return _in_range(gap, NEXT_TO_RANGE_M) if predicates.next_to(a, b) or gap > NEXT_TO_RANGE_M[0] else None


def near(a: Thing, b: Thing) -> Ternary:
    if not predicates.same_room(a.room, b.room):
        return False
    return None if _overlap(a, b) else _in_range(predicates.gap(a, b), NEAR_RANGE_M)


def far(a: Thing, b: Thing) -> Ternary:
    gap = predicates.gap(a, b)
    if gap >= FAR_M:
        return True
    return False if gap <= NOT_FAR_M and predicates.same_room(a.room, b.room) else None


def side(viewer: Body, side: predicates.Side) -> TernaryPredicate:
    """Tests whether a is on a side of b for a player that looks at b from its position; the front is towards it."""

    def on_side(a: Thing, b: Thing) -> Ternary:
        if not predicates.same_room(viewer.room, b.room) or not predicates.same_room(a.room, b.room):
            return False
        facing = _facing(viewer, b)
        if predicates.side_as_seen(facing, a, b) is None:
            return None
        return _near_angle(_angle_off_side(facing, a, b, side))

    return on_side


def own_side(viewer: Body, side: predicates.Side) -> Callable[[Thing], Ternary]:
    """Tests whether a thing is on a side of the player itself."""

    def on_side(a: Thing) -> Ternary:
        if not predicates.same_room(viewer.room, a.room):
            return False
        return _near_angle(abs(predicates.wrap_angle(predicates.bearing(viewer, a.xy) - _SIDE_ANGLES[side])))

    return on_side


def between(a: Thing, b: Thing, c: Thing) -> Ternary:
    if not (predicates.same_room(a.room, b.room) and predicates.same_room(a.room, c.room)):
        return False
    if predicates.between(a, b, c):
        return True
    directions = [math.atan2(end.xy[1] - a.xy[1], end.xy[0] - a.xy[0]) for end in (b, c)]
    return None if abs(predicates.wrap_angle(directions[0] - directions[1])) >= BETWEEN_RAD else False


def _facing(viewer: Body, thing: Thing) -> Body:
    """Returns the player turned towards a thing."""
    return replace(viewer, yaw=viewer.yaw + predicates.bearing(viewer, thing.xy))


def _angle_off_side(viewer: Body, a: Thing, b: Thing, side: str) -> float:
    """Returns the angle between the direction from b to a and the middle of a side of b."""
    direction = math.atan2(a.xy[1] - b.xy[1], a.xy[0] - b.xy[0]) - viewer.yaw
    middle = math.pi - _SIDE_ANGLES[side] if side in ("front", "behind") else _SIDE_ANGLES[side]
    return abs(predicates.wrap_angle(direction - middle))


def _near_angle(angle: float) -> Ternary:
    if angle <= ON_SIDE_RAD:
        return True
    return False if angle >= OFF_SIDE_RAD else None


def _overlap(a: Thing, b: Thing) -> bool:
    return predicates.gap(a, b) == 0.0


def _in_range(distance: float, limits: tuple[float, float]) -> Ternary:
    certain, possible = limits
    if distance <= certain:
        return True
    return False if distance > possible else None
