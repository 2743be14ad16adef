"""Layouts of shapes: where things go to form one, on free floor, with as little to carry as possible.

A pattern is a shape's points about its middle. It is laid on the floor in many poses: through two of the things where
they lie, through one, or anywhere. Of the poses whose other points are free floor, with a spot to stand at, the
cheapest one is taken.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, permutations

import numpy as np

from interplay.env.arrays import Points
from interplay.env.playhouse.planning.navigation import Ground
from interplay.env.playhouse.planning.placement import Placement, spot_off_edge
from interplay.env.playhouse.planning.reach import standing_spot
from interplay.env.playhouse.truth import predicates
from interplay.env.playhouse.truth.facts import XY, HouseFacts, Thing
from interplay.env.playhouse.truth.formations import SHAPES

WALL_MARGIN_M = 0.5  # from a wall to a spot, at least: the hand that brings the thing needs room
DOORWAY_MARGIN_M = 0.9  # from the middle of a doorway
GAP_M = 0.2  # from edge to edge of neighbors, at least
MIN_SPACING_M = 0.6  # between two points of a pattern
MAX_ROW_SPACING_M = 0.85  # any wider, the gaps of a row would be too large
SPACING_FACTOR = 1.2  # for more than three things: a player walks among them
LIFTING_COST_M = 4.0  # meters of walking that one more thing to carry costs
OTHER_ROOM_COST_M = 3.0  # meters of walking that another room costs
POSE_DIRECTIONS = 12  # in which a pattern is tried
FLOOR_GRID_M = 0.5  # between the middles that are tried
MAX_PLANS_CHECKED = 40  # of the best plans, for spots to stand at
MIN_PATTERN_SCALE, MAX_PATTERN_SCALE = 0.85, 1.5  # of a pattern, relative to its usual size
MAX_SIDE_M = 1.7
ON_FLOOR_M = 0.05  # of the underside of a thing on the floor, at most
MAX_SLIMNESS = 3.0  # height over width of a thing that stays upright, at most
TIPPED_M = 0.03  # by which a tipped thing on the floor is lower or higher than one that stands
BLOCKED_M = 0.05  # from a spot to the other things, at least
FURNITURE_DISTANCE_M = 0.5  # from furniture to the middle of a thing that is gathered there
LAYOUT_TOLERANCE_M, RELEASE_HEIGHT_M = 0.06, 0.05  # of putting a thing down at its spot

Pose = tuple[Points, dict[int, int]]  # a pattern on the floor, and the things that lie at some of its points already


@dataclass(frozen=True)
class ArrangementPlan:
    """One layout of a shape: a thing for each of its points."""

    spots: Mapping[int, XY]  # by thing
    staying: frozenset[int]  # of these, the things that lie there already

    def next(self, facts: HouseFacts, tolerance: float) -> tuple[int, Placement] | None:
        """The thing to carry next, and its placement; None once each lies within `tolerance` meters of its spot. A
        thing in a hand comes first, then one that lies in another's way, then the nearest."""
        pending = [thing for index in self.spots if self._is_misplaced(thing := facts.things[index], tolerance)]
        if not pending:
            return None

        def order(thing: Thing) -> tuple[bool, bool, float]:
            spot = self.spots[thing.index]
            blocked = any(other is not thing and predicates.edge_distance(spot, other) < BLOCKED_M for other in pending)
            return thing.held_by is None, blocked, math.dist(thing.xy, spot)

        first = min(pending, key=order)
        return first.index, floor_placement(self.spots[first.index])

    def is_obstructed(self, facts: HouseFacts) -> bool:
        """Whether another thing lies at a spot that is still to be filled."""
        spots = [spot for index, spot in self.spots.items() if self._is_misplaced(facts.things[index], 2 * BLOCKED_M)]
        return any(
            predicates.edge_distance(spot, other) < BLOCKED_M
            for spot in spots
            for other in facts.things
            if other.index not in self.spots and other.held_by is None
        )

    def _is_misplaced(self, thing: Thing, tolerance: float) -> bool:
        low = thing.index in self.staying or predicates.bottom(thing) < 2 * ON_FLOOR_M
        return thing.held_by is not None or not low or math.dist(thing.xy, self.spots[thing.index]) > tolerance


