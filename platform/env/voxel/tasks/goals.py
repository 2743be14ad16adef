"""Goals: which cells an instruction asks to fill or to clear, and how far a grid has come."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from interplay.env.voxel.plans.chunks import turned
from interplay.env.voxel.plans.grammar import COMPASS, DIRECTIONS, add
from interplay.env.voxel.space import SHAPE, SIZE, Cell, Grid, in_zone

Params = Mapping[str, Any]  # what distinguishes the tasks of a kind, JSON-able; cells as (y, x, z)
Indices = NDArray[np.int64]  # flat cells of the grid


class Tally(NamedTuple):
    """How far a grid has come since the instruction was given."""

    right: int  # wanted changes made: blocks in place in the best way, and cells cleared
    wrong: int  # all other changes
    wanted: int
    missing: Grid  # id wanted in each cell that still has to be filled, in any of the best ways; 0 elsewhere
    uncleared: NDArray[np.bool_]  # cells that still have to be cleared, [9, 11, 11]
    misplaced: Grid  # in each cell changed wrongly, the id that was there plus 1; 0 elsewhere

    @property
    def done(self) -> bool:
        """Whether all that is wanted is done, and nothing else has changed."""
        return self.right == self.wanted and not self.wrong


@dataclass(frozen=True, eq=False)
class Goal:
    """Cells to fill in one of several ways, and cells to clear."""

    ways: Indices  # [ways, cells]
    colors: NDArray[np.int8]  # [cells]: the ids wanted
    clear: Indices = field(default_factory=lambda: np.zeros(0, np.int64))  # [cells]
    spoken: tuple[Cell, ...] = ()  # the blocks that the words refer to

    @property
    def size(self) -> int:
        """Number of changes wanted."""
        return len(self.colors) + len(self.clear)

    def tally(self, asked: Grid, grid: Grid) -> Tally:
        """Compares a grid with the one at the time of the instruction."""
        before, now = asked.ravel(), grid.ravel()
        changed = now != before
        in_place = (now[self.ways] == self.colors) & changed[self.ways]  # [ways, cells]
        scores = in_place.sum(1)
        best = scores == scores.max() if len(scores) else np.zeros(0, bool)
        cleared = now[self.clear] == 0
        right = int(scores.max(initial=0)) + int(cleared.sum())
        missing, wrong = np.zeros(now.size, np.int8), changed.copy()
        if best.any():
            first = int(np.argmax(best))
            cells, there = self.ways[best], in_place[best]
            missing[cells[~there]] = np.broadcast_to(self.colors, cells.shape)[~there]
            wrong[self.ways[first][in_place[first]]] = False
            emptied = self.ways[first][(now[self.ways[first]] == 0) & (before[self.ways[first]] != 0)]
            wrong[emptied] = False  # a block that is being replaced
        wrong[self.clear[cleared]] = False
        uncleared = np.zeros(now.size, bool)
        uncleared[self.clear[~cleared]] = True
        misplaced = np.where(wrong, before + 1, 0).astype(np.int8)
        shape = grid.shape
        return Tally(
            right,
            int(wrong.sum()),
            self.size,
            missing.reshape(shape),
            uncleared.reshape(shape),
            misplaced.reshape(shape),
        )


def flat(cells: Iterable[Sequence[int]]) -> Indices:
    """Flat indices of cells."""
    return np.array([np.ravel_multi_index((y, x, z), SHAPE) for y, x, z in cells], np.int64)


def goal_of(kind: str, asked: Grid, params: Params) -> Goal:
    """The goal of a task of this kind; empty of ways if the grid leaves none."""
    return GOALS[kind](asked, params)


def _place(asked: Grid, params: Params) -> Goal:
    return Goal(np.flatnonzero(asked == 0)[:, None], _ids(params["color"]))


def _stack(asked: Grid, params: Params) -> Goal:
    return _at_cells(asked, params, [add(_cell(params["anchor"]), DIRECTIONS["up"])])


def _beside(asked: Grid, params: Params) -> Goal:
    sides = [params["side"]] if params.get("side") else COMPASS
    return _at_cells(asked, params, [add(_cell(params["anchor"]), DIRECTIONS[side]) for side in sides])


def _at_cells(asked: Grid, params: Params, cells: Sequence[Cell]) -> Goal:
    free = [cell for cell in cells if in_zone(cell) and not asked[cell]]
    return Goal(flat(free).reshape(-1, 1), _ids(params["color"]), spoken=(_cell(params["anchor"]),))


def _remove(asked: Grid, params: Params) -> Goal:
    anchor = _cell(params["anchor"])
    return Goal(np.zeros((1, 0), np.int64), _ids(), flat([anchor]), (anchor,))


def _swap(asked: Grid, params: Params) -> Goal:
    anchor, color = _cell(params["anchor"]), _ids(params["color"])
    ways = flat([anchor]).reshape(1, 1)
    return Goal(ways if asked[anchor] != color[0] else ways[:0], color, spoken=(anchor,))


def _shape(sizes: Callable[[int], Sequence[Cell]]) -> Callable[[Grid, Params], Goal]:
    """Goals of blocks of one color that fill a box of one of these sizes, anywhere."""

    def goal(asked: Grid, params: Params) -> Goal:
        count = params["count"]
        ways = np.concatenate([_boxes(asked, size) for size in sizes(count)])
        return Goal(ways, _ids(*[params["color"]] * ways.shape[1]))

    return goal


def _boxes(asked: Grid, size: Cell) -> Indices:
    """The flat cells of every box of this size whose cells are free, [boxes, cells]."""
    starts = np.argwhere(np.ones([most - extent + 1 for most, extent in zip(SHAPE, size, strict=True)], bool))
    cells = starts[:, None, :] + np.array(list(np.ndindex(size)))[None]
    return _free(asked, np.ravel_multi_index(tuple(np.moveaxis(cells, -1, 0)), SHAPE))


def _step(asked: Grid, params: Params) -> Goal:
    cells = [_cell(cell) for cell in params["cells"]]
    if not params["color"]:
        return Goal(np.zeros((1, 0), np.int64), _ids(), flat(cells), tuple(cells))
    colors = _ids(*[params["color"]] * len(cells))
    spoken = tuple(_cell(cell) for cell in params.get("spoken", ()))
    return Goal(_poses(asked, cells, params.get("box")), colors, spoken=spoken)


def _build(asked: Grid, params: Params) -> Goal:
    blocks = params["blocks"]
    ways = _poses(asked, [_cell(block) for block in blocks], params.get("box"))
    return Goal(ways, _ids(*(block[3] for block in blocks)), flat(params.get("clear", ())))


def _poses(asked: Grid, cells: Sequence[Cell], box: Sequence[int] | None) -> Indices:
    """The flat cells, [poses, cells], in every pose that keeps `box` (lowest and highest x, lowest and highest z) in
    the zone and replaces no block; without a box the cells as they are."""
    if box is None:
        return flat(cells)[None]
    ways = []
    for rotation in range(4):
        corners = np.array([turned((0, x, z), rotation) for x in box[:2] for z in box[2:]])
        (_, west, north), (_, east, south) = corners.min(0), corners.max(0)
        shifts = np.array([(0, dx, dz) for dx in range(-west, SIZE - east) for dz in range(-north, SIZE - south)])
        at = shifts[:, None] + np.array([turned(cell, rotation) for cell in cells])
        ways.append(np.ravel_multi_index(tuple(np.moveaxis(at, -1, 0)), SHAPE))
    return _free(asked, np.concatenate(ways))


def _free(asked: Grid, ways: Indices) -> Indices:
    """The ways whose cells are all free."""
    free: Indices = ways[(asked.ravel()[ways] == 0).all(1)]
    return free


def _ids(*colors: int) -> NDArray[np.int8]:
    return np.array(colors, np.int8)


def _cell(values: Sequence[int]) -> Cell:
    return int(values[0]), int(values[1]), int(values[2])


GOALS: Mapping[str, Callable[[Grid, Params], Goal]] = {
    "place": _place,
    "stack": _stack,
    "beside": _beside,
    "remove": _remove,
    "tower": _shape(lambda count: [(count, 1, 1)]),
    "row": _shape(lambda count: [(1, count, 1), (1, 1, count)]),
    "square": _shape(lambda count: [(1, count, count)]),
    "swap": _swap,
    "step": _step,
    "build": _build,
}
