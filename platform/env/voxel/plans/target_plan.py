"""Plan of a target: which chunk comes next, in the pose in which the builder has begun."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from interplay.env.voxel.matching import Match, Matcher
from interplay.env.voxel.plans.chunks import Chunk, cut
from interplay.env.voxel.space import SHAPE, Cell, Grid


@dataclass(frozen=True)
class NextStep:
    """What a plan asks for next."""

    chunk: Chunk  # in the cells of the zone; color 0: one block to remove
    standing: tuple[Chunk, ...]  # what an instruction can refer to, oldest first
    anywhere: bool  # there are no blocks: the chunk may go into any pose


class TargetPlan:
    """The chunks that lead from `start` to `target`, in order, in any pose.

    Without blocks at the start, the first chunk goes anywhere; from then on the best match of the grid with the
    target is the pose of all chunks.
    """

    def __init__(self, target: Grid, start: Grid) -> None:
        self.chunks = cut(target, start)
        self.removed: tuple[Cell, ...] = tuple(
            (int(y), int(x), int(z)) for y, x, z in np.argwhere((start != 0) & (target != start))[::-1]
        )
        self._start = start
        self._anchored = bool(start.any())
        self._matcher = Matcher(target, invariant=not self._anchored)

    def next_step(self, grid: Grid) -> NextStep | None:
        """The next thing to do; None once all is done."""
        pose = self._matcher.best(grid)
        standing = self._standing(grid, pose)
        for cell in self.removed:
            if grid[cell] == self._start[cell]:
                return NextStep(Chunk(0, (cell,)), tuple(standing), anywhere=False)
        for chunk in self.posed(pose):
            if not chunk.stands_in(grid):
                return NextStep(chunk, tuple(standing), anywhere=not self._anchored and not standing)
        return None

    def posed(self, pose: Match) -> Sequence[Chunk]:
        """All chunks in a pose."""
        return [chunk.turned(pose.rotation, pose.dx, pose.dz) for chunk in self.chunks]

    def _standing(self, grid: Grid, pose: Match) -> list[Chunk]:
        remains = np.where(grid == self._start, self._start, 0).astype(np.int8)
        built = [chunk for chunk in self.posed(pose) if chunk.stands_in(grid)] if pose.size else []
        return [*(cut(remains) if self._anchored else ()), *built]

    @property
    def box(self) -> tuple[int, int, int, int]:
        """The lowest and highest x and the lowest and highest z of the target."""
        cells = np.argwhere(self._matcher.target)
        (_, west, north), (_, east, south) = cells.min(0), cells.max(0)
        return int(west), int(east), int(north), int(south)


@lru_cache(maxsize=64)
def _plan(target: bytes, start: bytes) -> TargetPlan:
    def grid(data: bytes) -> Grid:
        return np.frombuffer(data, np.int8).reshape(SHAPE)

    return TargetPlan(grid(target), grid(start))


def plan_of(target: Grid, start: Grid) -> TargetPlan:
    """The plan of a target; kept for the next call with the same grids."""
    return _plan(target.tobytes(), start.tobytes())