def floor_placement(spot: XY) -> Placement:
    """A placement on the floor, where being off by some centimeters does no harm."""
    return Placement(spot, 0.0, tolerance=LAYOUT_TOLERANCE_M, height_tolerance=RELEASE_HEIGHT_M)


def plan_layout(facts: HouseFacts, role: str, among: Sequence[int], count: int, shape: str) -> ArrangementPlan | None:
    """The best layout of `count` of the things for a player; None if the floor has no place for it.

    `shape`: a key of `SHAPES` other than a tower; an ordered row takes all of the things.
    """
    things = _best_things(facts, among, count)
    pattern = _pattern(shape, count, things)
    lying = [
        thing for thing in things if thing.held_by is None and predicates.bottom(thing) < ON_FLOOR_M and thing.at_rest
    ]
    for poses in ([*_through_two(lying, pattern), *_through_one(lying, pattern)], _anywhere(facts, pattern)):
        plans = [
            plan
            for spots, staying in _free_poses(facts, role, poses)
            if (plan := _assign(facts, spots, staying, things, shape)) is not None
        ]
        plans.sort(key=lambda plan: _cost(facts, plan))
        for plan in plans[:MAX_PLANS_CHECKED]:
            if _makes_shape(facts, plan, shape) and _is_reachable(facts, role, plan):
                return plan
    return None


def free_spot(facts: HouseFacts, role: str, thing: Thing) -> XY | None:
    """The free point of the floor with the least carrying cost for a thing; None without one."""
    poses = _anywhere(facts, np.zeros((1, 2)))
    spots = [(float(x), float(y)) for ((x, y),), _ in _free_poses(facts, role, poses)]
    spots.sort(key=lambda spot: carrying_cost(facts, thing, spot))
    return next((spot for spot in spots[:MAX_PLANS_CHECKED] if standing_spot(facts, role, spot) is not None), None)


def plan_gathering(
    facts: HouseFacts, role: str, among: Sequence[int], count: int, furniture: Thing
) -> ArrangementPlan | None:
    """The best way to gather `count` of the things at a piece of furniture: those near it stay, others go to free floor
    around it. None if the floor has no place for them."""
    things = _best_things(facts, among, count)
    staying = [thing for thing in things if thing.held_by is None and predicates.near(thing, furniture)][:count]
    angles = [math.tau * turn / (2 * POSE_DIRECTIONS) for turn in range(2 * POSE_DIRECTIONS)]
    spots_around = [spot_off_edge(furniture, angle, FURNITURE_DISTANCE_M, 0.1, 0.05) for angle in angles]
    around: list[Pose] = [(np.array([spot]), {}) for spot in spots_around]
    free = [(float(x), float(y)) for ((x, y),), _ in _free_poses(facts, role, around)]
    free = [spot for spot in free if predicates.nearest_room(facts, spot).name == furniture.room]
    spots: dict[int, XY] = {thing.index: thing.xy for thing in staying}
    others = [thing for thing in things if thing.index not in spots]
    others.sort(key=lambda thing: carrying_cost(facts, thing, furniture.xy))
    for thing in others[: count - len(staying)]:
        taken = list(spots.values())
        choices = [spot for spot in free if all(math.dist(spot, other) >= MIN_SPACING_M for other in taken)]
        choices = [spot for spot in choices if standing_spot(facts, role, spot, taken=taken) is not None]
        if not choices:
            return None
        at = thing.xy
        spots[thing.index] = min(choices, key=lambda spot: math.dist(at, spot))
    return ArrangementPlan(spots, frozenset(thing.index for thing in staying))


def slimness(thing: Thing) -> float:
    """Height over width."""
    return thing.half_extents[2] / min(thing.half_extents[:2])


