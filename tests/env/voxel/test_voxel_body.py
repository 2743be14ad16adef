"""Walking, jumping, falling, flying and moving by cells."""

from __future__ import annotations

import numpy as np
import pytest

from interplay.env.voxel import dynamics
from interplay.env.voxel.body import BuilderBody, Way, advance, step_by_cells
from interplay.env.voxel.commands import Command
from interplay.env.voxel.space import Grid, empty_grid


def overlap(grid: Grid, body: BuilderBody) -> bool:
    """Whether the body is inside a block or the ground by more than rounding."""
    x, y, z = body.position
    if y < -1e-3:
        return True
    for cy, cx, cz in np.argwhere(grid).tolist():
        apart = max(abs(x - (cx - 5)), abs(z - (cz - 5))) >= 0.8 - 1e-3
        if not apart and y < cy + 1 - 1e-3 and y + 1.8 > cy + 1e-3:
            return True
    return False


def walk(grid: Grid, body: BuilderBody, command: Command, frames: int) -> float:
    """Runs the same command; returns the greatest height of the feet."""
    highest = body.position[1]
    for _ in range(frames):
        advance(body, grid, command)
        highest = max(highest, body.position[1])
        assert not overlap(grid, body)
    return highest


def wall(height: int) -> Grid:
    """A wall of this height across the zone, north of the middle."""
    grid = empty_grid()
    grid[:height, :, 4] = 1
    return grid


def test_walking_speed_and_directions() -> None:
    for yaw, forward, strafe, expected in [
        (0, 1, 0, (0, 5)),
        (180, 1, 0, (0, -5)),
        (90, 1, 0, (-5, 0)),
        (-90, 1, 0, (5, 0)),
        (180, 0, 1, (5, 0)),
        (0, 0, 1, (-5, 0)),
    ]:
        body = BuilderBody.at(0, 0, 0, yaw)
        walk(empty_grid(), body, Command(forward=forward, strafe=strafe), 20)
        assert (body.position[0], body.position[2]) == pytest.approx(expected, abs=1e-5)
    body = BuilderBody.at(0, 0, 0, 180)
    walk(empty_grid(), body, Command(forward=1, strafe=1), 20)
    assert np.hypot(body.position[0], body.position[2]) == pytest.approx(5, abs=1e-5)


def test_a_jump_is_one_point_two_high() -> None:
    body = BuilderBody.at(0, 0, 0)
    highest = walk(empty_grid(), body, Command(jump=1), 1)
    highest = max(highest, walk(empty_grid(), body, Command(), 30))
    assert 1.19 < highest <= 1.2
    assert body.position[1] == 0
    assert body.velocity[1] == 0


def test_a_jump_leads_onto_one_block_but_not_two() -> None:
    for height, onto in ((1, True), (2, False)):
        body = BuilderBody.at(0, 0, 0, 180)
        for _ in range(60):
            advance(body, wall(height), Command(forward=1, jump=1))
            assert not overlap(wall(height), body)
            if body.position[2] < -1:
                break
        assert (body.position[2] < -1) is onto
    body = BuilderBody.at(0, 0, 0, 180)
    walk(wall(1), body, Command(forward=1), 60)
    assert body.position[2] == pytest.approx(-0.2, abs=1e-4), "without a jump one block stops the body"


def test_no_tunnelling() -> None:
    rng = np.random.default_rng(3)
    for _ in range(60):
        grid = np.where(rng.random((9, 11, 11)) < 0.12, 1, 0).astype(np.int8)
        grid[:, 4:7, 4:7] = 0
        body = BuilderBody.at(0, float(rng.uniform(0, 6)), 0, float(rng.uniform(-180, 180)))
        for _ in range(60):
            forward, strafe = rng.integers(-1, 2, 2).tolist()
            command = Command(
                forward=forward, strafe=strafe, jump=int(rng.random() < 0.5), yaw=float(rng.normal(0, 20))
            )
            advance(body, grid, command)
            assert not overlap(grid, body)


def test_a_fast_fall_stops_on_a_thin_floor() -> None:
    grid = empty_grid()
    grid[4, 5, 5] = 1
    body = BuilderBody.at(0, 12, 0)
    body.numbers[dynamics.VY] = -50
    advance(body, grid, Command())
    assert body.velocity[1] == -50, "a fall is at most 50 a second"
    walk(grid, body, Command(), 3)
    assert body.position[1] == 5


