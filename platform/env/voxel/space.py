"""Grid of blocks: shape, axes, colors, and conversion between dense grids and lists of blocks.

A grid is int8 [9, 11, 11] with axes (y, x, z): height above the ground, east, south. A cell is (y, x, z); it spans the
heights y to y + 1, and its center is at x - 5 east and z - 5 south of the middle of the zone. North is -z.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from interplay.core.settings_validation import did_you_mean

Grid = NDArray[np.int8]  # [9, 11, 11], axes (y, x, z)
Cell = tuple[int, int, int]  # (y, x, z)
# (x, y, z, id): center east and south, height of the lower face, id of the color
SparseBlock = tuple[int, int, int, int]

SHAPE = (9, 11, 11)
HEIGHT, SIZE = SHAPE[0], SHAPE[1]
MIDDLE = SIZE // 2  # index of the cell around the middle of the zone
AIR = 0
COLORS = ("blue", "yellow", "green", "orange", "purple", "red")  # ids 1 to 6
STOCK = 20  # blocks of each color, standing or in the inventory
NEIGHBORS: tuple[Cell, ...] = ((1, 0, 0), (-1, 0, 0), (0, 1, 0), (0, -1, 0), (0, 0, 1), (0, 0, -1))


def empty_grid() -> Grid:
    """A grid without blocks."""
    return np.zeros(SHAPE, np.int8)


def color_id(name: str) -> int:
    """Id of a color, 1 to 6.

    Raises:
        ValueError: an unknown color.
    """
    if name not in COLORS:
        raise ValueError(f"no block is {name!r}.{did_you_mean(name, COLORS)} Colors: {', '.join(COLORS)}")
    return COLORS.index(name) + 1


def color_name(block: int) -> str:
    """Color of an id.

    Raises:
        ValueError: an id is not that of a color.
    """
    if not 1 <= block <= len(COLORS):
        raise ValueError(f"{block} is not an id of a color; ids go from 1 (blue) to {len(COLORS)} (red)")
    return COLORS[block - 1]


def in_zone(cell: Sequence[int]) -> bool:
    """Whether a cell (y, x, z) belongs to the grid, so that a block can stand there."""
    y, x, z = cell
    return 0 <= y < HEIGHT and 0 <= x < SIZE and 0 <= z < SIZE


def neighbors(cell: Cell) -> Iterator[Cell]:
    """The cells of the zone that share a face with this one."""
    for dy, dx, dz in NEIGHBORS:
        near = cell[0] + dy, cell[1] + dx, cell[2] + dz
        if in_zone(near):
            yield near


def is_supported(grid: Grid, cell: Cell) -> bool:
    """Whether a free cell has the ground or a block next to it, so that a block can be placed there."""
    return not grid[cell] and (cell[0] == 0 or any(grid[near] for near in neighbors(cell)))


def check_grid(grid: object, what: str = "the grid") -> Grid:
    """Returns a copy of the grid as int8 [9, 11, 11].

    Raises:
        ValueError: another shape, an id outside 0 to 6, or numbers that are not whole.
    """
    found = np.asarray(grid)
    if found.shape != SHAPE:
        raise ValueError(f"{what} has shape {found.shape}; a grid is {SHAPE}, axes (y, x, z)")
    if found.dtype == object or not np.array_equal(found, found.astype(np.int8)):
        raise ValueError(f"{what} holds values that are not ids; ids are the whole numbers 0 to {len(COLORS)}")
    if found.min() < AIR or found.max() > len(COLORS):
        raise ValueError(f"{what} holds ids from {found.min()} to {found.max()}; ids go from 0 (air) to {len(COLORS)}")
    return found.astype(np.int8)


def counts(grid: Grid) -> NDArray[np.int64]:
    """Number of blocks of each color, int64 [6]."""
    return np.bincount(grid.ravel(), minlength=len(COLORS) + 1)[1:]


def inventory(grid: Grid) -> NDArray[np.int64]:
    """Number of blocks of each color that are left to place, int64 [6]: 20 of each less what the grid holds."""
    return STOCK - counts(grid)


def check_stock(grid: Grid, what: str = "the grid") -> None:
    """Raises ValueError if more blocks of a color stand than exist."""
    for color, count in zip(COLORS, counts(grid).tolist(), strict=True):
        if count > STOCK:
            raise ValueError(f"{what} has {count} {color} blocks; there are {STOCK} of each color")


def to_dense(blocks: Iterable[Sequence[int]]) -> Grid:
    """Grid of blocks (x, y, z, id); x and z from -5 to 5, y from 0 to 8. The inverse of `to_sparse`.

    Raises:
        ValueError: a block outside the zone, an unknown id, two blocks in one cell, or numbers that are not whole.
    """
    grid = empty_grid()
    for number, block in enumerate(blocks):
        if len(block) != 4:
            raise ValueError(f"block {number} is {tuple(block)}; a block is (x, y, z, id)")
        try:
            x, y, z, color = found = [int(value) for value in block]
        except (TypeError, ValueError, OverflowError):
            found = []
        if found != list(block):
            raise ValueError(f"block {number} is {tuple(block)}; x, y, z and id must be whole numbers")
        cell = (y, x + MIDDLE, z + MIDDLE)
        if not in_zone(cell):
            raise ValueError(
                f"block {number} is at x={x}, y={y}, z={z}, outside the zone: "
                f"x and z go from {-MIDDLE} to {MIDDLE}, y from 0 to {HEIGHT - 1}"
            )
        color_name(color)
        if grid[cell] != AIR:
            raise ValueError(f"two blocks stand at x={x}, y={y}, z={z}; a cell holds one")
        grid[cell] = color
    return grid


def to_sparse(grid: Grid) -> list[SparseBlock]:
    """Blocks (x, y, z, id) of a grid from bottom to top. The inverse of `to_dense`."""
    found = np.argwhere(grid != AIR).tolist()
    return [(x - MIDDLE, y, z - MIDDLE, int(grid[y, x, z])) for y, x, z in found]
