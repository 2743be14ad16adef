"""Where things are to go: on free floor, with little to carry, and with somewhere to stand."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from house_scenes import DOOR, house, one_room, thing

from interplay.env.playhouse.planning.layouts import DOORWAY_MARGIN_M, is_upright, plan_gathering, plan_layout
from interplay.env.playhouse.planning.reach import standing_spot
from interplay.env.playhouse.planning.stacks import can_bear, is_stackable, plan_stack
from interplay.env.playhouse.truth import predicates
from interplay.env.playhouse.truth.facts import HouseFacts
from interplay.env.playhouse.truth.formations import SHAPES, are_near

TABLE = thing(9, "brown table", 3.0, 2.0, 0.3, half_extents=(0.5, 0.5, 0.3), furniture=True)


def blocks(*points: tuple[float, float], **changes: object) -> HouseFacts:
    return house(*(thing(i, "red block", *point, **changes) for i, point in enumerate(points)))


@pytest.mark.parametrize(("shape", "count"), [("row", 3), ("row", 4), ("triangle", 3), ("square", 4), ("circle", 5)])
def test_a_plan_makes_the_shape_on_free_floor(shape: str, count: int) -> None:
    scattered = [(0.6, 0.6), (4.4, 0.6), (0.6, 3.4), (4.4, 3.0), (8.0, 1.0)]
    facts = blocks(*scattered[:count])
    facts = replace(facts, things=(*facts.things, replace(TABLE, index=count)))
    way = plan_layout(facts, "solver", range(count), count, shape)
    assert way is not None and len(way.spots) == count
    moved = {i: spot for i, spot in way.spots.items() if i not in way.staying}
    laid = [replace(facts.things[i], position=(*spot, 0.1), room="hall") for i, spot in way.spots.items()]
    assert SHAPES[shape].is_complete(laid)
    for spot in moved.values():
        assert predicates.edge_distance(spot, facts.things[count]) > 0.2, "not into the table"
        assert math.dist(spot, DOOR.middle) > DOORWAY_MARGIN_M, "not into the way"
        assert standing_spot(facts, "solver", spot) is not None


def test_what_would_stretch_a_group_too_far_is_not_planned() -> None:
    points = [(1.0, 1.0), (2.05, 1.0), (4.3, 3.4), (4.3, 0.6), (0.6, 3.3)]
    big = (0.2, 0.2, 0.2)
    facts = one_room(house(*(thing(i, "red box", *p, 0.2, half_extents=big) for i, p in enumerate(points))))
    way = plan_layout(facts, "solver", range(5), 5, "group")
    assert way is not None
    assert are_near([replace(facts.things[i], position=(*spot, 0.2)) for i, spot in way.spots.items()])


def test_a_doorway_stays_clear() -> None:
    shelf = thing(3, "brown shelf", 4.5, 2.1, 0.25, half_extents=(0.1, 0.1, 0.25), furniture=True)
    pair = [thing(0, "red block", 2.9, 3.0), thing(1, "red block", 3.55, 3.0)]
    facts = house(*pair, thing(2, "red block", 4.5, 2.1, 0.6), shelf)
    way = plan_layout(facts, "solver", (0, 1, 2), 3, "row")
    assert way is not None and way.staying == {0, 1}
    assert math.dist((4.2, 3.0), DOOR.middle) < DOORWAY_MARGIN_M and way.spots[2] == pytest.approx(
        (2.25, 3.0), abs=0.01
    )


def test_of_two_rows_that_were_begun_the_one_with_less_to_carry_is_ended() -> None:
    facts = one_room(blocks((0.8, 0.8), (1.5, 0.8), (3.6, 3.2), (2.9, 3.2), (3.3, 2.3)))
    way = plan_layout(facts, "solver", range(5), 3, "row")
    assert way is not None and set(way.spots) == {2, 3, 4}


def test_what_lies_well_stays() -> None:
    facts = one_room(blocks((1.0, 1.0), (1.7, 1.0), (4.0, 3.0)))
    way = plan_layout(facts, "solver", (0, 1, 2), 3, "row")
    assert way is not None and way.staying == {0, 1}
    assert way.next(facts, 0.1) is not None
    done = replace(facts, things=(*facts.things[:2], replace(facts.things[2], position=(*way.spots[2], 0.1))))
    assert way.next(done, 0.1) is None


def test_the_nearest_of_many_are_taken() -> None:
    facts = blocks((1.0, 1.0), (1.7, 1.0), (8.5, 0.5), (2.4, 2.0))
    way = plan_layout(facts, "solver", (0, 1, 2, 3), 3, "row")
    assert way is not None and set(way.spots) == {0, 1, 3}


def test_a_row_by_size_is_in_the_order_of_sizes() -> None:
    sizes = (0.2, 0.1, 0.15)
    things = [
        thing(i, "red block", 1 + i, 1 + i, half, half_extents=(half, half, half)) for i, half in enumerate(sizes)
    ]
    way = plan_layout(house(*things), "solver", (0, 1, 2), 3, "ordered row")
    assert way is not None
    laid = [replace(t, position=(*way.spots[t.index], t.position[2]), room="hall") for t in things]
    assert predicates.is_ordered_row(laid)


def test_no_plan_where_the_floor_is_full() -> None:
    full = thing(3, "brown bed", 2.5, 2.0, 0.3, half_extents=(2.4, 1.9, 0.3), furniture=True)
    things = [thing(i, "red block", 1.0 + i, 2.0, 0.7) for i in range(3)]
    facts = one_room(house(*things, full))
    assert plan_layout(facts, "solver", (0, 1, 2), 3, "row") is None
    assert plan_stack(facts, "solver", (0, 1, 2), 3) is None


def test_a_plan_is_obstructed_by_what_comes_to_lie_in_its_way() -> None:
    facts = one_room(blocks((1.0, 1.0), (1.7, 1.0), (4.0, 3.0)))
    way = plan_layout(facts, "solver", (0, 1, 2), 3, "row")
    assert way is not None and not way.is_obstructed(facts)
    intruder = thing(3, "blue ball", *way.spots[2])
    assert way.is_obstructed(replace(facts, things=(*facts.things, intruder)))


def test_things_gather_around_furniture_and_those_near_it_stay() -> None:
    facts = house(*(thing(i, "red block", *p) for i, p in enumerate([(2.0, 2.0), (4.7, 3.7), (0.4, 0.8)])), TABLE)
    facts = replace(facts, things=(*facts.things[:3], replace(TABLE, index=3)))
    table = facts.things[3]
    way = plan_gathering(facts, "solver", (0, 1, 2), 3, table)
    assert way is not None and way.staying == {0}
    assert all(predicates.edge_distance(spot, table) <= 0.7 for spot in way.spots.values())
    assert all(math.dist(a, b) > 0.4 for a in way.spots.values() for b in way.spots.values() if a != b)


def test_towers_have_the_wide_below_and_no_balls() -> None:
    flat = (0.2, 0.2, 0.1)
    things = [
        thing(0, "red ball", 1, 1),
        thing(1, "red block", 2, 1),
        thing(2, "red box", 1, 2, half_extents=flat),
        thing(3, "red candle", 2, 2, 0.2, half_extents=(0.07, 0.07, 0.2)),
    ]
    facts = one_room(house(*things))
    assert [is_stackable(t) for t in things] == [False, True, True, True]
    assert [can_bear(t) for t in things] == [False, True, True, False]
    stack = plan_stack(facts, "solver", (0, 1, 2, 3), 3)
    assert stack is not None and stack.things == (2, 1, 3) and stack.spot is None
    assert plan_stack(facts, "solver", (0, 1), 2) is None


def test_a_tower_that_was_begun_grows() -> None:
    pile = [thing(i, "red block", 4, 1, 0.1 + 0.2 * i) for i in range(2)]
    facts = one_room(house(*pile, thing(2, "red block", 1, 1), thing(3, "red block", 1.5, 3)))
    stack = plan_stack(facts, "solver", (0, 1, 2, 3), 3)
    assert stack is not None and stack.things[:2] == (0, 1)
    index, place = stack.next(facts, 0.1) or (None, None)
    assert index == stack.things[2] and place is not None
    assert place.spot == (4, 1) and place.height == pytest.approx(0.4)


def test_a_tower_whose_bottom_is_on_a_table_is_begun_on_the_floor() -> None:
    table = thing(2, "brown table", 3.0, 2.0, 0.3, half_extents=(0.5, 0.5, 0.3), furniture=True)
    facts = one_room(house(thing(0, "red block", 3, 2, 0.7), thing(1, "red block", 3.2, 2.3, 0.7), table))
    stack = plan_stack(facts, "solver", (0, 1), 2)
    assert stack is not None and stack.spot is not None
    index, place = stack.next(facts, 0.1) or (None, None)
    assert (index, place and place.height) == (stack.things[0], 0.0)


def test_what_tipped_over_is_not_used_where_there_is_another() -> None:
    tall = {"half_extents": (0.1, 0.1, 0.2)}
    lying = thing(0, "red bottle", 1, 1, 0.1, **tall)
    others = [thing(i, "red bottle", i + 1, 1.5, 0.2, **tall) for i in (1, 2, 3)]
    facts = one_room(house(lying, *others))
    assert [is_upright(facts, t) for t in facts.things] == [False, True, True, True]
    way = plan_layout(facts, "solver", (0, 1, 2, 3), 3, "triangle")
    assert way is not None and 0 not in way.spots
