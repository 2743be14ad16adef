"""Path finding on foot: straight ahead where that is clear, else A* on a coarse grid.

The straight line is tried first: it is nearly always clear, and the test takes some tens of microseconds. Bad ground
(walls, furniture, loose objects) has a price rather than being forbidden, so that a player in a corner finds a way out.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Collection
from functools import lru_cache, partial

import numpy as np
from numpy.typing import NDArray

from interplay.env.arrays import Points
from interplay.env.playhouse.truth import predicates
from interplay.env.playhouse.truth.facts import XY, Doorway, HouseFacts, Room

CELL_M = 0.2  # side of a grid cell
PATH_SPACING_M = 0.12  # between the samples of a straight line
CLEARANCE_M = 0.27  # from an avatar's middle to anything that it must not touch; its radius is 0.22
HEADROOM_M = 1.6  # players walk under what hangs higher than this
DOORWAY_APPROACH_M = 0.65  # before and beyond the middle of a doorway, to walk through it straight
PASSAGE_DEPTH_M = 0.35  # by which a doorway's passage reaches into either room
PLAYER_HALF_WIDTH_M = 0.2  # of the other player, as an obstacle
REACHING_MARGIN_M = 0.15  # inside a room, at least, of a spot from which to reach a thing in that room
OTHER_ROOM_DISTANCE_M = 2.0  # added to the distance to a thing from outside its room

PRICE_OF_OBJECT, PRICE_OF_FURNITURE, PRICE_OF_WALL = 6.0, 40.0, 400.0  # as multiples of clear ground

Distance = Callable[[XY], float]  # meters from a point to the goal


class Ground:
    """The price of standing at any point of a house at one moment, for one player.

    `ignore`: indices of things that are not obstacles, such as the one in the player's own hand.
    """

    def __init__(self, facts: HouseFacts, role: str, ignore: Collection[int] = ()) -> None:
        self.facts = facts
        rows = [
            (*thing.xy, thing.yaw, thing.half_extents[0], thing.half_extents[1], float(thing.furniture))
            for thing in facts.things
            if thing.index not in ignore
            and thing.held_by is None
            and thing.position[2] - thing.half_extents[2] < HEADROOM_M
        ]
        half_widths = (PLAYER_HALF_WIDTH_M, PLAYER_HALF_WIDTH_M)
        rows += [(*body.position, 0.0, *half_widths, 1.0) for name, body in facts.bodies.items() if name != role]
        table = np.array(rows, dtype=np.float64).reshape(-1, 6)
        self._middle = table[:, :2]  # [m, 2]
        self._cos, self._sin = np.cos(table[:, 2]), np.sin(table[:, 2])
        self._half = table[:, 3:5] + CLEARANCE_M
        self._price = np.where(table[:, 5] > 0.0, PRICE_OF_FURNITURE, PRICE_OF_OBJECT)
        self._open = np.array([_floor(room) for room in facts.rooms] + [_passage(d, facts) for d in facts.doorways])

    def price(self, points: Points) -> NDArray[np.float64]:
        """The price of each point [n, 2] -> [n]: 0 is clear."""
        x, y = points[:, 0, None], points[:, 1, None]
        low_x, low_y, high_x, high_y = self._open.T
        walkable = ((x >= low_x) & (x <= high_x) & (y >= low_y) & (y <= high_y)).any(axis=1)
        dx, dy = x - self._middle[:, 0], y - self._middle[:, 1]  # [n, m]
        across = np.abs(dx * self._cos + dy * self._sin) < self._half[:, 0]
        along = np.abs(dy * self._cos - dx * self._sin) < self._half[:, 1]
        prices: NDArray[np.float64] = ((across & along) * self._price).max(axis=1, initial=0.0)
        return np.where(walkable, prices, PRICE_OF_WALL)

    def is_clear(self, start: XY, goal: XY, distance: Distance, within: float) -> bool:
        """Whether the straight way from `start` towards `goal` is clear until `distance` is at most `within`.

        The first steps may be on bad ground: a player who stands there has to leave it anyway."""
        points = _line(start, goal)[1:]
        bad = np.flatnonzero(self.price(points) > 0.0)
        bad = bad[bad * math.dist(start, goal) / len(points) >= CLEARANCE_M] if bad.size and bad[0] == 0 else bad
        if not bad.size:
            return True
        x, y = points[bad[0]]
        return distance((float(x), float(y))) <= within

    def path(self, start: XY, distance: Distance, within: float) -> list[XY]:
        """The corners, `start` excluded, of the cheapest path by A* to where `distance` is at most `within`."""
        low = self._open[:, :2].min(axis=0)
        columns, rows = np.ceil((self._open[:, 2:].max(axis=0) - low) / CELL_M).astype(int) + 1
        grid = np.stack(np.meshgrid(np.arange(columns), np.arange(rows), indexing="ij"), axis=-1).reshape(-1, 2)
        prices = self.price(low + grid * CELL_M).reshape(columns, rows)
        x0, y0 = float(low[0]), float(low[1])

        def position(cell: tuple[int, int]) -> XY:
            return x0 + cell[0] * CELL_M, y0 + cell[1] * CELL_M

        first = (
            min(max(round((start[0] - x0) / CELL_M), 0), columns - 1),
            min(max(round((start[1] - y0) / CELL_M), 0), rows - 1),
        )
        cells = _search(prices.tolist(), first, lambda cell: max(distance(position(cell)) - within, 0.0))
        return self._corners([start, *(position(cell) for cell in cells[1:])])

    def _corners(self, path: list[XY]) -> list[XY]:
        """Drops the points of a path that straight lines over clear ground can skip."""
        corners: list[XY] = []
        at = 0
        while at < len(path) - 1:
            reach = len(path) - 1
            while reach > at + 1 and (self.price(_line(path[at], path[reach])) > 0.0).any():
                reach -= 1
            corners.append(path[reach])
            at = reach
        return corners


def distance_in_room(facts: HouseFacts, room: str | None, distance: Distance) -> Distance:
    """A distance that is `OTHER_ROOM_DISTANCE_M` longer from outside a room: nothing is near through a wall."""
    found = next((each for each in facts.rooms if each.name == room), None)
    if found is None or len(facts.rooms) == 1:
        return distance
    return lambda point: (
        distance(point) + OTHER_ROOM_DISTANCE_M * (predicates.outside(found, point) > -REACHING_MARGIN_M)
    )


def free_spots(facts: HouseFacts, role: str) -> list[XY]:
    """Points of a grid over the floors of all rooms where a player can stand clear of everything."""
    ground = Ground(facts, role)
    axes = [
        (np.arange(low_x, high_x, CELL_M), np.arange(low_y, high_y, CELL_M))
        for low_x, low_y, high_x, high_y in map(_floor, facts.rooms)
    ]
    points = np.concatenate([np.stack(np.meshgrid(xs, ys), axis=-1).reshape(-1, 2) for xs, ys in axes])
    return [(x, y) for x, y in points[ground.price(points) == 0.0].tolist()]


@lru_cache(maxsize=4)  # many tasks are tried at one moment of a house
def nearest_free_spots(facts: HouseFacts, role: str) -> tuple[XY, ...]:
    """The `free_spots` in the order of the routes to them, the nearest first."""
    by_route = partial(predicates.route_length, facts, facts.bodies[role].position)
    return tuple(sorted(free_spots(facts, role), key=by_route))


def _floor(room: Room) -> tuple[float, float, float, float]:
    """Low x, low y, high x, high y of the area for an avatar's middle in a room."""
    return room.low[0] + CLEARANCE_M, room.low[1] + CLEARANCE_M, room.high[0] - CLEARANCE_M, room.high[1] - CLEARANCE_M


