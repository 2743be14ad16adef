"""Finding a way through a house on foot: straight ahead where that is clear, else A* on a coarse grid.

The straight line is tried first, as it is nearly always clear and costs some tens of microseconds. Bad ground (walls,
furniture, loose objects) has a price rather than being forbidden, so a player who stands in a corner finds out of it.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Collection

import numpy as np
from numpy.typing import NDArray

from interplay.env.arrays import Points
from interplay.env.playhouse.truth.facts import XY, Doorway, HouseFacts, Room

CELL = 0.2  # meters: side of a grid cell
SPACING = 0.12  # meters between the samples of a straight line
CLEARANCE = 0.27  # meters from an avatar's middle to anything it should not touch; its radius is 0.22
HEADROOM = 1.6  # meters: what hangs higher than this is walked under
THRESHOLD = 0.65  # meters before and beyond the middle of a doorway, to walk through it straight
SILL = 0.35  # meters that a doorway's passage reaches into either room

PRICE_OF_OBJECT, PRICE_OF_FURNITURE, PRICE_OF_WALL = 6.0, 40.0, 400.0  # as multiples of clear ground

Distance = Callable[[XY], float]  # meters from a point to the goal


class Ground:
    """What it costs to stand anywhere in a house at one moment, for one player.

    `ignore`: indices of things that are no obstacle, such as the one in the player's own hand.
    """

    def __init__(self, facts: HouseFacts, role: str, ignore: Collection[int] = ()) -> None:
        self.facts = facts
        rows = [
            (*thing.xy, thing.yaw, thing.half_extents[0], thing.half_extents[1], float(thing.furniture))
            for thing in facts.things
            if thing.index not in ignore
            and thing.held_by is None
            and _in_the_way(thing.position[2], thing.half_extents[2])
        ]
        rows += [(*body.position, 0.0, 0.2, 0.2, 1.0) for name, body in facts.bodies.items() if name != role]
        table = np.array(rows, dtype=np.float64).reshape(-1, 6)
        self._middle = table[:, :2]  # [m, 2]
        self._cos, self._sin = np.cos(table[:, 2]), np.sin(table[:, 2])
        self._half = table[:, 3:5] + CLEARANCE
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

    def clear(self, start: XY, goal: XY, distance: Distance, within: float) -> bool:
        """Can one walk straight from `start` towards `goal` until `distance` is at most `within`?

        The first steps may be on bad ground: whoever stands there has to leave it anyhow."""
        length = math.dist(start, goal)
        steps = max(int(length / SPACING), 1)
        share = np.arange(1, steps + 1)[:, None] / steps
        points = np.asarray(start) + share * (np.asarray(goal) - np.asarray(start))
        bad = np.flatnonzero(self.price(points) > 0.0)
        bad = bad[bad * length / steps >= CLEARANCE] if bad.size and bad[0] == 0 else bad
        if not bad.size:
            return True
        x, y = points[bad[0]]
        return distance((float(x), float(y))) <= within

    def path(self, start: XY, distance: Distance, within: float) -> list[XY]:
        """The cheapest way, by A*, to where `distance` is at most `within`; its corners, `start` aside."""
        low = self._open[:, :2].min(axis=0)
        columns, rows = np.ceil((self._open[:, 2:].max(axis=0) - low) / CELL).astype(int) + 1
        grid = np.stack(np.meshgrid(np.arange(columns), np.arange(rows), indexing="ij"), axis=-1).reshape(-1, 2)
        prices = self.price(low + grid * CELL).reshape(columns, rows)
        x0, y0 = float(low[0]), float(low[1])

        def place(cell: tuple[int, int]) -> XY:
            return x0 + cell[0] * CELL, y0 + cell[1] * CELL

        first = (
            min(max(round((start[0] - x0) / CELL), 0), columns - 1),
            min(max(round((start[1] - y0) / CELL), 0), rows - 1),
        )
        cells = _search(prices.tolist(), first, lambda cell: max(distance(place(cell)) - within, 0.0))
        return self._corners([start, *(place(cell) for cell in cells[1:])])

    def _corners(self, path: list[XY]) -> list[XY]:
        """Drops the points of a path between which one can walk straight."""
        corners: list[XY] = []
        at = 0
        while at < len(path) - 1:
            reach = len(path) - 1
            while reach > at + 1 and (self.price(_line(path[at], path[reach])) > 0.0).any():
                reach -= 1
            corners.append(path[reach])
            at = reach
        return corners


def free_spots(facts: HouseFacts, role: str) -> list[XY]:
    """Where a player can stand, on a grid over the floors of all rooms, clear of everything."""
    ground = Ground(facts, role)
    grids = [
        np.stack(np.meshgrid(np.arange(low_x, high_x, CELL), np.arange(low_y, high_y, CELL)), axis=-1).reshape(-1, 2)
        for low_x, low_y, high_x, high_y in map(_floor, facts.rooms)
    ]
    points = np.concatenate(grids)
    return [(x, y) for x, y in points[ground.price(points) == 0.0].tolist()]


def _in_the_way(height: float, half: float) -> bool:
    return height - half < HEADROOM


def _floor(room: Room) -> tuple[float, float, float, float]:
    """Low x, low y, high x, high y of where an avatar's middle can be."""
    return room.low[0] + CLEARANCE, room.low[1] + CLEARANCE, room.high[0] - CLEARANCE, room.high[1] - CLEARANCE


