"""Matching by votes against a plain double loop over poses and blocks; scores and evaluations."""

from __future__ import annotations

import numpy as np
import pytest

from interplay.env.voxel.matching import BuildScorer, Match, Matcher, Scored, changes, evaluate, posed
from interplay.env.voxel.space import Grid, empty_grid, to_dense


def plain_best(target: Grid, grid: Grid, whole: Grid, invariant: bool) -> Match:
    """Counts the common cells of every pose that keeps the whole in the zone."""
    built = {tuple(cell): int(grid[tuple(cell)]) for cell in np.argwhere(grid).tolist()}
    wanted = [(y, x, z, int(target[y, x, z])) for y, x, z in np.argwhere(target).tolist()]
    kept = [(y, x, z, 0) for y, x, z in np.argwhere(whole).tolist()] + wanted
    best = Match(-1, 0, 0, 0)
    for rotation in range(4 if invariant else 1):
        for dx in range(-10, 11) if invariant else (0,):
            for dz in range(-10, 11) if invariant else (0,):
                if all(0 <= x + dx <= 10 and 0 <= z + dz <= 10 for _, x, z, _ in kept):
                    size = sum(built.get((y, x + dx, z + dz)) == color for y, x, z, color in wanted)
                    best = max(best, Match(size, rotation, dx, dz), key=lambda match: match.size)
        wanted = [(y, z, 10 - x, color) for y, x, z, color in wanted]
        kept = [(y, z, 10 - x, color) for y, x, z, color in kept]
    return best


def random_grid(rng: np.random.Generator, blocks: int, spread: int = 11, layers: int = 3) -> Grid:
    grid = empty_grid()
    corner = rng.integers(0, 12 - spread, 2)
    for _ in range(blocks):
        x, z = (corner + rng.integers(0, spread, 2)).tolist()
        grid[rng.integers(layers), x, z] = rng.integers(1, 4)
    return grid


@pytest.mark.parametrize("pairs", [200, pytest.param(10_000, marks=pytest.mark.slow)])
def test_votes_equal_a_plain_double_loop(pairs: int) -> None:
    rng = np.random.default_rng(0)
    sizes = set()
    for number in range(pairs):
        target = random_grid(rng, int(rng.integers(1, 6)), int(rng.integers(6, 12)))
        grid = random_grid(rng, int(rng.integers(0, 8)), int(rng.integers(1, 12)))
        if number % 3 == 0:
            grid = posed(target, int(rng.integers(4)), 0, 0)  # a turned target, disturbed
            grid[tuple(rng.integers(0, (3, 11, 11)))] = 1
        whole = target if number % 4 else np.where(target != 0, target, random_grid(rng, 3)).astype(np.int8)
        invariant = bool(number % 10)
        found = Matcher(target, whole, invariant).best(grid)
        assert found == plain_best(target, grid, whole, invariant), (target, grid)
        sizes.add(found.size)
    assert sizes >= {0, 1, 2, 3, 4, 5}


def test_a_pose_is_found_and_reproduces_the_grid() -> None:
    rng = np.random.default_rng(1)
    for _ in range(50):
        target = random_grid(rng, 8, 5)
        matcher = Matcher(target)
        first = matcher.best(target)
        assert first.size == matcher.size
        np.testing.assert_array_equal(posed(target, *first[1:]), target)
        turned = posed(target, 1, 0, 0)
        match = matcher.best(turned)
        np.testing.assert_array_equal(posed(target, *match[1:]), turned)
    assert Matcher(to_dense([(0, 0, 0, 1)])).poses() == 4 * 121
    with pytest.raises(ValueError, match="outside the zone"):
        posed(to_dense([(5, 0, 0, 1)]), 0, 1, 0)


def test_a_turn_is_x_z_to_z_10_minus_x() -> None:
    grid = to_dense([(-5, 2, 4, 3)])  # cell (2, 0, 9)
    np.testing.assert_array_equal(np.argwhere(posed(grid, 1, 0, 0)), [[2, 9, 10]])


def test_the_whole_limits_the_poses() -> None:
    target = to_dense([(0, 0, 0, 1)])
    whole = to_dense([(x, 0, 0, 1) for x in range(-5, 6)])
    corner = to_dense([(5, 0, 5, 1)])
    assert Matcher(target).best(corner).size == 1
    assert Matcher(target, whole).best(corner).size == 0
    assert Matcher(target, whole).best(to_dense([(0, 0, 5, 1)])).size == 1


def test_never_vertical_and_not_invariant() -> None:
    target = to_dense([(0, 1, 0, 1)])
    assert Matcher(target).best(to_dense([(0, 0, 0, 1)])).size == 0
    assert Matcher(target, invariant=False).best(to_dense([(1, 1, 0, 1)])).size == 0
    assert Matcher(target, invariant=False).best(target) == Match(1, 0, 0, 0)


