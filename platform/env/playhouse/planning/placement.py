"""Where a thing can be put down: spots on furniture, on other things, in bins, under tables and on the floor.

Each is found from the facts of one moment and is free; `reachable_placements` adds where a player stands to put the
thing down.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from interplay.env.playhouse.house.catalog import BIN, CATEGORIES
from interplay.env.playhouse.physics.hand import EYE_HEIGHT_M, MAX_CARRY_M
from interplay.env.playhouse.planning.navigation import Ground
from interplay.env.playhouse.truth import predicates
from interplay.env.playhouse.truth.facts import XY, Body, HouseFacts, Room, Thing
from interplay.env.playhouse.truth.predicates.relations import RESTING_GAP

LEVEL = frozenset({"block", "book", "box", "drum", "plate", "pillow", "roll"})  # things with a top to put things on
NARROW = 0.08  # meters from the middle of a top to its edge, at least, for things to be put on it
RIM = 0.05  # meters above a bin's rim from which a thing is dropped into it
SNUG = 0.015  # meters to spare all round, at least, of what goes into a bin
WALLS = 0.2  # of a bin's half width, its wall's thickness
BIN_HEIGHT_COST = 5.0  # meters of a way for each meter that a thing would lie higher in a bin
AROUND = tuple((math.cos(k * math.pi / 4), math.sin(k * math.pi / 4)) for k in range(8))
ELBOW = 0.05  # meters kept free around what is put down
GRID = 0.12  # meters between the spots that are tried on a top; half of it where the top is narrow
NARROW_TOP = 0.25  # meters from the middle to the edge of a top that is
EDGE = 0.05  # meters inside the edge of a top, at least, of a thing's middle
OVERHANG = 8.0  # meters of a way for each meter that a thing would stick out over an edge
SIDE_BY_SIDE = 0.22  # meters from edge to edge of what is put next to another
INTO = (0.16, 0.11, 0.07)  # meters that the middle of a thing goes in under a table's edge, as far as there is room
HEADROOM = 0.05  # meters to spare over what goes under a table
AT_HAND = (0.75, 0.95, 1.2)  # meters from a player, of what is put down before it
RING = (0.75, 0.9, 1.05)  # meters from a spot at which one stands to put something there
SPREAD = math.radians(20)  # off straight before a table, at most, of who puts something under it


@dataclass(frozen=True)
class Placement:
    """One place for one thing. Meters."""

    spot: XY  # of its middle
    height: float  # of its underside once it is there
    room: str | None
    off: float  # from the spot, seen from above, does no harm
    drop: float = 0.0  # above `height`, from which it is let go
    slide_in: float = 0.0  # short of the spot, where it is lowered, to be slid in from there
    approach_angle: float | None = None  # the only direction, in radians, in which one may stand; None: any
    ring: tuple[float, ...] = RING  # from the spot, of where one stands
    cost: float = 0.0  # so many meters of a way is it worth to take another
    stand: XY = (math.nan, math.nan)


def footprint_radius(thing: Thing) -> float:
    """The radius of the circle around a footprint; a round thing is its own circle."""
    round_ = thing.category in CATEGORIES and CATEGORIES[thing.category].shape in ("sphere", "cylinder")
    return thing.half_extents[0] if round_ else thing.radius


def rolls(thing: Thing) -> bool:
    """Is it a ball?"""
    return thing.category in CATEGORIES and CATEGORIES[thing.category].shape == "sphere"


def _slender(thing: Thing) -> bool:
    """Does it fall over easily?"""
    return thing.half_extents[2] > 1.5 * min(thing.half_extents[:2])


def placements_on(facts: HouseFacts, thing: Thing, place: Thing) -> list[Placement]:
    """Spots for a thing on a piece of furniture or on the level top of another thing."""
    if not place.furniture:
        wide = min(place.half_extents[:2]) >= max(NARROW, 0.7 * footprint_radius(thing))
        level = place.category in LEVEL and wide and not rolls(thing)
        top = predicates.top(place)
        level = level and _free(facts, place.xy, footprint_radius(thing), top, thing, place)
        level = level and _off_walls(facts, place.room, place.xy, footprint_radius(thing))
        return [Placement(place.xy, top, place.room, 0.35 * min(place.half_extents[:2]))] if level else []
    surface = CATEGORIES[place.category].surface if place.category in CATEGORIES else None
    if surface is None:
        return []
    height, radius = place.position[2] + surface.height, footprint_radius(thing)
    found = []
    for along, aside in _grid(surface.half):
        spot = _outwards(place, along, aside)
        if _free(facts, spot, radius, height, thing, place) and _off_walls(facts, place.room, spot, radius):
            edge = min(surface.half[0] - abs(along), surface.half[1] - abs(aside))
            off = min(max(edge - 0.6 * radius, 0.04), 0.06 if _slender(thing) else 0.1)
            found.append(Placement(spot, height, place.room, off, cost=OVERHANG * max(0.7 * radius - edge, 0.0)))
    return found


def placements_in(facts: HouseFacts, thing: Thing, container: Thing, pressed: bool = False) -> list[Placement]:
    """Spots within a bin for what fits in: beside or on top of what is in it, unless it would stick out there.
    `pressed`: even then, for what lies below may give way."""
    slack = (1 - WALLS) * min(container.half_extents[:2]) - footprint_radius(thing)
    if container.category != BIN or slack < SNUG or container.index == thing.index:
        return []
    within = [other for other in predicates.contents(facts, container) if other.index != thing.index]
    rim, aside = predicates.top(container), slack - SNUG
    found: list[Placement] = []
    for along, across in [(0.0, 0.0), *((aside * x, aside * y) for x, y in AROUND)]:
        spot = _outwards(container, along, across)
        below = [
            other for other in within if math.dist(spot, other.xy) < footprint_radius(thing) + footprint_radius(other)
        ]
        height = max((predicates.top(other) for other in below), default=predicates.bottom(container))
        if pressed or height <= rim - 2 * RESTING_GAP:
            off = min(max(slack - math.hypot(along, across), 0.025), 0.05)
            found.append(Placement(spot, rim, container.room, off, drop=RIM, cost=BIN_HEIGHT_COST * height))
    return found


def placements_under(facts: HouseFacts, thing: Thing, furniture: Thing) -> list[Placement]:
    """Just inside each side of furniture that has room beneath it, to be slid in from there."""
    if not furniture.furniture:
        return []
    found = []
    for quarter in range(4):
        ahead = quarter * math.pi / 2
        for into in INTO:
            edge = furniture.half_extents[quarter % 2] - into
            spot = _outwards(furniture, edge * math.cos(ahead), edge * math.sin(ahead))
            free = _off_walls(facts, furniture.room, spot, footprint_radius(thing) + 0.01)
            if free and _fits_under(facts, thing, furniture, spot):
                slide_in = into + footprint_radius(thing) + ELBOW
                approach_angle = furniture.yaw + ahead
                found.append(
                    Placement(spot, 0.01, furniture.room, into - 0.03, slide_in=slide_in, approach_angle=approach_angle)
                )
                break
    return found


def _fits_under(facts: HouseFacts, thing: Thing, furniture: Thing, spot: XY) -> bool:
    """Is there a roof over a spot under furniture, high enough, and are its legs far enough?"""
    parts = predicates.parts(furniture)
    legs = [part for part in parts if predicates.bottom(part) < 0.1]
    roofs = [part for part in parts if predicates.bottom(part) >= 0.1 and predicates.edge_distance(spot, part) == 0.0]
    high = roofs and min(predicates.bottom(part) for part in roofs) >= 2 * thing.half_extents[2] + HEADROOM
    wide = all(predicates.edge_distance(spot, leg) >= footprint_radius(thing) + 0.02 for leg in legs)
    return bool(high) and wide and _free(facts, spot, footprint_radius(thing), 0.0, thing, furniture)


def placements_beside(facts: HouseFacts, thing: Thing, other: Thing) -> list[Placement]:
    """Spots on the floor all round another thing."""
    found = []
    for angle in np.linspace(0.0, math.tau, 16, endpoint=False):
        away = 0.0
        while predicates.edge_distance(_at(other.xy, angle, away), other) < footprint_radius(thing) + SIDE_BY_SIDE:
            away += 0.04
        found.append(Placement(_at(other.xy, angle, away), 0.0, other.room, 0.1))
    return _on_floor(facts, thing, found)


def placements_around(facts: HouseFacts, thing: Thing, body: Body) -> list[Placement]:
    """Spots on the floor around a player, at hand, the rather the more before it."""
    found = [
        Placement(_at(body.position, body.yaw + turn, away), 0.0, body.room, 0.12)
        for turn in np.radians([0, 25, -25, 50, -50, 75, -75, 100, -100, 130, -130, 180])
        for away in AT_HAND
    ]
    return _on_floor(facts, thing, found)


def placements_in_room(facts: HouseFacts, thing: Thing, room: Room) -> list[Placement]:
    """Spots all over the floor of a room."""
    xs, ys = (np.arange(room.low[k] + 0.6, room.high[k] - 0.6, 0.4) for k in (0, 1))
    return _on_floor(facts, thing, [Placement((float(x), float(y)), 0.0, room.name, 0.15) for x in xs for y in ys])


def reachable_placements(
    facts: HouseFacts, role: str, thing: Thing, landings: Sequence[Placement], worst: float = 0.0
) -> list[Placement]:
    """The landings that a player can stand before, each with the place to stand that is nearest to it; best first.

    `worst`: what the ground there may cost, as in `navigation`; 0 is clear."""
    ground = Ground(facts, role, (thing.index,))
    start = facts.bodies[role].position
    ways = {name: _way(facts, start, name) for name in {landing.room for landing in landings}}
    options: list[tuple[float, Placement]] = []
    for landing in landings:
        stands = np.array(list(_stands(landing, thing)))
        if not len(stands):
            continue
        clear = ground.price(stands) <= worst
        x, y = stands[:, 0], stands[:, 1]
        room = next((room for room in facts.rooms if room.name == landing.room), None)
        if room is not None:
            clear &= (x > room.low[0]) & (x < room.high[0]) & (y > room.low[1]) & (y < room.high[1])
        if clear.any():
            gate, length = ways[landing.room]
            cost = length + np.hypot(x - gate[0], y - gate[1]) - 3.0 * landing.off
            best = int(np.where(clear, cost, np.inf).argmin())
            options.append((float(cost[best]) + landing.cost, replace(landing, stand=(float(x[best]), float(y[best])))))
    return [landing for _, landing in sorted(options, key=lambda option: option[0])]


def _way(facts: HouseFacts, start: XY, name: str | None) -> tuple[XY, float]:
    """Where one comes into a room, and how far that is; right here, in the same room."""
    room = next((room for room in facts.rooms if room.name == name), None)
    if room is None:
        return start, 0.0
    doors = predicates.route(facts, start, room.middle)
    return (doors[-1].middle, predicates.walk(facts, start, doors[-1].middle)) if doors else (start, 0.0)


def _stands(landing: Placement, thing: Thing) -> Iterator[XY]:
    """Places from which a hand reaches a landing."""
    farthest = arm(landing.height + landing.drop + thing.half_extents[2])
    ring = landing.ring if landing.slide_in == 0.0 else (farthest - 0.12, farthest - 0.22)
    if landing.approach_angle is None:
        angles = np.linspace(0.0, math.tau, 24, endpoint=False).tolist()
    else:
        angles = [landing.approach_angle + turn * SPREAD for turn in (0.0, -0.5, 0.5, -1.0, 1.0)]
    for angle in angles:
        for away in ring:
            yield _at(landing.spot, angle, min(away, farthest - 0.1))


def arm(height: float) -> float:
    """How far ahead, along the floor, a hand can hold the middle of a thing at this height."""
    return math.sqrt(MAX_CARRY_M**2 - (EYE_HEIGHT_M - height) ** 2)


def _on_floor(facts: HouseFacts, thing: Thing, landings: Sequence[Placement]) -> list[Placement]:
    """Those whose floor is free, well inside their room."""
    rooms = {room.name: room for room in facts.rooms}
    margin = footprint_radius(thing) + ELBOW
    return [
        landing
        for landing in landings
        if (landing.room is None or predicates.outside(rooms[landing.room], landing.spot) < -margin)
        and _free(facts, landing.spot, footprint_radius(thing), 0.0, thing, None)
    ]


def _free(facts: HouseFacts, spot: XY, radius: float, height: float, thing: Thing, place: Thing | None) -> bool:
    """Does nothing else stand where a thing of this radius would stand? Furniture fills all that it stands over."""
    tall = height + 2 * thing.half_extents[2]
    return not any(
        predicates.edge_distance(spot, other) < radius + ELBOW
        for other in facts.things
        if other.index != thing.index
        and (place is None or other.index != place.index)
        and other.held_by is None
        and predicates.top(other) > height + 0.02
        and predicates.bottom(other) < tall
    )


def _grid(half: tuple[float, float]) -> Iterator[tuple[float, float]]:
    """Places along and across a top, a hand's breadth inside its edges."""
    fine = [GRID / 2 if h < NARROW_TOP else GRID for h in half]
    steps = [int((h - EDGE) / step) for h, step in zip(half, fine, strict=True)]
    for i in range(-steps[0], steps[0] + 1):
        for j in range(-steps[1], steps[1] + 1):
            yield i * fine[0], j * fine[1]


def _off_walls(facts: HouseFacts, name: str | None, spot: XY, radius: float) -> bool:
    """Is there room for a thing between a spot and the walls of its room?"""
    room = next((room for room in facts.rooms if room.name == name), None)
    return room is None or predicates.outside(room, spot) <= -radius


def _outwards(thing: Thing, along: float, aside: float) -> XY:
    """A point given in a thing's own frame."""
    cos, sin = math.cos(thing.yaw), math.sin(thing.yaw)
    return thing.position[0] + along * cos - aside * sin, thing.position[1] + along * sin + aside * cos


def _at(middle: XY, angle: float, away: float) -> XY:
    return middle[0] + away * math.cos(angle), middle[1] + away * math.sin(angle)
