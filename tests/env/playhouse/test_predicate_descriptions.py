"""Which things there are, which is larger, what is nearest, where something is."""

from __future__ import annotations

from dataclasses import replace

import pytest
from house_scenes import house, thing
from hypothesis import given
from hypothesis import strategies as st

from interplay.env.playhouse.truth import predicates
from interplay.env.playhouse.truth.predicates.descriptions import LARGER
from interplay.env.playhouse.truth.predicates.relations import BESIDE, NEAR

TABLE = thing(0, "brown table", 3, 2, 0.25, half_extents=(0.35, 0.35, 0.25), furniture=True)


def test_matching_by_size_and_attribute() -> None:
    pear = thing(0, "green pear", 1, 1, size="small", attributes=frozenset({"eatable"}))
    facts = house(pear, thing(1, "green block", 2, 1), thing(2, "green pear", 3, 1, attributes=frozenset({"eatable"})))
    assert [t.index for t in predicates.matching(facts, size="small")] == [0]
    assert [t.index for t in predicates.matching(facts, attribute="eatable")] == [0, 2]
    assert [t.index for t in predicates.matching(facts, color="green", attribute="eatable", size="medium")] == [2]
    assert predicates.matching(facts, attribute="flies") == []


@given(st.floats(0.05, 0.5), st.floats(0.05, 0.5))
def test_one_is_larger_where_the_other_is_smaller(a: float, b: float) -> None:
    one, two = (thing(i, "red box", 1, 1, half_extents=(half,) * 3) for i, half in enumerate((a, b)))
    opposite = {"larger": "smaller", "smaller": "larger", "same": "same"}
    assert predicates.compared(two, one) == opposite[predicates.compared(one, two)]
    assert predicates.compared(one, one) == "same"


@pytest.mark.parametrize(("factor", "size"), [(LARGER - 0.01, "same"), (LARGER + 0.01, "larger")])
def test_larger_is_by_volume(factor: float, size: str) -> None:
    long = thing(0, "red box", 1, 1, half_extents=(0.1 * factor, 0.1, 0.1))
    assert predicates.compared(long, thing(1, "blue box", 2, 1)) == size


def test_same_color() -> None:
    red, also, blue = thing(0, "red box", 1, 1), thing(1, "red ball", 2, 1), thing(2, "blue ball", 3, 1)
    assert predicates.same_color(red, also) and not predicates.same_color(also, blue)


def test_neighbors_are_of_the_room_and_nearest_first() -> None:
    facts = house(
        thing(0, "red ball", 4.5, 1),
        thing(1, "blue ball", 2, 1),
        thing(2, "pink ball", 4.5, 1.5),
        thing(3, "green ball", 5.4, 1),  # nearer, but beyond the wall
        thing(4, "white ball", 4.5, 1.3, held_by="solver"),
    )
    assert [t.index for t in predicates.neighbors(facts, facts.things[0])] == [2, 1]


@pytest.mark.parametrize(
    ("x", "z", "relation"),
    [
        (3.0, 0.6, "on"),
        (3.0, 0.1, "under"),
        (3.45 + BESIDE - 0.01, 0.1, "next to"),
        (3.45 + BESIDE + 0.01, 0.1, "near"),
        (3.45 + NEAR - 0.01, 0.1, "near"),
        (3.45 + NEAR + 0.01, 0.1, None),
    ],
)
def test_where_something_is_from_furniture(x: float, z: float, relation: str | None) -> None:
    facts = house(TABLE, thing(1, "red ball", x, 2, z))
    found = predicates.whereabouts(facts, facts.things[1])
    assert (found.room, found.relation) == ("living room", relation)
    assert (found.other is None) == (relation is None)


def test_where_something_is_in_a_bin_or_a_hand_or_another_room() -> None:
    bin_ = thing(1, "blue bin", 3.8, 2, 0.16, half_extents=(0.2, 0.2, 0.16), attributes=frozenset({"container"}))
    ball = thing(2, "red ball", 3.8, 2, 0.12)
    facts = house(TABLE, bin_, ball)
    found = predicates.whereabouts(facts, ball)
    assert (found.relation, found.other) == ("in", bin_), "rather than next to the table"
    held = predicates.whereabouts(house(TABLE, bin_, replace(ball, held_by="solver")), replace(ball, held_by="solver"))
    assert (held.relation, held.other) == ("held by", None)
    away = predicates.whereabouts(house(TABLE, bin_, thing(2, "red ball", 7, 2)), thing(2, "red ball", 7, 2))
    assert (away.room, away.relation) == ("bedroom", None)