def test_bounds() -> None:
    for way in ("walk", "fly", "cells"):
        body = BuilderBody.at(0, 0, 0, 180)
        for _ in range(80):
            advance(body, empty_grid(), Command(forward=1, strafe=1, up=1), way)
        x, y, z = body.position
        assert (x, z) == ((7, -7) if way == "cells" else (7.5, -7.5))
        assert y == (12 if way == "fly" else 0)


def test_flying_passes_through_blocks_but_not_the_ground() -> None:
    grid = np.ones((9, 11, 11), np.int8)
    body = BuilderBody.at(0, 3, 0, 180)
    advance(body, grid, Command(forward=0.25, up=-1), "fly")
    assert body.position == (0, 2, -0.25)
    for _ in range(3):
        advance(body, grid, Command(up=-1), "fly")
    assert body.position[1] == 0
    advance(body, grid, Command(forward=1, strafe=-1, yaw=-90), "fly")  # west and, to the left, south
    assert body.position == (-1, 0, 0.75)


def test_moving_by_cells() -> None:
    def moved(grid: Grid, yaw: float, command: Command, auto_jump: bool = False) -> tuple[float, float, float]:
        body = BuilderBody.at(0, 0, 0, yaw)
        advance(body, grid, command, "cells", auto_jump)
        return body.position

    empty = empty_grid()
    assert moved(empty, 180, Command(forward=1)) == (0, 0, -1)
    assert moved(empty, 180, Command(forward=1, strafe=1)) == (1, 0, -1)
    assert moved(empty, -165, Command(forward=1)) == (0, 0, -1), "15 degrees off is still north"
    assert moved(empty, -150, Command(forward=1)) == (1, 0, -1), "30 degrees off is north-east"
    assert moved(empty, -135, Command(forward=-1)) == (-1, 0, 1)
    low, high = wall(1), wall(2)
    assert moved(low, 180, Command(forward=1)) == (0, 0, 0)
    assert moved(low, 180, Command(forward=1, jump=1)) == (0, 1, -1)
    assert moved(low, 180, Command(forward=1), auto_jump=True) == (0, 1, -1)
    assert moved(high, 180, Command(forward=1, jump=1)) == (0, 0, 0)


def test_a_diagonal_step_needs_both_cells_that_it_brushes() -> None:
    grid = empty_grid()
    grid[0, 6, 5] = 1  # east
    assert step_by_cells(grid, (0, 0, 0), 1, -1) == (0, 0, 0)
    assert step_by_cells(grid, (0, 0, 0), -1, -1) == (-1, 0, -1)
    assert step_by_cells(grid, (0, 0, 0), 1, -1, jump=True) == (1, 0, -1), "over the corner, then down"


def test_climbing_needs_headroom() -> None:
    grid = wall(1)
    grid[2, 5, 5] = 1  # above the head
    assert step_by_cells(grid, (0, 0, 0), 0, -1, jump=True) == (0, 0, 0)
    grid = wall(1)
    grid[2, 5, 4] = 1  # above the block to climb
    assert step_by_cells(grid, (0, 0, 0), 0, -1, jump=True) == (0, 0, 0)


def test_a_fall_by_cells_takes_no_time() -> None:
    grid = empty_grid()
    grid[:5, 5, 5] = 1
    assert step_by_cells(grid, (0, 5, 0), 0, -1) == (0, 0, -1)
    grid[1, 5, 4] = 1
    assert step_by_cells(grid, (0, 5, 0), 0, -1) == (0, 2, -1)


@pytest.mark.parametrize("way", ["walk", "fly", "cells"])
def test_camera(way: Way) -> None:
    body = BuilderBody.at(0, 0, 0, 170)
    advance(body, empty_grid(), Command(yaw=20, pitch=100), way)
    assert (body.yaw, body.pitch) == (-170, 90)
    advance(body, empty_grid(), Command(yaw=-380, pitch=-1000), way)
    assert (body.yaw, body.pitch) == (170, -90)


def test_compass() -> None:
    assert [BuilderBody.at(0, 0, 0, yaw).compass for yaw in (180, -90, 90)] == [0, 90, -90]  # north, east, west


def test_cell_of_the_feet() -> None:
    assert BuilderBody.at(0.4, 2, -5).cell == (2, 5, 0)
