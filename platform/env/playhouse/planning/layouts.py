"""Where things go that are to form a shape: on free floor, with as little to carry as can be.

A pattern is a shape's points about its middle. It is laid on the floor in many ways: through two of the things where
they lie, through one, or anywhere; of those ways whose other points are on free floor, with somewhere to stand, the
one that leaves least to carry is taken.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, permutations

import numpy as np
from numpy.typing import NDArray

from interplay.env.arrays import Points
from interplay.env.playhouse.planning.navigation import Ground
from interplay.env.playhouse.planning.release_pose import ReleasePose
from interplay.env.playhouse.planning.standing import standing_spot
from interplay.env.playhouse.truth import predicates
from interplay.env.playhouse.truth.facts import XY, HouseFacts, Room, Thing
from interplay.env.playhouse.truth.formations import SHAPES

FROM_WALL = 0.5  # meters from a wall to where a thing goes, at least: the hand that brings it needs room
DOORWAY_MARGIN_M = 0.9  # meters from the middle of a doorway
BETWEEN = 0.2  # meters from edge to edge of neighbors, or more
NARROWEST = 0.6  # meters between two points of a pattern
WIDEST = 0.85  # the same of a row, at most, or its gaps would be too wide
ROOMY = 1.2  # times as far apart are more than three: one walks among them
LIFTED = 4.0  # meters of walking that one more thing to carry costs
DOORWAY = 3.0  # meters of walking that another room costs
TURNS = 12  # directions in which a pattern is tried
GRID = 0.5  # meters between the middles that are tried
TRIED = 40  # ways, the best ones, of which it is seen whether one can stand there
STRETCHED = (0.85, 1.5)  # a pattern's size over its usual one
LONGEST = 1.7  # meters, of a side
ON_FLOOR = 0.05  # meters above it, at most, of what lies on the floor
THIN = 3.0  # times as high as wide, at most, of what stays upright
TIPPED = 0.03  # meters that a thing on the floor is lower or higher than one that stands on it
BLOCKED = 0.05  # meters from a spot to what else lies there, at least
AT_FURNITURE = 0.5  # meters from furniture to the middle of what is gathered there


@dataclass(frozen=True)
class ArrangementPlan:
    """One way of laying a shape out: a thing for each of its points."""

    spots: Mapping[int, XY]  # by thing
    staying: frozenset[int]  # of these, the things that lie there already

    def next(self, facts: HouseFacts, off: float) -> tuple[int, ReleasePose] | None:
        """The thing to be carried next, and where to; None once each lies within `off` meters of its spot. What is in
        a hand comes first, then what lies in another's way, then the nearest."""
        pending = [thing for index in self.spots if self._misplaced(thing := facts.things[index], off)]
        if not pending:
            return None

        def order(thing: Thing) -> tuple[bool, bool, float]:
            spot = self.spots[thing.index]
            blocked = any(other is not thing and predicates.edge_distance(spot, other) < BLOCKED for other in pending)
            return thing.held_by is None, blocked, math.dist(thing.xy, spot)

        first = min(pending, key=order)
        return first.index, ReleasePose(self.spots[first.index])

    def spoilt(self, facts: HouseFacts) -> bool:
        """Has something come to lie where a thing is to go?"""
        spots = [spot for index, spot in self.spots.items() if self._misplaced(facts.things[index], 2 * BLOCKED)]
        return any(
            predicates.edge_distance(spot, other) < BLOCKED
            for spot in spots
            for other in facts.things
            if other.index not in self.spots and other.held_by is None
        )

    def _misplaced(self, thing: Thing, off: float) -> bool:
        low = thing.index in self.staying or predicates.bottom(thing) < 2 * ON_FLOOR
        return thing.held_by is not None or not low or math.dist(thing.xy, self.spots[thing.index]) > off


def plan_layout(facts: HouseFacts, role: str, among: Sequence[int], count: int, shape: str) -> ArrangementPlan | None:
    """How `count` of the things are best laid out by a player; None where the floor has no place for it.

    `shape`: a key of `SHAPES`, towers aside; an ordered row takes all of the things.
    """
    things = _best(facts, among, count)
    pattern = _pattern(shape, count, things)
    lying = [
        thing for thing in things if thing.held_by is None and predicates.bottom(thing) < ON_FLOOR and thing.at_rest
    ]
    for poses in ([*_through_two(lying, pattern), *_through_one(lying, pattern)], _anywhere(facts, pattern)):
        ways = [
            way
            for spots, staying in _free(facts, role, poses)
            if (way := _shared_out(facts, spots, staying, things, shape)) is not None
        ]
        ways.sort(key=lambda way: _cost(facts, way))
        for way in ways[:TRIED]:
            if _makes(facts, way, shape) and _can_be_reached(facts, role, way):
                return way
    return None