def _passage(doorway: Doorway, facts: HouseFacts) -> tuple[float, float, float, float]:
    """The same for a doorway; it reaches into both rooms."""
    x, y = doorway.middle
    half, deep = doorway.width / 2 - CLEARANCE_M, PASSAGE_DEPTH_M + CLEARANCE_M
    dx, dy = (deep, half) if _leads_along_x(doorway, facts) else (half, deep)
    return x - dx, y - dy, x + dx, y + dy


def _leads_along_x(doorway: Doorway, facts: HouseFacts) -> bool:
    first, second = (next(room for room in facts.rooms if room.name == name) for name in doorway.rooms)
    return first.high[0] <= second.low[0] or second.high[0] <= first.low[0]


def doorway_crossing(doorway: Doorway, facts: HouseFacts, start: XY) -> tuple[XY, XY]:
    """The points before and beyond a doorway, seen from `start`, between which a player walks through it."""
    x, y = doorway.middle
    if _leads_along_x(doorway, facts):
        step = math.copysign(DOORWAY_APPROACH_M, x - start[0])
        return (x - step, y), (x + step, y)
    step = math.copysign(DOORWAY_APPROACH_M, y - start[1])
    return (x, y - step), (x, y + step)


def _line(start: XY, goal: XY) -> Points:
    steps = max(int(math.dist(start, goal) / PATH_SPACING_M), 1)
    share = np.arange(steps + 1)[:, None] / steps
    line: Points = np.asarray(start) + share * (np.asarray(goal) - np.asarray(start))
    return line


_NEIGHBORS = [(i, j, math.hypot(i, j) * CELL_M) for i in (-1, 0, 1) for j in (-1, 0, 1) if i or j]


def _search(
    prices: list[list[float]], first: tuple[int, int], heuristic: Callable[[tuple[int, int]], float]
) -> list[tuple[int, int]]:
    """A*: the cheapest cells from `first` to one whose `heuristic` is 0, which must not overestimate the cost."""
    cost = {first: 0.0}
    previous: dict[tuple[int, int], tuple[int, int]] = {}
    remaining = {first: heuristic(first)}
    queue = [(remaining[first], first)]
    closed: set[tuple[int, int]] = set()
    nearest = first
    while queue:
        _, cell = heapq.heappop(queue)
        if cell in closed:
            continue
        closed.add(cell)
        if remaining[cell] < remaining[nearest]:
            nearest = cell
        if remaining[cell] == 0.0:
            break
        for i, j, length in _NEIGHBORS:
            beyond = (cell[0] + i, cell[1] + j)
            if not (0 <= beyond[0] < len(prices) and 0 <= beyond[1] < len(prices[0])):
                continue
            # A diagonal step also touches the two cells next to its end.
            touched = max(prices[beyond[0]][beyond[1]], prices[cell[0]][beyond[1]], prices[beyond[0]][cell[1]])
            spent = cost[cell] + length * (1.0 + touched)
            if spent < cost.get(beyond, math.inf):
                cost[beyond], previous[beyond] = spent, cell
                if beyond not in remaining:
                    remaining[beyond] = heuristic(beyond)
                heapq.heappush(queue, (spent + remaining[beyond], beyond))
    cells = [nearest]
    while cells[-1] in previous:
        cells.append(previous[cells[-1]])
    return cells[::-1]
