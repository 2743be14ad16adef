"""Work of a scripted builder: which block to place or break next, from where, and by which gaze."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from interplay.env.arrays import Float64Array
from interplay.env.voxel.body import BuilderBody, Gaze, wrapped
from interplay.env.voxel.controls import ControlScheme
from interplay.env.voxel.dynamics import CEILING, MARGIN, best_aim, best_pillar, reachable
from interplay.env.voxel.space import MIDDLE, SHAPE, Cell, Grid, inventory, is_supported, neighbors
from interplay.env.voxel.tasks.goals import Tally

Mask = NDArray[np.bool_]  # [9, 11, 11]
Place = tuple[float, float, float]  # feet: x, y, z
DEGREES = 15.0  # angles that are tried are multiples of it away from the current ones
PILLAR = 8  # most blocks under oneself


@dataclass(frozen=True)
class Job:
    """One change that is due: any of some cells to fill, or to break."""

    cells: Mask
    colors: Grid | None  # the id for each cell to fill; None: break


@dataclass(frozen=True)
class HandMove:
    """A way to do a job: places to walk through, then a gaze, then the hands."""

    path: tuple[Place, ...]  # the first is the current one
    yaw: float
    pitch: float
    color: int  # id to place; 0: break
    cell: Cell | None  # the cell that the gaze has to meet
    raises: bool = False  # places the block under oneself, jumping

    def offered(self, gaze: Gaze) -> Cell | None:
        """The cell that a gaze offers for this move: a free one to place a block in, or the block to break."""
        return gaze.free if self.color else gaze.block


def jobs(tally: Tally, asked: Grid, grid: Grid) -> Iterator[tuple[Job, ...]]:
    """What is due, in the order to try: replace, fill from the bottom up, clear, and undo other changes."""
    occupied = (tally.missing != 0) & (grid != 0)
    yield (Job(occupied, None),)
    missing = np.where(occupied, 0, tally.missing).astype(np.int8)
    layers = np.flatnonzero(missing.any((1, 2)))
    if layers.size:
        lowest = np.zeros_like(missing)
        lowest[layers[0]] = missing[layers[0]]
        yield Job(lowest != 0, missing), Job(missing != 0, missing)
    yield (Job(tally.uncleared, None),)
    changed = tally.misplaced != 0
    yield (Job(changed & (grid != 0), None),)
    yield (Job(changed & (grid == 0), np.where(changed, asked, 0).astype(np.int8)),)


@dataclass(frozen=True)
class Standing:
    """The existing blocks, and the places to stand."""

    grid: Grid
    body: BuilderBody
    places: Float64Array  # feet [n, 3], nearest first
    steps: NDArray[np.int32]  # to each place, [n]
    before: NDArray[np.int32]  # row of the place before each, [n]; -1 for the first

    def path(self, row: int) -> tuple[Place, ...]:
        """The places from the first one to that of a row."""
        path = []
        while row >= 0:
            x, y, z = self.places[row].tolist()
            path.append((x, y, z))
            row = int(self.before[row])
        return tuple(reversed(path))

    def reach(self, job: Job) -> tuple[Grid, Float64Array, NDArray[np.int32], Mask, bool]:
        """What `best_aim` and `best_pillar` take first: from where to do a job, and whether it is to break."""
        return self.grid, self.places, self.steps, job.cells, job.colors is None


class Planner:
    """Finds the cheapest way to do the first job that can be done."""

    def __init__(self, scheme: ControlScheme, auto_jump: bool) -> None:
        self._scheme = scheme
        self._climbs = auto_jump or "jump" in scheme.names
        self._turns = bool(scheme.names & {"turn", "yaw"})
        self._looks = bool(scheme.names & {"look", "pitch"})
        self._raises = "jump" in scheme.names and self._looks  # never when flying

    def move(self, tally: Tally, asked: Grid, grid: Grid, body: BuilderBody) -> HandMove | None:
        """The next move; None if nothing is due, or nothing can be done."""
        ground = self._ground(grid, body)
        for group in jobs(tally, asked, grid):
            due = [job for job in group if job.cells.any()]
            for way in (self._aimed, self._on_scaffold, self._raised):
                for job in due:
                    if (move := way(job, ground)) is not None:
                        return move
        return None

    def _ground(self, grid: Grid, body: BuilderBody) -> Standing:
        x, y, z = body.position
        if self._scheme.control == "fly":
            return Standing(grid, body, *_flights(x, y, z))
        if self._scheme.control == "human":  # walks between the middles of cells
            x, z = round(x), round(z)
        return Standing(grid, body, *reachable(grid, float(x), float(y), float(z), self._climbs))

    def _aimed(self, job: Job, ground: Standing) -> HandMove | None:
        body = ground.body
        angles = body.yaw, self._yaws(body), body.pitch, self._pitches(body)
        row, yaw, pitch, _ = best_aim(*ground.reach(job), *angles)
        if row < 0:
            return None
        x, y, z = ground.places[row].tolist()
        gaze = BuilderBody.at(x, y, z, yaw, pitch).gaze(ground.grid)
        cell = gaze.block if job.colors is None else gaze.free
        assert cell is not None, "an aim meets a cell"
        color = 0 if job.colors is None else int(job.colors[cell])
        return HandMove(ground.path(row), yaw, pitch, color, cell)

    def _on_scaffold(self, job: Job, ground: Standing) -> HandMove | None:
        if job.colors is None or (scaffold := self._scaffold(job, ground.grid)) is None:
            return None
        return self._aimed(scaffold, ground) or self._raised(scaffold, ground)

    def _raised(self, job: Job, ground: Standing) -> HandMove | None:
        body, spare = ground.body, self._spare(ground.grid)
        if not self._raises or not spare:
            return None
        most = min(PILLAR, int(inventory(ground.grid)[spare - 1]))
        row, _, _ = best_pillar(*ground.reach(job), self._yaws(body), self._pitches(body), most)
        return None if row < 0 else HandMove(ground.path(row), body.yaw, 90.0, spare, None, raises=True)

    def _scaffold(self, job: Job, grid: Grid) -> Job | None:
        """The first block of the shortest chain that leads from the existing blocks to a cell to fill; None if none is
        needed."""
        start = [cell for y, x, z in np.argwhere(job.cells) for cell in [(int(y), int(x), int(z))]]
        if any(is_supported(grid, cell) for cell in start):
            return None
        waiting, seen = deque(start), set(start)
        while waiting:
            cell = waiting.popleft()
            for near in neighbors(cell):
                if near in seen or grid[near]:
                    continue
                if is_supported(grid, near):
                    cells, colors = np.zeros(SHAPE, bool), np.zeros(SHAPE, np.int8)
                    cells[near], colors[near] = True, self._spare(grid)
                    return Job(cells, colors)
                seen.add(near)
                waiting.append(near)
        return None

    def _spare(self, grid: Grid) -> int:
        """The color of scaffolds: the one with most blocks left; 0 without any."""
        left = inventory(grid)
        return 1 + int(left.argmax()) if left.any() else 0

    def _yaws(self, body: BuilderBody) -> Float64Array:
        yaws = [wrapped(body.yaw + DEGREES * turn) for turn in range(24 if self._turns else 1)]
        return np.array(yaws, np.float32).astype(np.float64)  # exactly the angles that a body can have

    def _pitches(self, body: BuilderBody) -> Float64Array:
        if not self._looks:
            return np.array([body.pitch], np.float64)
        steps = body.pitch + DEGREES * np.arange(-12, 13)
        return np.asarray(np.unique(np.clip(steps, -90.0, 90.0)), np.float64)


def _flights(x: float, y: float, z: float) -> tuple[Float64Array, NDArray[np.int32], NDArray[np.int32]]:
    """The places at whole distances from (x, y, z), nearest first."""
    limit = MIDDLE + 0.5 + MARGIN
    span = np.arange(-15, 16)
    offsets = np.stack(np.meshgrid(span, span, span, indexing="ij"), -1).reshape(-1, 3)
    places = offsets + np.array([x, y, z])
    inside = (np.abs(places[:, (0, 2)]) <= limit).all(1) & (places[:, 1] >= 0) & (places[:, 1] <= CEILING)
    steps = np.abs(offsets).max(1)[inside].astype(np.int32)
    order = np.argsort(steps, kind="stable")
    before = np.zeros(len(order), np.int32)
    before[0] = -1
    return places[inside][order], steps[order], before
