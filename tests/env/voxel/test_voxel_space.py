"""Grids, colors, and dense and sparse forms that are inverses."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from interplay.env.voxel import space


def test_sparse_and_dense_are_inverses() -> None:
    rng = np.random.default_rng(0)
    for _ in range(50):
        grid = np.where(rng.random(space.SHAPE) < 0.05, rng.integers(1, 7, space.SHAPE), 0).astype(np.int8)
        blocks = space.to_sparse(grid)
        assert len(blocks) == np.count_nonzero(grid)
        np.testing.assert_array_equal(space.to_dense(blocks), grid)
        assert space.to_sparse(space.to_dense(blocks[::-1])) == blocks


def test_axes_of_a_block() -> None:
    grid = space.to_dense([(5, 0, -5, 6)])  # the north-east corner, on the ground
    assert grid[0, 10, 0] == 6
    assert grid.dtype == np.int8


@pytest.mark.parametrize(
    ("blocks", "message"),
    [
        ([(6, 0, 0, 1)], "outside the zone"),
        ([(0, 9, 0, 1)], "outside the zone"),
        ([(0, -1, 0, 1)], "outside the zone"),
        ([(0, 0, 0, 7)], "7 is not an id"),
        ([(0, 0, 0, 1), (0, 0, 0, 2)], "two blocks"),
        ([(0.5, 0, 0, 1)], "whole numbers"),
        ([(0, 0, 0, None)], "whole numbers"),
        ([("0", 0, 0, 1)], "whole numbers"),
        ([(0, 0, 0)], r"\(x, y, z, id\)"),
    ],
)
def test_wrong_blocks_are_refused(blocks: list[tuple[Any, ...]], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        space.to_dense(blocks)


@pytest.mark.parametrize(
    ("grid", "message"),
    [
        (np.zeros((11, 11, 9)), "has shape"),
        (np.full(space.SHAPE, 7), "ids from 7"),
        (np.full(space.SHAPE, -1), "ids from -1"),
        (np.full(space.SHAPE, 0.5), "not ids"),
        (np.full(space.SHAPE, 257), "not ids"),
    ],
)
def test_wrong_grids_are_refused(grid: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        space.check_grid(grid)


def test_colors_by_name() -> None:
    assert [space.color_id(color) for color in space.COLORS] == [1, 2, 3, 4, 5, 6]
    assert [space.color_name(block) for block in range(1, 7)] == list(space.COLORS)
    with pytest.raises(ValueError, match="blue"):
        space.color_id("bleu")
    with pytest.raises(ValueError, match="0 is not an id"):
        space.color_name(0)


def test_inventory_is_what_does_not_stand() -> None:
    grid = space.empty_grid()
    grid[0, 0, :] = 2
    assert space.inventory(grid).tolist() == [20, 9, 20, 20, 20, 20]
    space.check_stock(grid)
    grid[0, 1, :10] = 2
    with pytest.raises(ValueError, match="21 yellow blocks"):
        space.check_stock(grid)


def test_the_zone() -> None:
    assert space.in_zone((0, 0, 0))
    assert space.in_zone((8, 10, 10))
    assert not any(space.in_zone(cell) for cell in [(-1, 0, 0), (9, 0, 0), (0, 11, 0), (0, 0, -1)])
