"""How many of several things already have their place in a shape."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from house_scenes import house, thing

from interplay.env.playhouse.truth import predicates
from interplay.env.playhouse.truth.facts import XY, HouseFacts, Thing
from interplay.env.playhouse.truth.formations import SHAPES, gathered_at
from interplay.env.playhouse.truth.predicates.arrangements import circle_through

# Middles of things that form the shape, in the order in which they are laid, so that each next one adds to it.
MADE: dict[str, list[XY]] = {
    "row": [(1.0, 1.0), (1.7, 1.0), (2.4, 1.0), (3.1, 1.0)],
    "triangle": [(1.0, 1.0), (2.0, 1.0), (1.5, 1.9)],
    "square": [(1.0, 1.0), (2.0, 1.0), (2.0, 2.0), (1.0, 2.0)],
    "circle": [(2 + math.cos(math.tau * i / 5), 2 + math.sin(math.tau * i / 5)) for i in range(5)],
    "group": [(1.0, 1.0), (1.5, 1.0), (1.0, 1.5)],
}
FAR_OFF = [(8.8, 3.8), (0.2, 3.8), (4.8, 0.2), (8.8, 0.2), (5.4, 3.8)]  # in other rooms or corners, one each


def laid(points: list[XY], rest: int) -> HouseFacts:
    """Cubes at these points, and so many on others, at unlike heights, where they fit no shape."""
    things = [thing(i, "red block", *point) for i, point in enumerate(points)]
    for i, point in enumerate(FAR_OFF[:rest]):
        things.append(thing(len(things), "red block", *point, z=0.4 + 0.3 * i))
    return house(*things)


@pytest.mark.parametrize("shape", MADE)
def test_each_thing_in_its_place_counts_and_all_make_the_shape(shape: str) -> None:
    points = MADE[shape]
    for count in range(1, len(points) + 1):
        facts = laid(points[:count], len(points) - count)
        placed = SHAPES[shape].placed(facts, range(len(points)), len(points))
        assert len(placed) == count, f"{count} of {len(points)} are in place"
    assert SHAPES[shape].is_complete(placed)


@pytest.mark.parametrize("shape", MADE)
def test_what_is_held_has_no_place(shape: str) -> None:
    points = MADE[shape]
    facts = laid(points, 0)
    held = replace(facts.things[1], held_by="solver")
    facts = replace(facts, things=(facts.things[0], held, *facts.things[2:]))
    assert len(SHAPES[shape].placed(facts, range(len(points)), len(points))) < len(points)


def test_a_tower_counts_by_its_height() -> None:
    def pile(*heights: float) -> list[Thing]:
        return [thing(i, "red block", 1.0 + i * (z < 0.2), 2, z) for i, z in enumerate(heights)]

    tower = SHAPES["tower"]
    assert len(tower.placed(house(*pile(0.1, 0.1, 0.1)), (0, 1, 2), 3)) == 1
    assert len(tower.placed(house(*pile(0.1, 0.3)), (0, 1), 3)) == 2
    assert len(tower.placed(house(*pile(0.1, 0.3, 0.5)), (0, 1, 2), 3)) == 3


def test_three_of_a_square_are_begun_only_where_a_fourth_completes_it() -> None:
    bent = laid([(1.0, 1.0), (2.0, 1.0), (3.0, 1.4)], 0)
    assert len(SHAPES["square"].placed(bent, (0, 1, 2), 4)) == 2


def test_an_arc_is_begun_only_where_what_is_missing_fills_its_gaps() -> None:
    arc = [(2 + math.cos(math.radians(angle)), 2 + math.sin(math.radians(angle))) for angle in (0, 20, 40)]
    assert len(SHAPES["circle"].placed(laid(arc, 0), (0, 1, 2), 5)) == 3
    assert len(SHAPES["circle"].placed(laid(arc, 0), (0, 1, 2), 4)) == 2


def test_things_count_only_within_one_room() -> None:
    apart = house(thing(0, "red block", 4.8, 2), thing(1, "red block", 5.3, 2))
    assert len(SHAPES["row"].placed(apart, (0, 1), 3)) == 1
    together = house(thing(0, "red block", 4.3, 2), thing(1, "red block", 4.8, 2))
    assert len(SHAPES["row"].placed(together, (0, 1), 3)) == 2


def test_things_gather_at_furniture() -> None:
    sofa = thing(3, "brown sofa", 3, 3, 0.3, half_extents=(0.4, 0.8, 0.3), furniture=True)
    facts = house(thing(0, "red block", 2, 3), thing(1, "red block", 3, 1), thing(2, "red block", 0.5, 0.5), sofa)
    assert [t.index for t in gathered_at(sofa).placed(facts, (0, 1, 2), 3)] == [0, 1]
    assert all(predicates.near(facts.things[i], sofa) for i in (0, 1))


def test_the_circle_through_points_is_the_best_one() -> None:
    found = circle_through(np.array([(2.0, 1.0), (1.0, 2.0), (0.0, 1.0)]))
    assert found is not None
    assert found[0] == pytest.approx((1.0, 1.0)) and found[1] == pytest.approx(1.0)
    assert circle_through(np.array([(0.0, 0.0), (1.0, 1.0), (2.0, 2.0)])) is None