def free_spot(facts: HouseFacts, role: str, thing: Thing) -> XY | None:
    """A free point of the floor for one thing, not far from it; None where there is none."""
    poses = _anywhere(facts, np.zeros((1, 2)))
    spots = [(float(x), float(y)) for ((x, y),), _ in _free(facts, role, poses)]
    spots.sort(key=lambda spot: carry(facts, thing, spot))
    return next((spot for spot in spots[:TRIED] if standing_spot(facts, role, spot) is not None), None)


def plan_gathering(
    facts: HouseFacts, role: str, among: Sequence[int], count: int, furniture: Thing
) -> ArrangementPlan | None:
    """How `count` of the things are best gathered at a piece of furniture: those near it stay, others go to free floor
    around it."""
    things = _best(facts, among, count)
    staying = [thing for thing in things if thing.held_by is None and predicates.near(thing, furniture)][:count]
    angles = [math.tau * turn / (2 * TURNS) for turn in range(2 * TURNS)]
    around: list[Pose] = [(np.array([_beside(furniture, angle)]), {}) for angle in angles]
    free = [(float(x), float(y)) for ((x, y),), _ in _free(facts, role, around)]
    free = [spot for spot in free if predicates.nearest_room(facts, spot).name == furniture.room]
    spots: dict[int, XY] = {thing.index: thing.xy for thing in staying}
    left = [thing for thing in things if thing.index not in spots]
    left.sort(key=lambda thing: carry(facts, thing, furniture.xy))
    for thing in left[: count - len(staying)]:
        taken = list(spots.values())
        choices = [spot for spot in free if all(math.dist(spot, other) >= NARROWEST for other in taken)]
        choices = [spot for spot in choices if standing_spot(facts, role, spot, taken=taken) is not None]
        if not choices:
            return None
        at = thing.xy
        spots[thing.index] = min(choices, key=lambda spot: math.dist(at, spot))
    return ArrangementPlan(spots, frozenset(thing.index for thing in staying))


def slimness(thing: Thing) -> float:
    """Its height over its width."""
    return thing.half_extents[2] / min(thing.half_extents[:2])


def is_steady(thing: Thing) -> bool:
    """Does a thing stay upright when it is put down?"""
    return slimness(thing) <= THIN


def is_upright(facts: HouseFacts, thing: Thing) -> bool:
    """Does a thing stand as it should, for all that can be told by its height?"""
    if thing.held_by is not None or abs(predicates.bottom(thing)) < TIPPED:
        return True
    return any(predicates.on(thing, other) or predicates.inside(thing, other) for other in facts.things)


def _best(facts: HouseFacts, among: Sequence[int], count: int) -> list[Thing]:
    """Those of the things that have not tipped over, and will not, where they are enough; else all of them."""
    things = [facts.things[index] for index in among]
    sound = [thing for thing in things if is_upright(facts, thing) and is_steady(thing)]
    return sound if len(sound) >= count else things


def _pattern(shape: str, count: int, things: Sequence[Thing]) -> Points:
    """A shape's points about its middle, [count, 2]."""
    radii = sorted((thing.radius for thing in things), reverse=True)
    side = max(NARROWEST, sum(radii[:2]) + BETWEEN) * (ROOMY if count > 3 and shape != "group" else 1.0)
    if shape in ("row", "ordered row"):
        along = (np.arange(count) - (count - 1) / 2) * min(side, WIDEST)
        return np.stack([along, np.zeros(count)], axis=1)
    radius = side / (2 * math.sin(math.pi / count))
    angles = math.tau * np.arange(count) / count
    return radius * np.stack([np.cos(angles), np.sin(angles)], axis=1)


Pose = tuple[Points, dict[int, int]]  # a pattern laid out, and which of its points (by number) has which thing


def _through_two(lying: Sequence[Thing], pattern: Points) -> Iterator[Pose]:
    for a, b in permutations(lying, 2):
        if not predicates.same_room(a.room, b.room):
            continue
        for i, j in combinations(range(len(pattern)), 2):
            (dx, dy), (px, py) = np.subtract(b.xy, a.xy), pattern[j] - pattern[i]
            scale = math.hypot(dx, dy) / math.hypot(px, py)
            side = scale * float(np.linalg.norm(pattern[1] - pattern[0]))
            if STRETCHED[0] <= scale <= STRETCHED[1] and side <= LONGEST:
                turn = math.atan2(dy, dx) - math.atan2(py, px)
                yield _turned(pattern - pattern[i], turn, scale) + np.asarray(a.xy), {i: a.index, j: b.index}


def _through_one(lying: Sequence[Thing], pattern: Points) -> Iterator[Pose]:
    for thing in lying:
        for i in range(len(pattern)):
            for turn in range(TURNS):
                yield (
                    _turned(pattern - pattern[i], math.tau * turn / TURNS, 1.0) + np.asarray(thing.xy),
                    {i: thing.index},
                )