def test_the_score_of_each_step() -> None:
    target = to_dense([(0, 0, 0, 1), (1, 0, 0, 1), (2, 0, 0, 2)])
    scorer = BuildScorer(target)
    built = empty_grid()
    built[0, 3, 3] = 1
    assert scorer.step(built) == Scored(1, -1, False, 2.0)
    built[0, 3, 9] = 5
    assert scorer.step(built) == Scored(0, -1, False, -1.0), "a wrong block costs 1"
    built[0, 3, 9] = 0
    assert scorer.step(built) == Scored(0, 1, False, 1.0), "its removal gives that back"
    assert scorer.step(built) == Scored(0, 0, False, 0.0)
    built[0, 3, 4] = 1
    assert scorer.step(built) == Scored(1, -1, False, 2.0)
    built[0, 3, 4] = 0
    assert scorer.step(built) == Scored(-1, 1, False, -2.0)
    built[0, 3, 4], built[0, 3, 5] = 1, 2
    assert scorer.step(built) == Scored(2, -2, True, 4.0)


def test_scales_and_strictness() -> None:
    target, built = to_dense([(0, 0, 0, 1)]), to_dense([(0, 0, 0, 1), (1, 0, 0, 5)])
    assert BuildScorer(target, right_scale=5).step(built) == Scored(1, -2, True, 5.0)
    strict = BuildScorer(target, strict=True, wrong_scale=0.5)
    assert strict.step(built).done is False
    assert strict.step(to_dense([(1, 0, 0, 1)])) == Scored(0, 1, True, 0.5)


def test_a_score_begins_at_the_start_grid() -> None:
    target = to_dense([(0, 0, 0, 1), (1, 0, 0, 1)])
    scorer = BuildScorer(target, to_dense([(0, 0, 0, 1)]))
    assert scorer.match.size == 1
    assert scorer.step(target) == Scored(1, -1, True, 2.0)


@pytest.mark.parametrize("strict", [False, True])
def test_targets_with_nothing_to_do_are_refused(strict: bool) -> None:
    target = to_dense([(0, 0, 0, 1)])
    with pytest.raises(ValueError, match="empty"):
        BuildScorer(empty_grid())
    with pytest.raises(ValueError, match="already built"):
        BuildScorer(target, to_dense([(3, 0, 2, 1)]), strict=strict)
    with pytest.raises(ValueError, match="nothing to build"):
        evaluate(target, empty_grid(), start=target)
    with pytest.raises(ValueError, match="nothing to build"):
        evaluate(empty_grid(), target)


def test_grids_that_are_none_are_refused() -> None:
    block = to_dense([(0, 0, 0, 1)])
    for target, whole in ((np.ones((3, 3, 3), np.int8), None), (block * 9, None), (block, block[:2])):
        with pytest.raises(ValueError, match=r"shape|ids"):
            Matcher(target, whole)
    for built in (block[:2], block.astype(float)):
        with pytest.raises(ValueError, match="the grid is"):
            Matcher(block).best(built)


def test_changes() -> None:
    start, grid = to_dense([(0, 0, 0, 1), (1, 0, 0, 2), (2, 0, 0, 3)]), to_dense([(0, 0, 0, 1), (1, 0, 0, 5)])
    assert changes(grid, start)[0, 5:8, 5].tolist() == [0, 5, -3]


def test_evaluation_of_changes() -> None:
    start = to_dense([(0, 0, 0, 1), (3, 0, 0, 3)])
    target = to_dense([(0, 0, 0, 1), (0, 1, 0, 2), (1, 0, 0, 4)])  # two more, one gone
    assert evaluate(target, target, start) == (3, 1.0, 1.0, 1.0, True, True)
    assert evaluate(target, start, start) == (0, 0.0, 0.0, 0.0, False, False)
    more = target.copy()
    more[0, 0, 0] = 6
    assert evaluate(target, more, start) == (3, 0.75, 1.0, 6 / 7, True, False)
    less = target.copy()
    less[0, 8, 5] = 3
    assert evaluate(target, less, start) == (2, 1.0, 2 / 3, 0.8, False, False)


def test_only_an_empty_start_frees_the_pose() -> None:
    target, elsewhere = to_dense([(0, 0, 0, 1), (0, 0, 1, 1)]), to_dense([(4, 0, 3, 1), (5, 0, 3, 1)])
    assert evaluate(target, elsewhere).exact
    assert not evaluate(target, elsewhere, invariant=False).intersection
    stone = to_dense([(-5, 0, -5, 6)])
    start, wanted, made = stone, np.maximum(stone, target), np.maximum(stone, elsewhere)
    assert not evaluate(wanted, made, start).intersection
    assert evaluate(wanted, made, start, invariant=True).complete
