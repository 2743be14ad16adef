"""Placing and breaking: what a frame does to blocks, and in which order."""

from __future__ import annotations

import numpy as np
import pytest

from interplay.env.voxel.body import BuilderBody, BuildState, apply, apply_all
from interplay.env.voxel.commands import Command
from interplay.env.voxel.space import empty_grid, inventory, to_dense, to_sparse


def looking(pitch: float = 60.0, yaw: float = 180.0, z: float = 3.0) -> BuildState:
    """A builder south of the middle who looks north and down."""
    return BuildState(body=BuilderBody.at(0, 0, z, yaw, pitch))


def test_use_places_the_held_color_on_the_ground() -> None:
    state = looking()
    assert state.body.gaze(state.grid).free == (0, 5, 7)
    assert apply(state, Command(use=1, select=6))
    assert to_sparse(state.grid) == [(0, 0, 2, 6)]
    assert state.body.held == 6
    assert inventory(state.grid).tolist() == [20, 20, 20, 20, 20, 19]


def test_attack_removes_what_is_met_and_gives_it_back() -> None:
    state = looking()
    state.grid[0, 5, 7] = 4
    assert apply(state, Command(attack=1))
    assert not state.grid.any()
    assert not apply(state, Command(attack=1)), "the ground stays"


def test_both_do_neither() -> None:
    state = looking()
    assert not apply(state, Command(attack=1, use=1))
    assert not state.grid.any()


def test_a_block_goes_before_the_face_met() -> None:
    state = looking(pitch=12)
    state.grid[0, 5, 5] = 1
    gaze = state.body.gaze(state.grid)
    assert (gaze.block, gaze.free) == ((0, 5, 5), (1, 5, 5)), "the top is met"
    apply(state, Command(use=1, select=2))
    assert state.grid[1, 5, 5] == 2
    apply(state, Command(use=1, select=3, pitch=0))
    assert state.grid[1, 5, 6] == 3, "the south face of the upper block"
    apply(state, Command(attack=1, pitch=13))
    assert to_sparse(state.grid) == [(0, 0, 0, 1), (0, 1, 0, 2)]
    apply(state, Command(attack=1))
    assert to_sparse(state.grid) == [(0, 1, 0, 2)], "blocks may float"


def test_the_gaze_is_that_before_the_turn() -> None:
    state = looking()
    apply(state, Command(use=1, yaw=90, pitch=-60))
    assert state.grid[0, 5, 7] == 1


def test_no_block_outside_the_zone_nor_in_the_body() -> None:
    outside = looking(z=7.4, pitch=80)
    assert outside.body.gaze(outside.grid) == ((-1, 5, 12), None)
    assert not apply(outside, Command(use=1))
    within = looking(pitch=90)
    assert within.body.gaze(within.grid).free == (0, 5, 8)
    assert not apply(within, Command(use=1))
    high = BuildState(body=BuilderBody.at(0, 8, 0, 180, 0))
    high.grid[:, 5, 4] = 1
    high.grid[8, 5, 5] = 0
    high.body.numbers[7] = 90
    assert not apply(high, Command(use=1), "fly")


def test_the_stock_is_limited() -> None:
    state = looking()
    state.grid[:2, :10, 0] = 1
    assert not apply(state, Command(use=1)), "twenty blue blocks stand"
    assert apply(state, Command(use=1, select=2))


def test_jumping_by_hand_raises_oneself() -> None:
    state = looking(pitch=90)
    apply(state, Command(jump=1))
    placed = False
    for _ in range(20):
        placed |= apply(state, Command(use=1))
    assert placed
    assert state.body.position[1] == 1
    assert to_sparse(state.grid) == [(0, 0, 3, 1)]


def test_jump_and_use_by_cells_raise_oneself() -> None:
    state = looking(pitch=90)
    for height in (1, 2, 3):
        assert apply(state, Command(jump=1, use=1), "cells")
        assert state.body.position == (0, height, 3)
    assert [block[1] for block in to_sparse(state.grid)] == [0, 1, 2]
    roofed = looking(pitch=90)
    roofed.grid[2, 5, 8] = 1  # above the head
    assert not apply(roofed, Command(jump=1, use=1), "cells")


def test_random_play_keeps_the_rules() -> None:
    rng = np.random.default_rng(5)
    ways = ("walk", "fly", "cells")
    placed = removed = 0
    for episode in range(30):
        state = BuildState(body=BuilderBody.at(0, 0, 3, 180, 30))
        for _ in range(80):
            before, inside = state.grid.copy(), _inside(state)
            command = Command(
                *rng.integers(-1, 2, 3).tolist(),
                jump=int(rng.integers(2)),
                yaw=float(rng.choice([-45, 0, 15])),
                pitch=float(rng.normal(0, 20)),
                select=int(rng.integers(7)),
                attack=int(rng.random() < 0.4),
                use=int(rng.random() < 0.5),
            )
            changed = apply(state, command, ways[episode % 3])
            different = int((before != state.grid).sum())
            assert different == int(changed)
            placed += int((state.grid != 0).sum() > (before != 0).sum())
            removed += int((state.grid != 0).sum() < (before != 0).sum())
            assert inventory(state.grid).min() >= 0
            if ways[episode % 3] != "fly" and not inside:
                assert not _inside(state)
    assert placed > 100
    assert removed > 20


def _inside(state: BuildState) -> bool:
    x, y, z = state.body.position
    return any(
        abs(x - (cx - 5)) < 0.799 and abs(z - (cz - 5)) < 0.799 and y < cy + 0.999 and y + 1.799 > cy
        for cy, cx, cz in np.argwhere(state.grid).tolist()
    )


def test_frames_together_equal_frames_one_by_one() -> None:
    rng = np.random.default_rng(6)
    commands = np.zeros((40, 9))
    commands[:, :2] = rng.uniform(-1, 1, (40, 2))
    commands[:, 3:6] = rng.normal(0, 5, (40, 3))
    commands[:, 6:] = rng.integers(0, 2, (40, 3))
    one, all_ = looking(), looking()
    changes = sum(apply(one, Command(*row)) for row in commands.tolist())
    assert apply_all(all_, commands) == changes
    np.testing.assert_array_equal(one.grid, all_.grid)
    np.testing.assert_array_equal(one.body.numbers, all_.body.numbers)


def test_a_copy_shares_nothing() -> None:
    state = BuildState(to_dense([(0, 0, 0, 1)]), BuilderBody.at(0, 0, 3, 180, 60))
    copy = state.copy()
    apply(copy, Command(use=1, forward=1))
    assert state.grid.sum() == 1
    assert state.body.position == (0, 0, 3)
    assert empty_grid().sum() == 0


@pytest.mark.parametrize("way", ["walk", "cells"])
def test_a_builder_can_leave_a_block_that_it_is_in(way: str) -> None:
    state = BuildState(to_dense([(0, 0, 0, 1)]), BuilderBody.at(0, 0, 0, 180))
    for _ in range(30):
        apply(state, Command(forward=1), "cells" if way == "cells" else "walk")
    assert state.body.position[2] < -1