def _anywhere(facts: HouseFacts, pattern: Points) -> Iterator[Pose]:
    for room in facts.rooms:
        for x in np.arange(room.low[0] + FROM_WALL, room.high[0] - FROM_WALL, GRID):
            for y in np.arange(room.low[1] + FROM_WALL, room.high[1] - FROM_WALL, GRID):
                for turn in range(TURNS // 2 if len(pattern) > 1 else 1):
                    yield _turned(pattern, math.tau * turn / TURNS, 1.0) + np.array([x, y]), {}


def _turned(points: Points, turn: float, scale: float) -> Points:
    cos, sin = scale * math.cos(turn), scale * math.sin(turn)
    turned: Points = points @ np.array([[cos, sin], [-sin, cos]])
    return turned


def _free(facts: HouseFacts, role: str, poses: Iterable[Pose]) -> Iterator[Pose]:
    """The poses whose points are all free floor of one room, but for those where a thing of the shape lies."""
    poses = list(poses)
    if not poses:
        return
    body = facts.bodies[role]
    ground = Ground(facts, role, () if body.holding is None else (body.holding,))
    points = np.stack([spots for spots, _ in poses])  # [poses, count, 2]
    count = points.shape[1]
    clear = (ground.price(points.reshape(-1, 2)) == 0.0).reshape(-1, count)
    rooms = np.stack([_well_inside(room, points) for room in facts.rooms])  # [rooms, poses, count]
    for doorway in facts.doorways:
        clear &= np.linalg.norm(points - np.asarray(doorway.middle), axis=2) > DOORWAY_MARGIN_M
    for number, (spots, staying) in enumerate(poses):
        needed = [i for i in range(count) if i not in staying]
        home = {facts.things[index].room for index in staying.values()}
        fits = [k for k, room in enumerate(facts.rooms) if not home or room.name in home]
        if clear[number, needed].all() and any(rooms[k, number, needed].all() for k in fits):
            yield spots, staying


def _well_inside(room: Room, points: Points) -> NDArray[np.bool_]:
    low, high = np.asarray(room.low) + FROM_WALL, np.asarray(room.high) - FROM_WALL
    inside = (points >= low) & (points <= high)
    return np.asarray(inside.all(axis=-1))


def _shared_out(
    facts: HouseFacts, spots: Points, staying: Mapping[int, int], things: Sequence[Thing], shape: str
) -> ArrangementPlan | None:
    """Which thing goes to which point: those that lie there stay, and each other point takes the nearest thing left."""
    places: list[XY] = [(x, y) for x, y in spots.tolist()]
    if shape == "ordered row":
        return _by_size(places, staying, things)
    given = {index: facts.things[index].xy for index in staying.values()}
    left = [thing for thing in things if thing.index not in given]
    for i, spot in enumerate(places):
        if i not in staying:
            nearest = min(left, key=lambda thing: carry(facts, thing, spot))
            left.remove(nearest)
            given[nearest.index] = spot
    return ArrangementPlan(given, frozenset(staying.values()))


def _by_size(places: Sequence[XY], staying: Mapping[int, int], things: Sequence[Thing]) -> ArrangementPlan | None:
    """All things in the order of their sizes; None where that is not where those lie that stay."""
    growing = sorted(things, key=predicates.volume)
    if any(growing[i].index != index for i, index in staying.items()):
        return None
    given = {thing.index: growing[i].xy if i in staying else places[i] for i, thing in enumerate(growing)}
    return ArrangementPlan(given, frozenset(staying.values()))


def _makes(facts: HouseFacts, way: ArrangementPlan, shape: str) -> bool:
    """Would the things form the shape, once they lie there?"""
    laid = [facts.things[index] for index in way.spots]
    laid = [
        thing
        if thing.index in way.staying
        else replace(thing, position=(*way.spots[thing.index], thing.half_extents[2]), held_by=None, room=None)
        for thing in laid
    ]
    return SHAPES[shape].made(laid)


def _cost(facts: HouseFacts, way: ArrangementPlan) -> float:
    """Meters of walking, and what lifting costs."""
    moved = [index for index in way.spots if index not in way.staying]
    return sum(LIFTED + carry(facts, facts.things[index], way.spots[index]) for index in moved)


def carry(facts: HouseFacts, thing: Thing, spot: XY) -> float:
    elsewhere = thing.room is not None and predicates.nearest_room(facts, spot).name != thing.room
    return math.dist(thing.xy, spot) + DOORWAY * elsewhere


def _can_be_reached(facts: HouseFacts, role: str, way: ArrangementPlan) -> bool:
    """Is there somewhere to stand for each thing that is to be put down, when all others have been?"""
    return all(
        standing_spot(facts, role, spot, taken=[other for name, other in way.spots.items() if name != index])
        is not None
        for index, spot in way.spots.items()
        if index not in way.staying
    )


def _beside(furniture: Thing, angle: float) -> XY:
    """The point in this direction that is `AT_FURNITURE` from the edge of its footprint."""
    reach = 0.1
    x, y = furniture.xy
    while True:
        spot = (x + reach * math.cos(angle), y + reach * math.sin(angle))
        if predicates.edge_distance(spot, furniture) >= AT_FURNITURE:
            return spot
        reach += 0.05
