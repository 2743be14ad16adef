"""Comparison of what was built with a target, in any horizontal place and quarter turn.

A pose of a target is one of four quarter turns about the vertical, (x, z) -> (z, 10 - x), and a horizontal shift. The
best pose is found by votes: each pair of a built block and a turned target block of the same layer and color votes for
the shift that moves one onto the other.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from interplay.env.arrays import Int32Array
from interplay.env.compiled import compiled
from interplay.env.voxel.space import SHAPE, SIZE, Grid, check_grid, empty_grid

_IDS = 13  # -6 to 6: negative ids are blocks to remove
_CENTER = SIZE - 1  # index of shift 0 among -10 to 10
_SHIFTS = 2 * SIZE - 1
TURNS = 4


@compiled
def _vote(grid: Any, first: Any, target_x: Any, target_z: Any, bounds: Any) -> Any:
    """The best (size, rotation, dx, dz). `first` [9 * 13 + 1]: rows of each layer and id in `target_x`, `target_z`
    [turns, blocks]; `bounds` [turns, 4]: lowest and highest dx and dz."""
    turns = bounds.shape[0]
    votes = np.zeros((turns, _SHIFTS, _SHIFTS), np.int16)
    for y in range(grid.shape[0]):
        if first[y * _IDS] == first[(y + 1) * _IDS]:
            continue
        for x in range(grid.shape[1]):
            for z in range(grid.shape[2]):
                block = grid[y, x, z]
                if block == 0 or block < -6 or block > 6:
                    continue
                key = y * _IDS + block + 6
                for row in range(first[key], first[key + 1]):
                    for turn in range(turns):
                        dx, dz = x - target_x[turn, row], z - target_z[turn, row]
                        votes[turn, dx + _CENTER, dz + _CENTER] += 1
    best, rotation, best_dx, best_dz = -1, 0, 0, 0
    for turn in range(turns):
        for dx in range(bounds[turn, 0], bounds[turn, 1] + 1):
            for dz in range(bounds[turn, 2], bounds[turn, 3] + 1):
                size = votes[turn, dx + _CENTER, dz + _CENTER]
                if size > best:
                    best, rotation, best_dx, best_dz = size, turn, dx, dz
    return best, rotation, best_dx, best_dz


class Match(NamedTuple):
    """Number of cells in which a pose of the target holds the grid's id, and the pose."""

    size: int
    rotation: int  # quarter turns (x, z) -> (z, 10 - x)
    dx: int  # shift after the rotation
    dz: int


class Matcher:
    """Finds the best pose of one target in grids.

    Args:
        target: int8 [9, 11, 11]; ids of blocks wanted, or minus the ids of blocks to remove.
        whole: a larger structure that must also stay inside the zone; None for the target alone.
        invariant: compare in all poses; False for the target in its own place only.

    Raises:
        ValueError: an empty target, another shape, or ids outside -6 to 6.
    """

    def __init__(self, target: Grid, whole: Grid | None = None, invariant: bool = True) -> None:
        for name, grid in (("target", target), ("whole", target if whole is None else whole)):
            check_grid(np.abs(grid), f"the {name}")
        self.target = target
        self.size = int(np.count_nonzero(target))
        if not self.size:
            raise ValueError("the target is empty: it needs at least one block")
        cells = np.argwhere(target)
        keys = cells[:, 0] * _IDS + target[target != 0] + 6
        order = np.argsort(keys, kind="stable")
        self._first = np.searchsorted(keys[order], np.arange(SHAPE[0] * _IDS + 1)).astype(np.int32)
        turns = TURNS if invariant else 1
        self._x, self._z = _turned(cells[order, 1], cells[order, 2], turns)
        kept = cells if whole is None else np.concatenate([cells, np.argwhere(whole)])
        self._bounds = _bounds(kept, turns) if invariant else np.zeros((1, 4), np.int32)

    def best(self, grid: Grid) -> Match:
        """The pose with the most cells in common; of equal ones that of the lowest rotation, dx, dz."""
        if grid.shape != SHAPE or grid.dtype.kind != "i":
            raise ValueError(f"the grid is {grid.dtype} {grid.shape}; it is int8 {SHAPE}")
        return Match(*(int(number) for number in _vote(grid, self._first, self._x, self._z, self._bounds)))

    def poses(self) -> int:
        """Number of poses that are compared."""
        low_x, high_x, low_z, high_z = self._bounds.T
        return int(((high_x - low_x + 1) * (high_z - low_z + 1)).sum())


def posed(grid: Grid, rotation: int, dx: int, dz: int) -> Grid:
    """The grid in a pose: turned, then shifted.

    Raises:
        ValueError: a block would leave the zone.
    """
    cells = np.argwhere(grid)
    turned_x, turned_z = _turned(cells[:, 1], cells[:, 2], rotation + 1)
    x, z = turned_x[rotation] + dx, turned_z[rotation] + dz
    if len(cells) and (min(x.min(), z.min()) < 0 or max(x.max(), z.max()) >= SIZE):
        raise ValueError(f"rotation {rotation}, dx={dx}, dz={dz} moves a block outside the zone")
    moved = np.zeros_like(grid)
    moved[cells[:, 0], x, z] = grid[grid != 0]
    return moved


