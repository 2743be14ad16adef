"""Tower, row, triangle, square, circle: of things laid by hand, and of real ones that stood or fell."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise

import pytest
from house_scenes import house, thing
from hypothesis import given
from hypothesis import strategies as st
from staged_house import Stage

from interplay.env.playhouse.truth import predicates
from interplay.env.playhouse.truth.facts import XY, Thing
from interplay.env.playhouse.truth.predicates.arrangements import (
    MAX_SHAPE_SIDE_M,
    OUTLINE_OFFSET_M,
    ROW_GAP_M,
    ROW_OFFSET_M,
)

SHAPES = (predicates.is_row, predicates.is_triangle, predicates.is_square, predicates.is_circle)


def laid(*points: XY, turn: float = 0.0) -> list[Thing]:
    """20 cm cubes on the floor about the middle of the hall, the whole pattern turned."""
    cos, sin = math.cos(turn), math.sin(turn)
    return [thing(i, "red block", 2.5 + x * cos - y * sin, 2 + x * sin + y * cos) for i, (x, y) in enumerate(points)]


def ring(count: int, radius: float, share: float = 1.0) -> list[XY]:
    """Points on a circle, or on this share of it."""
    angles = [math.tau * share * i / count for i in range(count)]
    return [(radius * math.cos(angle), radius * math.sin(angle)) for angle in angles]


def stacked(count: int) -> list[Thing]:
    return [thing(i, "red block", 2, 2, 0.1 + 0.2 * i) for i in range(count)]


@pytest.mark.parametrize("count", [2, 5])
def test_a_tower_is_things_one_on_the_other(count: int) -> None:
    pile = stacked(count)
    assert predicates.is_tower(pile) and predicates.is_tower(pile[::-1])
    assert all(predicates.on(upper, lower) for lower, upper in pairwise(pile))
    assert predicates.towers(house(*pile)) == [tuple(pile)]


def test_what_is_held_moves_stands_apart_or_is_furniture_makes_no_tower() -> None:
    low, high = stacked(2)
    for change in ({"held_by": "solver"}, {"at_rest": False}, {"position": (2.3, 2, 0.3)}, {"furniture": True}):
        changed = replace(high, **change)  # type: ignore[arg-type]
        assert not predicates.is_tower([low, changed]) and predicates.towers(house(low, changed)) == []
    assert not predicates.is_tower([low]) and not predicates.is_tower([])
    assert not predicates.is_tower([low, thing(2, "red block", 2, 2, 0.5)]), "one is missing in between"


def test_the_tallest_tower_comes_first_and_may_stand_on_furniture() -> None:
    table = thing(0, "brown top", 4, 2, 0.25, half_extents=(0.4, 0.4, 0.25), furniture=True)
    pair = [thing(1 + i, "blue block", 4, 2, 0.6 + 0.2 * i) for i in range(2)]
    three = [replace(block, index=3 + i) for i, block in enumerate(stacked(3))]
    assert predicates.towers(house(table, *pair, *three)) == [tuple(three), tuple(pair)]


def test_a_real_tower_stands_and_a_toppled_one_is_none() -> None:
    stage = Stage("block", "book", "box")
    for category, height in (("box", 0.13), ("block", 0.39), ("book", 0.56)):
        stage.put(category, 0.0, 0.0, height)
    stage.play(60)
    things = list(stage.facts.things)
    assert predicates.is_tower(things)
    assert [t.category for t in predicates.towers(stage.facts)[0]] == ["box", "block", "book"]
    stage.put("book", 0.19, 0.0, 0.6)
    stage.play(90)
    assert [t.category for t in predicates.towers(stage.facts)[0]] == ["box", "block"]


@given(st.integers(0, 3), st.lists(st.floats(-0.3, 0.3), min_size=4, max_size=4))
def test_a_tower_of_all_is_a_chain_of_on(first: int, shifts: list[float]) -> None:
    pile = [thing(i, "red block", 2 + shift, 2, 0.1 + 0.2 * i) for i, shift in enumerate(shifts)][first:]
    chain = len(pile) >= 2 and all(predicates.on(upper, lower) for lower, upper in pairwise(pile))
    assert predicates.is_tower(pile) == chain
    assert all(
        predicates.above(upper, lower) for found in predicates.towers(house(*pile)) for lower, upper in pairwise(found)
    )


@pytest.mark.parametrize("turn", [0.0, 0.7, math.pi / 2])
def test_a_row_is_straight_and_unbroken(turn: float) -> None:
    step = ROW_GAP_M + 0.2 - 0.01
    assert predicates.is_row(laid((0, 0), (0.5, 0), (1.0, 0), (1.3, 0), turn=turn))
    assert predicates.is_row(laid((1.0, 0), (0, 0), (0.5, 0), turn=turn)), "in whatever order they are named"
    assert predicates.is_row(laid((0, 0), (step, 0), (2 * step, 0)))
    assert not predicates.is_row(laid((0, 0), (step + 0.02, 0), (2 * step, 0)))
    assert not predicates.is_row(laid((0, 0), (0.5, 0), turn=turn)), "two are not a row"
    bent = 1.5 * (ROW_OFFSET_M + 0.01)  # the middle one is two thirds of its height off the best line
    assert not predicates.is_row(laid((0, 0), (0.8, bent), (1.6, 0), turn=turn))
    assert predicates.is_row(laid((0, 0), (0.8, bent - 0.06), (1.6, 0), turn=turn))


def test_a_huddle_a_pile_and_things_on_two_levels_are_not_a_row() -> None:
    assert not predicates.is_row(laid((0, 0), (0.2, 0), (0.1, 0.17)))
    assert not predicates.is_row(stacked(3))
    row = laid((0, 0), (0.5, 0), (1.0, 0))
    assert not predicates.is_row([*row[:2], replace(row[2], position=(3.5, 2, 0.5))])
    assert not predicates.is_row([*row[:2], replace(row[2], held_by="solver")])


def test_a_row_by_size_grows_from_one_end() -> None:
    row = laid((0, 0), (0.5, 0), (1.0, 0))
    grown = [replace(t, half_extents=(0.1 + 0.02 * i,) * 3) for i, t in enumerate(row)]
    assert predicates.is_ordered_row(grown) and predicates.is_ordered_row(grown[::-1])
    assert not predicates.is_ordered_row(row), "all alike"
    mixed = [replace(t, half_extents=(h, h, h)) for t, h in zip(row, (0.1, 0.14, 0.12), strict=True)]
    assert predicates.is_row(mixed) and not predicates.is_ordered_row(mixed)
    assert not predicates.is_ordered_row(grown[:2])


def test_a_triangle_has_three_corners_and_the_rest_on_its_sides() -> None:
    corners: list[XY] = [(0, 0), (1.2, 0), (0.6, 1.0)]
    assert predicates.is_triangle(laid(*corners)) and predicates.is_triangle(laid(*corners, turn=1.0))
    assert predicates.is_triangle(laid(*corners, (0.6, OUTLINE_OFFSET_M - 0.01), (0.3, 0.5)))
    assert not predicates.is_triangle(laid(*corners, (0.6, 0.4))), "one is in the middle"
    assert not predicates.is_triangle(laid((0, 0), (0.6, 0.2), (1.2, 0))), "nearly in line"
    wide = MAX_SHAPE_SIDE_M + 0.02
    assert not predicates.is_triangle(laid((0, 0), (wide, 0), (wide / 2, 1.2)))
    assert not predicates.is_triangle(laid((0, 0), (0, 0), (1.2, 0))), "two in one place"
    assert not predicates.is_triangle(laid(*corners[:2]))


def test_a_square_has_even_sides_and_right_angles() -> None:
    corners: list[XY] = [(0, 0), (1, 1), (1, 0), (0, 1)]
    assert predicates.is_square(laid(*corners)) and predicates.is_square(laid(*corners, turn=0.5))
    assert predicates.is_square(laid(*corners, (0.5, 0.1), (0.5, 1.0)))
    assert not predicates.is_square(laid((0, 0), (1.4, 0), (1.4, 1), (0, 1))), "an oblong"
    assert not predicates.is_square(laid((0, 0), (1, 0), (1.5, 0.87), (0.5, 0.87))), "a rhombus"
    assert not predicates.is_square(laid(*corners, (0.5, 0.5)))
    assert not predicates.is_square(laid(*corners[:3]))


@pytest.mark.parametrize("count", [3, 4, 5, 8])
def test_a_circle_goes_all_the_way_round(count: int) -> None:
    assert predicates.is_circle(laid(*ring(count, 0.7), turn=0.3))
    assert not predicates.is_circle(laid(*ring(count, 0.7, share=0.4))), "an arc"
    assert not predicates.is_circle(laid(*ring(count, 1.6))) and not predicates.is_circle(laid(*ring(count, 0.15)))


def test_a_circle_forgives_a_hand_s_width_and_no_more() -> None:
    points = ring(8, 0.8)
    assert predicates.is_circle(laid((0.8 + OUTLINE_OFFSET_M - 0.02, 0.0), *points[1:]))
    assert not predicates.is_circle(laid((0.8 + 2 * OUTLINE_OFFSET_M, 0.0), *points[1:]))
    assert not predicates.is_circle(laid((0, 0), (0.5, 0), (1, 0))), "a line has no middle"
    assert not predicates.is_circle(laid(*points[:2]))


@given(st.lists(st.tuples(st.floats(-1, 1), st.floats(-1, 1)), min_size=3, max_size=5), st.floats(-3, 3))
def test_shapes_do_not_depend_on_order_or_place(points: list[XY], turn: float) -> None:
    things = laid(*points)
    assert not (predicates.is_row(things) and predicates.is_triangle(things))
    for shape in SHAPES:
        assert shape(things) == shape(things[::-1])
        lifted = [replace(t, held_by="solver") for t in things]
        assert not shape(lifted)