def is_steady(thing: Thing) -> bool:
    """Whether a thing stays upright when it is put down."""
    return slimness(thing) <= MAX_SLIMNESS


def is_upright(facts: HouseFacts, thing: Thing) -> bool:
    """Whether a thing stands upright, judging by its height."""
    if thing.held_by is not None or abs(predicates.bottom(thing)) < TIPPED_M:
        return True
    return any(predicates.on(thing, other) or predicates.inside(thing, other) for other in facts.things)


def carrying_cost(facts: HouseFacts, thing: Thing, spot: XY) -> float:
    """Meters of walking with a thing to a spot, and the cost of another room."""
    other_room = thing.room is not None and predicates.nearest_room(facts, spot).name != thing.room
    return math.dist(thing.xy, spot) + OTHER_ROOM_COST_M * other_room


def _best_things(facts: HouseFacts, among: Sequence[int], count: int) -> list[Thing]:
    """The things that have not tipped over, and will not; all of them if those are too few."""
    things = [facts.things[index] for index in among]
    sound = [thing for thing in things if is_upright(facts, thing) and is_steady(thing)]
    return sound if len(sound) >= count else things


def _pattern(shape: str, count: int, things: Sequence[Thing]) -> Points:
    """A shape's points about its middle, [count, 2]."""
    radii = sorted((thing.radius for thing in things), reverse=True)
    factor = SPACING_FACTOR if count > 3 and shape != "group" else 1.0
    side = max(MIN_SPACING_M, sum(radii[:2]) + GAP_M) * factor
    if shape in ("row", "ordered row"):
        along = (np.arange(count) - (count - 1) / 2) * min(side, MAX_ROW_SPACING_M)
        return np.stack([along, np.zeros(count)], axis=1)
    radius = side / (2 * math.sin(math.pi / count))
    angles = math.tau * np.arange(count) / count
    return radius * np.stack([np.cos(angles), np.sin(angles)], axis=1)


def _through_two(lying: Sequence[Thing], pattern: Points) -> Iterator[Pose]:
    """The poses with a point at each of two things that lie in one room."""
    for a, b in permutations(lying, 2):
        if not predicates.same_room(a.room, b.room):
            continue
        for i, j in combinations(range(len(pattern)), 2):
            (dx, dy), (px, py) = np.subtract(b.xy, a.xy), pattern[j] - pattern[i]
            scale = math.hypot(dx, dy) / math.hypot(px, py)
            side = scale * float(np.linalg.norm(pattern[1] - pattern[0]))
            if MIN_PATTERN_SCALE <= scale <= MAX_PATTERN_SCALE and side <= MAX_SIDE_M:
                turn = math.atan2(dy, dx) - math.atan2(py, px)
                yield _rotated(pattern - pattern[i], turn, scale) + np.asarray(a.xy), {i: a.index, j: b.index}


def _through_one(lying: Sequence[Thing], pattern: Points) -> Iterator[Pose]:
    """The poses with a point at one thing."""
    for thing in lying:
        for i in range(len(pattern)):
            for turn in range(POSE_DIRECTIONS):
                points = _rotated(pattern - pattern[i], math.tau * turn / POSE_DIRECTIONS, 1.0)
                yield points + np.asarray(thing.xy), {i: thing.index}