class Scored(NamedTuple):
    """Result of one step of a `BuildScorer`."""

    right: int  # rise of the number of cells in common
    wrong: int  # fall of the number of blocks
    done: bool
    reward: float


class BuildScorer:
    """Reward of building: what each step changed in the best match with the target.

    Args:
        target: int8 [9, 11, 11].
        start: the grid at the beginning; None for an empty one.
        whole: see `Matcher`.
        invariant: see `Matcher`.
        right_scale: reward per cell more in common.
        wrong_scale: reward per block removed, in steps that change nothing in common.
        strict: done only without blocks that the target lacks.

    Raises:
        ValueError: an empty target, or one that is built at the start.
    """

    def __init__(
        self,
        target: Grid,
        start: Grid | None = None,
        *,
        whole: Grid | None = None,
        invariant: bool = True,
        right_scale: float = 2.0,
        wrong_scale: float = 1.0,
        strict: bool = False,
    ) -> None:
        self.matcher = Matcher(check_grid(target, "the target"), whole, invariant)
        self.right_scale = right_scale
        self.wrong_scale = wrong_scale
        self.strict = strict
        begun = empty_grid() if start is None else check_grid(start, "the start grid")
        self.match = self.matcher.best(begun)  # after the last step
        self._blocks = int(np.count_nonzero(begun))
        if self._done():
            raise ValueError("the target is already built at the start: there is nothing to do")

    def step(self, grid: Grid) -> Scored:
        """Compares the grid with that of the step before."""
        match, blocks = self.matcher.best(grid), int(np.count_nonzero(grid))
        right, wrong = match.size - self.match.size, self._blocks - blocks
        self.match, self._blocks = match, blocks
        reward = right * self.right_scale if right else wrong * self.wrong_scale
        return Scored(right, wrong, self._done(), float(reward))

    def _done(self) -> bool:
        complete = self.match.size == self.matcher.size
        return complete and not (self.strict and self._blocks > self.matcher.size)


class Evaluation(NamedTuple):
    """Agreement of the changes made with the changes wanted."""

    intersection: int
    precision: float  # intersection / changes made; 0 if none was made
    recall: float  # intersection / changes wanted
    f1: float
    complete: bool  # everything wanted was done
    exact: bool  # and nothing else


def changes(grid: Grid, start: Grid) -> Grid:
    """Changes from `start` to `grid`: the new id where a block differs, minus the old id where one is gone, else 0."""
    return np.where(grid == start, 0, np.where(grid != 0, grid, -start)).astype(np.int8)


def evaluate(target: Grid, built: Grid, start: Grid | None = None, invariant: bool | None = None) -> Evaluation:
    """Compares a finished grid with a target by the changes since the start.

    Args:
        target: int8 [9, 11, 11].
        built: int8 [9, 11, 11].
        start: the grid before both; None for an empty one.
        invariant: compare in all poses. None: only if the start is empty, because what is there already fixes the pose.

    Raises:
        ValueError: a target that is empty or equal to the start.
    """
    target, built = check_grid(target, "the target"), check_grid(built, "the built grid")
    begun = empty_grid() if start is None else check_grid(start, "the start grid")
    if np.array_equal(target, begun):
        raise ValueError("the target is the start grid: there is nothing to build")
    wanted, made = changes(target, begun), changes(built, begun)
    anywhere = not begun.any() if invariant is None else invariant
    matcher, count = Matcher(wanted, invariant=anywhere), int(np.count_nonzero(made))
    common = matcher.best(made).size
    complete = common == matcher.size
    return Evaluation(
        intersection=common,
        precision=common / count if count else 0.0,
        recall=common / matcher.size,
        f1=2 * common / (count + matcher.size),
        complete=complete,
        exact=complete and count == common,
    )


def _turned(x: NDArray[np.int64], z: NDArray[np.int64], turns: int) -> tuple[Int32Array, Int32Array]:
    """Columns x and z of cells after 0 to turns - 1 quarter turns, int32 [turns, cells] each."""
    rows_x, rows_z = [x], [z]
    for _ in range(turns - 1):
        x, z = z, _CENTER - x
        rows_x.append(x)
        rows_z.append(z)
    return np.array(rows_x, np.int32), np.array(rows_z, np.int32)


def _bounds(cells: NDArray[np.int64], turns: int) -> Int32Array:
    """Lowest and highest dx and dz of each turn that keep all cells in the zone, int32 [turns, 4]."""
    x, z = _turned(cells[:, 1], cells[:, 2], turns)
    last = SIZE - 1
    return np.stack([-x.min(axis=1), last - x.max(axis=1), -z.min(axis=1), last - z.max(axis=1)], axis=1)
