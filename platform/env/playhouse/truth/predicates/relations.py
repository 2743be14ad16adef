"""Relations of things: spatial ones (on, in, under, next to, near, between, touching), sides as a player sees them,
and matches of descriptions. Meters throughout.

Contact predicates tell which player touched, hit, pushed or threw a thing, and how far it moved, in meters and seconds.
A thing is identified by its index. Only contacts from the time `since` on count; without
`PlayhouseConfig.track_contacts` no contact is recorded.
"""

from __future__ import annotations

import math
from typing import Literal

from interplay.env.playhouse.physics.contacts import SAME_CONTACT_S
from interplay.env.playhouse.truth.facts import XY, Body, ContactEvent, HouseFacts, Thing
from interplay.env.playhouse.truth.predicates.geometry import (
    Placed,
    bearing,
    bottom,
    distance,
    edge_distance,
    floor_position,
    gap,
    parts,
    same_room,
    top,
    volume,
)

RESTING_GAP_M = 0.06  # between a thing's underside and its support, at most: tipped and round things lie uneven
NEXT_TO_GAP_M = 0.6  # edge to edge, at most: too narrow to walk through
NEAR_GAP_M = 1.2  # edge to edge, at most: one step
FAR_GAP_M = 2.5  # edge to edge, at least: more than half of a room of 4 to 5 meters
BETWEEN_OFFSET_M = 0.4  # from the line between two things, at most: wider than most things
TOUCHING_GAP_M = 0.03  # between bounding boxes, at most: round things do not fill theirs, and contacts are soft


def on(a: Thing, b: Thing) -> bool:
    """Whether `a` is on top of `b`: on any level part of furniture (a seat, a shelf), or on the top of an object."""
    if a.index == b.index or edge_distance(a.xy, b) > 0.0:
        return False
    return any(
        edge_distance(a.xy, part) == 0.0 and abs(bottom(a) - top(part)) < RESTING_GAP_M
        for part in (parts(b) if b.furniture else (b,))
    )


def inside(a: Thing, b: Thing) -> bool:
    """Whether `a` is in a container `b`: center over b's footprint and above its floor, underside below its rim.

    The center is used because the upright bounding box of a thing that tipped over inside may reach below the floor."""
    over = a.index != b.index and "container" in b.attributes and edge_distance(a.xy, b) == 0.0
    return over and bottom(b) < a.position[2] and bottom(a) < top(b) - RESTING_GAP_M


def under(a: Thing, b: Thing) -> bool:
    """Whether `a` is beneath a part of the furniture `b` and not on another part; or the object `b` is on it."""
    if not b.furniture:
        return on(b, a)
    return not on(a, b) and any(
        edge_distance(a.xy, part) == 0.0 and top(a) <= bottom(part) + RESTING_GAP_M for part in parts(b)
    )


def above(a: Thing, b: Thing) -> bool:
    """Whether the center of `a` is over `b`, at any height above its top."""
    return a.index != b.index and edge_distance(a.xy, b) == 0.0 and bottom(a) > top(b) - RESTING_GAP_M


def next_to(a: Thing, b: Thing, within: float = NEXT_TO_GAP_M) -> bool:
    """Whether `a` is next to `b`: at most `within` from edge to edge, and neither is on or in the other."""
    stacked = on(a, b) or on(b, a) or inside(a, b) or inside(b, a)
    return not stacked and same_room(a.room, b.room) and gap(a, b) <= within


def near(a: Placed, b: Placed) -> bool:
    """Whether two things or players are near each other. Things on, in or under a thing are near it, too."""
    return same_room(a.room, b.room) and distance(a, b) <= NEAR_GAP_M


def far(a: Placed, b: Placed) -> bool:
    """Whether two things or players are far from each other or in different rooms."""
    return not same_room(a.room, b.room) or distance(a, b) >= FAR_GAP_M


def between(a: Placed, b: Placed, c: Placed) -> bool:
    """Whether the center of `a` is between `b` and `c`: `BETWEEN_OFFSET_M` off the line at most, and outside both."""
    if not (same_room(a.room, b.room) and same_room(a.room, c.room) and same_room(b.room, c.room)):
        return False
    x, y = floor_position(a)
    # Sorted, so that rounding does not depend on the order of b and c.
    (bx, by), (cx, cy) = sorted((floor_position(b), floor_position(c)))
    length = math.dist((bx, by), (cx, cy))
    if length == 0.0:
        return False
    along = ((x - bx) * (cx - bx) + (y - by) * (cy - by)) / length
    off = abs((x - bx) * (cy - by) - (y - by) * (cx - bx)) / length
    clear = all(not isinstance(end, Thing) or edge_distance((x, y), end) > 0.0 for end in (b, c))
    return clear and 0.0 < along < length and off <= BETWEEN_OFFSET_M


def touching(a: Thing, b: Thing) -> bool:
    """Whether solid parts of two things touch, sideways or one above the other."""
    return a.index != b.index and any(
        math.hypot(gap(p, q), max(bottom(p) - top(q), bottom(q) - top(p), 0.0)) <= TOUCHING_GAP_M
        for p in parts(a)
        for q in parts(b)
    )