def _passage(doorway: Doorway, facts: HouseFacts) -> tuple[float, float, float, float]:
    """The same of a doorway, reaching into both rooms."""
    x, y = doorway.middle
    half, deep = doorway.width / 2 - CLEARANCE, SILL + CLEARANCE
    if _leads_along_x(doorway, facts):
        return x - deep, y - half, x + deep, y + half
    return x - half, y - deep, x + half, y + deep


def _leads_along_x(doorway: Doorway, facts: HouseFacts) -> bool:
    first, second = (next(room for room in facts.rooms if room.name == name) for name in doorway.rooms)
    return first.high[0] <= second.low[0] or second.high[0] <= first.low[0]


def doorway_crossing(doorway: Doorway, facts: HouseFacts, start: XY) -> tuple[XY, XY]:
    """Two points to walk to, one after the other, to get through a doorway from the side of `start`: before, beyond."""
    x, y = doorway.middle
    if _leads_along_x(doorway, facts):
        step = math.copysign(THRESHOLD, x - start[0])
        return (x - step, y), (x + step, y)
    step = math.copysign(THRESHOLD, y - start[1])
    return (x, y - step), (x, y + step)


def _line(start: XY, goal: XY) -> Points:
    steps = max(int(math.dist(start, goal) / SPACING), 1)
    share = np.arange(steps + 1)[:, None] / steps
    line: Points = np.asarray(start) + share * (np.asarray(goal) - np.asarray(start))
    return line


_NEIGHBORS = [(i, j, math.hypot(i, j) * CELL) for i in (-1, 0, 1) for j in (-1, 0, 1) if i or j]


def _search(
    prices: list[list[float]], first: tuple[int, int], left: Callable[[tuple[int, int]], float]
) -> list[tuple[int, int]]:
    """A*: the cheapest cells from `first` to one where nothing is `left`. Cheapest where `left` never overestimates."""
    cost = {first: 0.0}
    came: dict[tuple[int, int], tuple[int, int]] = {}
    remaining = {first: left(first)}
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
            # Beside its end, a diagonal step touches two more cells.
            touched = max(prices[beyond[0]][beyond[1]], prices[cell[0]][beyond[1]], prices[beyond[0]][cell[1]])
            spent = cost[cell] + length * (1.0 + touched)
            if spent < cost.get(beyond, math.inf):
                cost[beyond], came[beyond] = spent, cell
                if beyond not in remaining:
                    remaining[beyond] = left(beyond)
                heapq.heappush(queue, (spent + remaining[beyond], beyond))
    cells = [nearest]
    while cells[-1] in came:
        cells.append(came[cells[-1]])
    return cells[::-1]