def _anywhere(facts: HouseFacts, pattern: Points) -> Iterator[Pose]:
    """The poses about the points of a grid over all rooms."""
    for room in facts.rooms:
        for x in np.arange(room.low[0] + WALL_MARGIN_M, room.high[0] - WALL_MARGIN_M, FLOOR_GRID_M):
            for y in np.arange(room.low[1] + WALL_MARGIN_M, room.high[1] - WALL_MARGIN_M, FLOOR_GRID_M):
                for turn in range(POSE_DIRECTIONS // 2 if len(pattern) > 1 else 1):
                    yield _rotated(pattern, math.tau * turn / POSE_DIRECTIONS, 1.0) + np.array([x, y]), {}


def _rotated(points: Points, turn: float, scale: float) -> Points:
    cos, sin = scale * math.cos(turn), scale * math.sin(turn)
    rotated: Points = points @ np.array([[cos, sin], [-sin, cos]])
    return rotated


def _free_poses(facts: HouseFacts, role: str, poses: Iterable[Pose]) -> Iterator[Pose]:
    """The poses whose points are all free floor of one room, except those where a thing of the shape lies."""
    poses = list(poses)
    if not poses:
        return
    body = facts.bodies[role]
    ground = Ground(facts, role, () if body.holding is None else (body.holding,))
    points = np.stack([spots for spots, _ in poses])  # [poses, count, 2]
    count = points.shape[1]
    clear = (ground.price(points.reshape(-1, 2)) == 0.0).reshape(-1, count)
    low = np.array([room.low for room in facts.rooms])[:, None, None] + WALL_MARGIN_M
    high = np.array([room.high for room in facts.rooms])[:, None, None] - WALL_MARGIN_M
    rooms = np.asarray(((points >= low) & (points <= high)).all(axis=-1))  # [rooms, poses, count]
    for doorway in facts.doorways:
        clear &= np.linalg.norm(points - np.asarray(doorway.middle), axis=2) > DOORWAY_MARGIN_M
    for number, (spots, staying) in enumerate(poses):
        needed = [i for i in range(count) if i not in staying]
        home = {facts.things[index].room for index in staying.values()}
        fits = [k for k, room in enumerate(facts.rooms) if not home or room.name in home]
        if clear[number, needed].all() and any(rooms[k, number, needed].all() for k in fits):
            yield spots, staying


def _assign(
    facts: HouseFacts, points: Points, staying: Mapping[int, int], things: Sequence[Thing], shape: str
) -> ArrangementPlan | None:
    """A thing for each point: those that lie there stay, and each other point takes the nearest thing not yet taken.
    None for an ordered row whose staying things are out of order."""
    spots: list[XY] = [(x, y) for x, y in points.tolist()]
    if shape == "ordered row":
        return _assign_by_size(spots, staying, things)
    assigned = {index: facts.things[index].xy for index in staying.values()}
    others = [thing for thing in things if thing.index not in assigned]
    for i, spot in enumerate(spots):
        if i not in staying:
            nearest = min(others, key=lambda thing: carrying_cost(facts, thing, spot))
            others.remove(nearest)
            assigned[nearest.index] = spot
    return ArrangementPlan(assigned, frozenset(staying.values()))


def _assign_by_size(spots: Sequence[XY], staying: Mapping[int, int], things: Sequence[Thing]) -> ArrangementPlan | None:
    growing = sorted(things, key=predicates.volume)
    if any(growing[i].index != index for i, index in staying.items()):
        return None
    assigned = {thing.index: growing[i].xy if i in staying else spots[i] for i, thing in enumerate(growing)}
    return ArrangementPlan(assigned, frozenset(staying.values()))


def _makes_shape(facts: HouseFacts, plan: ArrangementPlan, shape: str) -> bool:
    """Whether the things form the shape once they lie at their spots."""
    things = [facts.things[index] for index in plan.spots]
    things = [
        thing
        if thing.index in plan.staying
        else replace(thing, position=(*plan.spots[thing.index], thing.half_extents[2]), held_by=None, room=None)
        for thing in things
    ]
    return SHAPES[shape].is_complete(things)


def _cost(facts: HouseFacts, plan: ArrangementPlan) -> float:
    """Meters of walking, and the cost of lifting."""
    moved = [index for index in plan.spots if index not in plan.staying]
    return sum(LIFTING_COST_M + carrying_cost(facts, facts.things[index], plan.spots[index]) for index in moved)


def _is_reachable(facts: HouseFacts, role: str, plan: ArrangementPlan) -> bool:
    """Whether each thing to be put down has a spot to stand at, once all others have been put down."""
    return all(
        standing_spot(facts, role, spot, taken=[other for name, other in plan.spots.items() if name != index])
        is not None
        for index, spot in plan.spots.items()
        if index not in plan.staying
    )