def things_on(facts: HouseFacts, thing: Thing) -> list[Thing]:
    """The things on a thing, except held ones."""
    return [other for other in facts.things if on(other, thing) and other.held_by is None]


def contents(facts: HouseFacts, container: Thing) -> list[Thing]:
    """The things in a container."""
    return [other for other in facts.things if inside(other, container)]


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


LARGER_VOLUME_RATIO = 1.5  # from which a thing counts as larger; below it the sizes count as equal
Size = Literal["larger", "smaller", "same"]


def matching(
    facts: HouseFacts,
    color: str | None = None,
    category: str | None = None,
    room: str | None = None,
    size: str | None = None,
    attribute: str | None = None,
) -> list[Thing]:
    """The things of this color, category, room, size and attribute ("eatable"); None matches any."""
    return [
        thing
        for thing in facts.things
        if (color is None or thing.color == color)
        and (category is None or thing.category == category)
        and (room is None or thing.room == room)
        and (size is None or thing.size == size)
        and (attribute is None or attribute in thing.attributes)
    ]


def compared(a: Thing, b: Thing) -> Size:
    """The size of `a` compared with `b`, by the volumes of their bounding boxes."""
    ratio = volume(a) / volume(b)
    if ratio >= LARGER_VOLUME_RATIO:
        return "larger"
    return "smaller" if ratio <= 1 / LARGER_VOLUME_RATIO else "same"


def same_color(a: Thing, b: Thing) -> bool:
    return a.color == b.color


def neighbors(facts: HouseFacts, thing: Thing) -> list[Thing]:
    """The other things in a thing's room, nearest first by the gap between footprints; held things are omitted."""
    others = [
        other
        for other in facts.things
        if other.index != thing.index and other.held_by is None and same_room(thing.room, other.room)
    ]
    return sorted(others, key=lambda other: gap(thing, other))


MIN_PUSH_DISTANCE_M = 0.2  # displacement by a deliberate push; a passing player may nudge a thing
MIN_THROW_DISTANCE_M = 1.0  # along the floor from the hand: a drop rolls 0.4 at most, a throw flies 1.5 and more


def touched(facts: HouseFacts, index: int, tool: int, role: str, since: float = 0.0) -> bool:
    """Whether a player touched a thing with a held object, however briefly."""
    return _matches(facts.things[index].touched, role, since, tool)


def hit(facts: HouseFacts, index: int, tool: int, role: str, since: float = 0.0) -> bool:
    """Whether a player hit a thing with a held object: touched it at `MIN_HIT_SPEED_MPS` or faster."""
    return _matches(facts.things[index].hit, role, since, tool)


def pushed_by(facts: HouseFacts, index: int, role: str, since: float = 0.0) -> bool:
    """Whether a player pushed a thing with its body to at least `MIN_PUSH_DISTANCE_M` from where the contact began."""
    event = facts.things[index].pushed
    return _matches(event, role, since) and pushed_distance(facts, index, event) >= MIN_PUSH_DISTANCE_M


def pushed_with(facts: HouseFacts, index: int, tool: int, role: str, since: float = 0.0) -> bool:
    """As `pushed_by`, with a held object instead of the body."""
    event = facts.things[index].touched
    return _matches(event, role, since, tool) and pushed_distance(facts, index, event) >= MIN_PUSH_DISTANCE_M


def just_pushed(facts: HouseFacts, index: int, role: str, tool: int | None) -> bool:
    """Whether a player pushed a thing within the last `SAME_CONTACT_S`, with its body or a tool. A further push would
    extend that event instead of starting a new one."""
    thing = facts.things[index]
    return _matches(thing.pushed if tool is None else thing.touched, role, facts.time - SAME_CONTACT_S, tool)


def thrown(facts: HouseFacts, index: int, role: str, since: float = 0.0) -> bool:
    """Whether a thing flew or rolled `MIN_THROW_DISTANCE_M` or more from where a player released it, unpushed since."""
    return _matches(facts.things[index].let_go, role, since) and thrown_distance(facts, index) >= MIN_THROW_DISTANCE_M


def thrown_distance(facts: HouseFacts, index: int) -> float:
    """Distance along the floor of a thing from where it was released; 0 if it is held, was never held, or was pushed or
    touched since."""
    thing = facts.things[index]
    if thing.let_go is None or thing.held_by is not None:
        return 0.0
    by_itself = all(event is None or event.time < thing.let_go.time for event in (thing.pushed, thing.touched))
    return math.dist(thing.let_go.place[:2], thing.xy) if by_itself else 0.0


def pushed_distance(facts: HouseFacts, index: int, event: ContactEvent | None) -> float:
    """Distance along the floor of a thing from where a push or touch of it began; 0 if it was held since."""
    thing = facts.things[index]
    if event is None or thing.held_by is not None or (thing.let_go is not None and thing.let_go.time > event.time):
        return 0.0
    return math.dist(event.place[:2], thing.xy)


def _matches(event: ContactEvent | None, role: str, since: float, tool: int | None = None) -> bool:
    return event is not None and event.role == role and event.time >= since and event.tool == tool


def settled(facts: HouseFacts) -> bool:
    """Whether everything is at rest or held."""
    return all(thing.at_rest or thing.held_by is not None for thing in facts.things)
