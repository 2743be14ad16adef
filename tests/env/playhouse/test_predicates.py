import math
from dataclasses import replace

import pytest
from house_scenes import house, one_room, thing

from interplay.env.playhouse.truth import predicates


def test_edge_distance_is_measured_from_the_turned_footprint() -> None:
    long = thing(0, "red bench", 2, 2, half_extents=(1.0, 0.1, 0.1))
    assert predicates.edge_distance((3.5, 2), long) == pytest.approx(0.5)
    assert predicates.edge_distance((2, 2), long) == 0
    turned = replace(long, yaw=math.pi / 2)
    assert predicates.edge_distance((3.5, 2), turned) == pytest.approx(1.4)
    assert predicates.edge_distance((2, 3.5), turned) == pytest.approx(0.5)


def test_gap_of_turned_and_crossing_footprints() -> None:
    a = thing(0, "red block", 0, 0)
    assert predicates.gap(a, thing(1, "blue block", 1, 0)) == pytest.approx(0.8)
    diagonal = thing(1, "blue block", 1, 0, yaw=math.pi / 4)
    assert predicates.gap(a, diagonal) == pytest.approx(0.9 - 0.1 * math.sqrt(2))
    assert predicates.gap(a, thing(1, "blue block", 0.05, 0.05)) == 0


def test_bearing_is_the_turn_that_is_missing() -> None:
    facing_back = house(at=(1, 2), yaw=math.pi).bodies["solver"]
    assert predicates.bearing(facing_back, (1, 3)) == pytest.approx(-math.pi / 2)
    assert predicates.bearing(facing_back, (1, 1)) == pytest.approx(math.pi / 2)
    assert predicates.wrap_angle(3 * math.pi) == pytest.approx(math.pi)
    assert predicates.wrap_angle(0.0) == 0.0


def test_on_inside_and_next_to_exclude_each_other() -> None:
    bin_ = thing(0, "blue bin", 2, 2, 0.2, half_extents=(0.2, 0.2, 0.2), attributes=frozenset({"container"}))
    beside = thing(1, "red ball", 2.5, 2)
    within = thing(1, "red ball", 2, 2, 0.12)
    above = thing(1, "red ball", 2, 2, 0.5)
    assert predicates.next_to(beside, bin_, 0.6)
    assert predicates.inside(within, bin_) and not predicates.next_to(within, bin_, 0.6)
    assert (
        predicates.on(above, bin_) and not predicates.inside(above, bin_) and not predicates.next_to(above, bin_, 0.6)
    )
    assert not predicates.next_to(thing(1, "red ball", 3.2, 2), bin_, 0.6)


def test_next_to_does_not_reach_through_a_wall() -> None:
    assert not predicates.next_to(thing(0, "red ball", 4.85, 1), thing(1, "blue ball", 5.25, 1), 0.6)


def test_walking_goes_through_the_doorway() -> None:
    facts = house(thing(0, "red ball", 6.0, 1.0), at=(4.0, 1.0))
    by_door = math.dist((4, 1), (5.05, 3)) + predicates.edge_distance((5.05, 3), facts.things[0])
    assert predicates.walking_distance(facts, (4, 1), facts.things[0]) == pytest.approx(by_door)
    assert predicates.walking_distance(one_room(facts), (4, 1), facts.things[0]) == pytest.approx(1.9)


def test_matching_by_color_category_and_room() -> None:
    facts = house(thing(0, "red ball", 1, 1), thing(1, "red block", 2, 1), thing(2, "blue ball", 6, 1))
    assert [t.index for t in predicates.matching(facts, color="red")] == [0, 1]
    assert [t.index for t in predicates.matching(facts, category="ball", room="den")] == [2]
    assert len(predicates.matching(facts)) == 3
