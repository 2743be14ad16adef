"""Chunks: a target cut into rows, towers, squares, slabs and single blocks of one color, in the order to build them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from interplay.env.voxel.space import SHAPE, SIZE, Cell, Grid, in_zone, neighbors


@dataclass(frozen=True)
class Chunk:
    """Blocks of one color that fill a box: one block, a row, a tower, or a horizontal rectangle."""

    color: int
    cells: tuple[Cell, ...]  # sorted

    @classmethod
    def box(cls, color: int, corner: Cell, size: Cell) -> Chunk:
        """The chunk that fills a box of `size` cells from its lowest, western, northern corner."""
        return cls(color, tuple((corner[0] + y, corner[1] + x, corner[2] + z) for y, x, z in np.ndindex(size)))

    @cached_property
    def corner(self) -> Cell:
        """The lowest, western, northern cell."""
        return self.cells[0]

    @cached_property
    def size(self) -> Cell:
        """Extents in y, x and z."""
        last = self.cells[-1]
        return last[0] - self.corner[0] + 1, last[1] - self.corner[1] + 1, last[2] - self.corner[2] + 1

    @cached_property
    def shape(self) -> str:
        """'block', 'row', 'tower', 'square' or 'slab'."""
        y, x, z = self.size
        if y > 1:
            return "tower"
        if x > 1 and z > 1:
            return "square" if x == z else "slab"
        return "row" if x > 1 or z > 1 else "block"

    def moved(self, offset: Cell) -> Chunk:
        """The same chunk elsewhere."""
        dy, dx, dz = offset
        return Chunk(self.color, tuple((y + dy, x + dx, z + dz) for y, x, z in self.cells))

    def turned(self, rotation: int, dx: int, dz: int) -> Chunk:
        """The same chunk in a pose: quarter turns (x, z) -> (z, 10 - x), then a shift."""
        cells = [turned(cell, rotation) for cell in self.cells]
        return Chunk(self.color, tuple(sorted((y, x + dx, z + dz) for y, x, z in cells)))

    def stands_in(self, grid: Grid) -> bool:
        """Whether all of its cells hold its color."""
        return all(in_zone(cell) and grid[cell] == self.color for cell in self.cells)


def turned(cell: Cell, rotation: int) -> Cell:
    """A cell after quarter turns (x, z) -> (z, 10 - x)."""
    y, x, z = cell
    for _ in range(rotation % 4):
        x, z = z, SIZE - 1 - x
    return y, x, z


def cut(target: Grid, start: Grid | None = None) -> tuple[Chunk, ...]:
    """The chunks of what `target` adds to `start`, in the order to build them.

    The largest chunk is cut out first, again and again. They are built from the bottom up, each touching the ones
    before where that is possible.
    """
    added = target if start is None else np.where(target != start, target, 0).astype(np.int8)
    standing = np.zeros(SHAPE, bool) if start is None else start != 0
    return tuple(_ordered(_largest_first(added), standing))


def _largest_first(grid: Grid) -> list[Chunk]:
    remaining, chunks = grid.copy(), []
    while remaining.any():
        chunk = max(_boxes(remaining), key=lambda each: (len(each.cells), [-at for at in each.corner], each.size))
        for cell in chunk.cells:
            remaining[cell] = 0
        chunks.append(chunk)
    return chunks


def _boxes(grid: Grid) -> Iterator[Chunk]:
    """The largest row, tower and rectangles from each cell, as far as its color continues."""
    for y, x, z in np.argwhere(grid):
        color = grid[y, x, z]
        corner = int(y), int(x), int(z)
        yield Chunk.box(int(color), corner, (_run(grid[y:, x, z] == color), 1, 1))
        depth = SHAPE[2]
        for width in range(1, _run(grid[y, x:, z] == color) + 1):
            depth = min(depth, _run(grid[y, x + width - 1, z:] == color))
            yield Chunk.box(int(color), corner, (1, width, depth))


def _run(same: NDArray[np.bool_]) -> int:
    """How many leading values are true."""
    return int(same.size if same.all() else np.argmin(same))


def _ordered(chunks: Sequence[Chunk], standing: NDArray[np.bool_]) -> Iterator[Chunk]:
    waiting, stands = list(chunks), standing.copy()
    while waiting:
        begun = bool(stands.any())
        chunk = min(waiting, key=lambda each: (not _touches(each, stands, begun), each.corner[0], -len(each.cells)))
        waiting.remove(chunk)
        for cell in chunk.cells:
            stands[cell] = True
        yield chunk


def _touches(chunk: Chunk, stands: NDArray[np.bool_], begun: bool) -> bool:
    """Whether a chunk touches the existing blocks, or the ground if there is nothing else."""
    if not begun:
        return chunk.corner[0] == 0
    return any(stands[near] for cell in chunk.cells for near in neighbors(cell))
