"""How things stand to each other as people say it: surely, surely not, or None where they could argue.

Each is at least as strict as the query of the same name: what is surely so, the query says, too; what is surely not so,
it denies. Meters and radians.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

from interplay.env.playhouse.truth import predicates
from interplay.env.playhouse.truth.facts import Body, Thing
from interplay.env.playhouse.truth.predicates.sides import Side

BESIDE = (0.5, 0.9)  # a gap within which things are surely next to each other, and beyond which they are not
CLOSE = (1.0, 1.7)  # the same of being near
DISTANT = (3.0, 2.0)  # beyond which things are surely far from each other, and within which they are not
SQUARELY = math.radians(33)  # off the middle of a side, of what is surely on it; a quarter ends at 45 degrees
ASKEW = math.radians(60)  # off the middle of a side, of what is surely not on it
OPPOSED = math.radians(130)  # between the directions to two things, for being perhaps between them
OVER_EDGE = 0.15  # off a footprint, of what some would say is on or under it

Ternary = bool | None
TernaryPredicate = Callable[[Thing, Thing], Ternary]


def on(a: Thing, b: Thing) -> Ternary:
    if a.held_by or b.held_by:
        return None
    if predicates.on(a, b):
        return True
    return (
        None
        if predicates.edge_distance(a.xy, b) <= OVER_EDGE and predicates.bottom(a) > predicates.bottom(b)
        else False
    )


def inside(a: Thing, b: Thing) -> Ternary:
    if predicates.inside(a, b):
        return True
    return None if predicates.on(a, b) else False


def under(a: Thing, b: Thing) -> Ternary:
    if a.held_by or b.held_by:
        return None
    if predicates.under(a, b):
        return True
    return None if predicates.edge_distance(a.xy, b) <= OVER_EDGE else False


def next_to(a: Thing, b: Thing) -> Ternary:
    if not predicates.same_room(a.room, b.room):
        return False
    if _stacked(a, b):
        return None
    gap = predicates.gap(a, b)
    return _within(gap, BESIDE) if predicates.next_to(a, b) or gap > BESIDE[0] else None


def near(a: Thing, b: Thing) -> Ternary:
    if not predicates.same_room(a.room, b.room):
        return False
    return None if _stacked(a, b) else _within(predicates.gap(a, b), CLOSE)


def far(a: Thing, b: Thing) -> Ternary:
    gap = predicates.gap(a, b)
    if gap >= DISTANT[0]:
        return True
    return False if gap <= DISTANT[1] and predicates.same_room(a.room, b.room) else None


def side(viewer: Body, wanted: Side) -> TernaryPredicate:
    """Is a on this side of b, to a player who looks at b from where it stands? The front is towards the player."""

    def judge(a: Thing, b: Thing) -> Ternary:
        if not predicates.same_room(viewer.room, b.room) or not predicates.same_room(a.room, b.room):
            return False
        if predicates.side_as_seen(_facing(viewer, b), a, b) is None:
            return None
        off = _off_side(_facing(viewer, b), a, b, wanted)
        if off <= SQUARELY:
            return True
        return False if off >= ASKEW else None

    return judge


def own_side(viewer: Body, wanted: Side) -> Callable[[Thing], Ternary]:
    """Is a thing on this side of a player itself?"""

    def judge(a: Thing) -> Ternary:
        if not predicates.same_room(viewer.room, a.room):
            return False
        off = abs(predicates.wrap(predicates.bearing(viewer, a.xy) - _TURNS[wanted]))
        if off <= SQUARELY:
            return True
        return False if off >= ASKEW else None

    return judge


def between(a: Thing, b: Thing, c: Thing) -> Ternary:
    if not (predicates.same_room(a.room, b.room) and predicates.same_room(a.room, c.room)):
        return False
    if predicates.between(a, b, c):
        return True
    towards = [math.atan2(end.xy[1] - a.xy[1], end.xy[0] - a.xy[0]) for end in (b, c)]
    return None if abs(predicates.wrap(towards[0] - towards[1])) >= OPPOSED else False


_TURNS: dict[str, float] = {"front": 0.0, "left": math.pi / 2, "behind": math.pi, "right": -math.pi / 2}


def _facing(viewer: Body, thing: Thing) -> Body:
    """The player, turned to a thing."""
    return replace(viewer, yaw=viewer.yaw + predicates.bearing(viewer, thing.xy))


def _off_side(viewer: Body, a: Thing, b: Thing, wanted: str) -> float:
    """The angle between the way from b to a and the middle of a side of b; the front of b is towards the viewer."""
    way = math.atan2(a.xy[1] - b.xy[1], a.xy[0] - b.xy[0]) - viewer.yaw
    turn = math.pi - _TURNS[wanted] if wanted in ("front", "behind") else _TURNS[wanted]
    return abs(predicates.wrap(way - turn))


def _stacked(a: Thing, b: Thing) -> bool:
    return predicates.gap(a, b) == 0.0


def _within(distance: float, limits: tuple[float, float]) -> Ternary:
    surely, surely_not = limits
    if distance <= surely:
        return True
    return False if distance > surely_not else None
