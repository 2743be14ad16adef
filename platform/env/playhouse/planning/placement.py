"""Places to put a thing down: spots on furniture, on other things, in bins, under tables and on the floor.

Each is found from the facts of one moment and is free; `reachable_placements` adds where a player stands to put the
thing down.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from interplay.env.playhouse.house.catalog import BIN, CATEGORIES
from interplay.env.playhouse.planning.navigation import Ground
from interplay.env.playhouse.planning.reach import horizontal_reach, line_is_free, standing_spot
from interplay.env.playhouse.truth import predicates
from interplay.env.playhouse.truth.facts import XY, Body, HouseFacts, Room, Thing

LEVEL_CATEGORIES = frozenset({"block", "book", "box", "drum", "plate", "pillow", "roll"})  # other things can go on top
MIN_TOP_HALF_WIDTH_M = 0.08  # of a loose thing that another can be put on
DROP_ABOVE_RIM_M = 0.05  # of a thing that is dropped into a bin
BIN_HEIGHT_TOLERANCE_M = 0.12  # above that height, at most
BIN_MARGIN_M = 0.015  # to spare all round, at least, for a thing that goes into a bin
BIN_WALL_SHARE = 0.2  # of a bin's half width
BIN_HEIGHT_COST = 5.0  # meters of walking for each meter that a thing would lie higher in a bin
COMPASS = tuple((math.cos(k * math.pi / 4), math.sin(k * math.pi / 4)) for k in range(8))
MARGIN_M = 0.05  # kept free around a thing that is put down
TOP_GRID_M = 0.12  # between the spots that are tried on a top; half of it on a narrow top
NARROW_TOP_M = 0.25  # from the middle to the edge of a narrow top
EDGE_MARGIN_M = 0.05  # from the edge of a top to a thing's middle, at least
OVERHANG_COST = 8.0  # meters of walking for each meter that a thing would stick out over an edge
SIDE_BY_SIDE_M = 0.22  # from edge to edge of things that are put next to each other
UNDER_EDGE_M = (0.16, 0.11, 0.07)  # of a table to the middle of a thing under it; the first with enough room counts
ROOF_MARGIN_M = 0.05  # above a thing under a table
BEFORE_PLAYER_M = (0.75, 0.95, 1.2)  # from a player to a thing that is put down for it
STAND_RING_M = (0.75, 0.9, 1.05)  # from a spot to the player who puts a thing there
APPROACH_SPREAD_RAD = math.radians(20)  # off straight, at most, of a player who puts a thing under a table
NEAREST_STAND_M, FARTHEST_STAND_M = 0.55, 1.25  # from a spot to a player who can put a thing there without walking
USUAL_SUPPORT_RADIUS_M = 0.2  # players stand farther off for a wider support


@dataclass(frozen=True)
class Placement:
    """Where and how one thing is put down. Meters and radians."""

    spot: XY  # of its middle
    height: float  # of its underside once it is there
    room: str | None = None  # to stand in; None: any
    tolerance: float = 0.0  # horizontal error that does no harm
    height_tolerance: float = 0.015  # above `height`, up to which it may be released
    yaw: float | None = None  # to bring its sides in line with, up to quarter turns; None: any
    support_radius: float = 0.0  # of the loose thing that it goes on top of
    drop: float = 0.0  # above `height`, from where it is dropped
    slide_in: float = 0.0  # short of the spot, where it is lowered, to be slid in from there
    approach_angle: float | None = None  # from the spot, the only direction to stand in; None: any
    stand_distances: tuple[float, ...] = STAND_RING_M
    cost: float = 0.0  # meters of walking worth taking another placement
    stand: XY = (math.nan, math.nan)  # where to stand to put it down


def footprint_radius(thing: Thing) -> float:
    """The radius of the circle around a footprint; a round thing is its own circle."""
    is_round = thing.category in CATEGORIES and CATEGORIES[thing.category].shape in ("sphere", "cylinder")
    return thing.half_extents[0] if is_round else thing.radius


def placements_on(facts: HouseFacts, thing: Thing, support: Thing) -> list[Placement]:
    """Spots for a thing on a piece of furniture or on the level top of another thing."""
    radius = footprint_radius(thing)
    if not support.furniture:
        half_width, top = min(support.half_extents[:2]), predicates.top(support)
        is_wide = half_width >= max(MIN_TOP_HALF_WIDTH_M, 0.7 * radius)
        rolls = thing.category in CATEGORIES and CATEGORIES[thing.category].shape == "sphere"
        level = support.category in LEVEL_CATEGORIES and is_wide and not rolls
        level = level and _is_free(facts, support.xy, radius, top, thing, support)
        level = level and _is_off_walls(facts, support.room, support.xy, radius)
        return [Placement(support.xy, top, support.room, 0.35 * half_width)] if level else []
    surface = CATEGORIES[support.category].surface if support.category in CATEGORIES else None
    if surface is None:
        return []
    height = support.position[2] + surface.height
    falls_over = thing.half_extents[2] > 1.5 * min(thing.half_extents[:2])  # easily
    found = []
    for along, aside in _grid(surface.half):
        spot = predicates.from_own_frame(support, along, aside)
        free = _is_free(facts, spot, radius, height, thing, support)
        if free and _is_off_walls(facts, support.room, spot, radius):
            edge = min(surface.half[0] - abs(along), surface.half[1] - abs(aside))
            tolerance = min(max(edge - 0.6 * radius, 0.04), 0.06 if falls_over else 0.1)
            cost = OVERHANG_COST * max(0.7 * radius - edge, 0.0)
            found.append(Placement(spot, height, support.room, tolerance, cost=cost))
    return found


def placements_in(facts: HouseFacts, thing: Thing, container: Thing, pressed: bool = False) -> list[Placement]:
    """Spots within a bin for a thing that fits in: next to or on top of its contents, unless it would stick out.
    `pressed`: even then, because the contents may give way."""
    slack = (1 - BIN_WALL_SHARE) * min(container.half_extents[:2]) - footprint_radius(thing)
    if container.category != BIN or slack < BIN_MARGIN_M or container.index == thing.index:
        return []
    contents = [other for other in predicates.contents(facts, container) if other.index != thing.index]
    rim, aside = predicates.top(container), slack - BIN_MARGIN_M
    found: list[Placement] = []
    for along, across in [(0.0, 0.0), *((aside * x, aside * y) for x, y in COMPASS)]:
        spot = predicates.from_own_frame(container, along, across)
        below = [
            other for other in contents if math.dist(spot, other.xy) < footprint_radius(thing) + footprint_radius(other)
        ]
        height = max((predicates.top(other) for other in below), default=predicates.bottom(container))
        if pressed or height <= rim - 2 * predicates.RESTING_GAP_M:
            tolerance = min(max(slack - math.hypot(along, across), 0.025), 0.05)
            placement = Placement(spot, rim, container.room, tolerance, cost=BIN_HEIGHT_COST * height)
            found.append(replace(placement, drop=DROP_ABOVE_RIM_M, height_tolerance=BIN_HEIGHT_TOLERANCE_M))
    return found


def placements_under(facts: HouseFacts, thing: Thing, furniture: Thing) -> list[Placement]:
    """Spots just inside each side of furniture that has room beneath it; the thing is slid in from that side."""
    if not furniture.furniture:
        return []
    found = []
    for quarter in range(4):
        angle = quarter * math.pi / 2
        for inside in UNDER_EDGE_M:
            edge = furniture.half_extents[quarter % 2] - inside
            spot = predicates.from_own_frame(furniture, edge * math.cos(angle), edge * math.sin(angle))
            free = _is_off_walls(facts, furniture.room, spot, footprint_radius(thing) + 0.01)
            if free and _fits_under(facts, thing, furniture, spot):
                slide_in = inside + footprint_radius(thing) + MARGIN_M
                approach_angle = furniture.yaw + angle
                found.append(
                    Placement(
                        spot, 0.01, furniture.room, inside - 0.03, slide_in=slide_in, approach_angle=approach_angle
                    )
                )
                break
    return found


def _fits_under(facts: HouseFacts, thing: Thing, furniture: Thing, spot: XY) -> bool:
    """Whether a spot under furniture has a high enough roof and is far enough from the legs."""
    parts = predicates.parts(furniture)
    legs = [part for part in parts if predicates.bottom(part) < 0.1]
    roofs = [part for part in parts if predicates.bottom(part) >= 0.1 and predicates.edge_distance(spot, part) == 0.0]
    high = roofs and min(predicates.bottom(part) for part in roofs) >= 2 * thing.half_extents[2] + ROOF_MARGIN_M
    wide = all(predicates.edge_distance(spot, leg) >= footprint_radius(thing) + 0.02 for leg in legs)
    return bool(high) and wide and _is_free(facts, spot, footprint_radius(thing), 0.0, thing, furniture)


def placements_beside(facts: HouseFacts, thing: Thing, other: Thing) -> list[Placement]:
    """Spots on the floor all round another thing."""
    found = []
    for angle in np.linspace(0.0, math.tau, 16, endpoint=False):
        spot = spot_off_edge(other, float(angle), footprint_radius(thing) + SIDE_BY_SIDE_M, 0.0, 0.04)
        found.append(Placement(spot, 0.0, other.room, 0.1))
    return _on_floor(facts, thing, found)


def spot_off_edge(thing: Thing, angle: float, gap: float, away: float, step: float) -> XY:
    """The first spot in this direction with this gap to a footprint, from `away` meters off its middle in steps."""
    while predicates.edge_distance(_polar(thing.xy, angle, away), thing) < gap:
        away += step
    return _polar(thing.xy, angle, away)


def placements_around(facts: HouseFacts, thing: Thing, body: Body) -> list[Placement]:
    """Spots on the floor around a player and within its reach, from its front to its back."""
    found = [
        Placement(_polar(body.position, body.yaw + turn, away), 0.0, body.room, 0.12)
        for turn in np.radians([0, 25, -25, 50, -50, 75, -75, 100, -100, 130, -130, 180])
        for away in BEFORE_PLAYER_M
    ]
    return _on_floor(facts, thing, found)


def placements_in_room(facts: HouseFacts, thing: Thing, room: Room) -> list[Placement]:
    """Spots all over the floor of a room."""
    xs, ys = (np.arange(room.low[k] + 0.6, room.high[k] - 0.6, 0.4) for k in (0, 1))
    return _on_floor(facts, thing, [Placement((float(x), float(y)), 0.0, room.name, 0.15) for x in xs for y in ys])


def reachable_placements(
    facts: HouseFacts, role: str, thing: Thing, placements: Sequence[Placement], max_price: float = 0.0
) -> list[Placement]:
    """The placements that a player can stand at, each with the nearest spot to stand; best first.

    `max_price`: of the ground to stand on, as in `navigation`; 0 is clear."""
    ground = Ground(facts, role, (thing.index,))
    start = facts.bodies[role].position
    entries = {name: _entry(facts, start, name) for name in {placement.room for placement in placements}}
    options: list[tuple[float, Placement]] = []
    for placement in placements:
        stands = np.array(list(_stands(placement, thing)))
        if not len(stands):
            continue
        clear = ground.price(stands) <= max_price
        x, y = stands[:, 0], stands[:, 1]
        room = next((room for room in facts.rooms if room.name == placement.room), None)
        if room is not None:
            clear &= (x > room.low[0]) & (x < room.high[0]) & (y > room.low[1]) & (y < room.high[1])
        if clear.any():
            entry, length = entries[placement.room]
            cost = length + np.hypot(x - entry[0], y - entry[1]) - 3.0 * placement.tolerance
            best = int(np.where(clear, cost, np.inf).argmin())
            stand = (float(x[best]), float(y[best]))
            options.append((float(cost[best]) + placement.cost, replace(placement, stand=stand)))
    return [placement for _, placement in sorted(options, key=lambda option: option[0])]


def standing_here_or_near(facts: HouseFacts, role: str, thing: Thing, placement: Placement) -> Placement:
    """The placement with a spot to stand at: the present position if within reach, else the best one near it."""
    body = facts.bodies[role]
    nearest, away = NEAREST_STAND_M + placement.support_radius, math.dist(body.position, placement.spot)
    if nearest < away < FARTHEST_STAND_M and predicates.same_room(body.room, thing.room):
        room = predicates.nearest_room(facts, body.position)
        if predicates.outside(room, placement.spot) < 0.0 and line_is_free(facts, body.position, placement.spot):
            return replace(placement, stand=body.position)
    extra = extra_distance(placement.support_radius)
    stand = standing_spot(facts, role, placement.spot, extra=extra, held=thing.index)
    return replace(placement, stand=stand or placement.spot)


def extra_distance(support_radius: float) -> float:
    """Meters that a player stands farther off than usual, for a place on top of a support of this radius."""
    return max(support_radius - USUAL_SUPPORT_RADIUS_M, 0.0)


def _entry(facts: HouseFacts, start: XY, name: str | None) -> tuple[XY, float]:
    """Where a player enters a room, and the length of the way there; `start` and 0 if it is in the room already."""
    room = next((room for room in facts.rooms if room.name == name), None)
    if room is None:
        return start, 0.0
    doors = predicates.route(facts, start, room.middle)
    return (doors[-1].middle, predicates.route_length(facts, start, doors[-1].middle)) if doors else (start, 0.0)


def _stands(placement: Placement, thing: Thing) -> Iterator[XY]:
    """Spots from which a hand reaches a placement."""
    farthest = horizontal_reach(placement.height + placement.drop + thing.half_extents[2])
    distances = placement.stand_distances if placement.slide_in == 0.0 else (farthest - 0.12, farthest - 0.22)
    if placement.approach_angle is None:
        angles = np.linspace(0.0, math.tau, 24, endpoint=False).tolist()
    else:
        angles = [placement.approach_angle + turn * APPROACH_SPREAD_RAD for turn in (0.0, -0.5, 0.5, -1.0, 1.0)]
    for angle in angles:
        for distance in distances:
            yield _polar(placement.spot, angle, min(distance, farthest - 0.1))


def _on_floor(facts: HouseFacts, thing: Thing, placements: Sequence[Placement]) -> list[Placement]:
    """The placements whose floor is free and well inside their room."""
    rooms = {room.name: room for room in facts.rooms}
    margin = footprint_radius(thing) + MARGIN_M
    return [
        placement
        for placement in placements
        if (placement.room is None or predicates.outside(rooms[placement.room], placement.spot) < -margin)
        and _is_free(facts, placement.spot, footprint_radius(thing), 0.0, thing, None)
    ]


def _is_free(facts: HouseFacts, spot: XY, radius: float, height: float, thing: Thing, support: Thing | None) -> bool:
    """Whether the space for a thing of this radius is free. Furniture fills all the space under it."""
    top = height + 2 * thing.half_extents[2]
    return not any(
        predicates.edge_distance(spot, other) < radius + MARGIN_M
        for other in facts.things
        if other.index != thing.index
        and (support is None or other.index != support.index)
        and other.held_by is None
        and predicates.top(other) > height + 0.02
        and predicates.bottom(other) < top
    )


def _grid(half: tuple[float, float]) -> Iterator[tuple[float, float]]:
    """Points along and across a top, inside the margin at its edges."""
    spacing = [TOP_GRID_M / 2 if h < NARROW_TOP_M else TOP_GRID_M for h in half]
    steps = [int((h - EDGE_MARGIN_M) / step) for h, step in zip(half, spacing, strict=True)]
    for i in range(-steps[0], steps[0] + 1):
        for j in range(-steps[1], steps[1] + 1):
            yield i * spacing[0], j * spacing[1]


def _is_off_walls(facts: HouseFacts, name: str | None, spot: XY, radius: float) -> bool:
    """Whether a thing at a spot fits between the walls of its room."""
    room = next((room for room in facts.rooms if room.name == name), None)
    return room is None or predicates.outside(room, spot) <= -radius


def _polar(middle: XY, angle: float, away: float) -> XY:
    return middle[0] + away * math.cos(angle), middle[1] + away * math.sin(angle)
