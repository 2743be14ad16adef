"""Which things there are, which is larger, what is nearest, where something is."""

from __future__ import annotations

import pytest
from house_scenes import house, thing
from hypothesis import given
from hypothesis import strategies as st

from interplay.env.playhouse.truth import predicates
from interplay.env.playhouse.truth.predicates.relations import LARGER_VOLUME_RATIO


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


@pytest.mark.parametrize(
    ("factor", "size"), [(LARGER_VOLUME_RATIO - 0.01, "same"), (LARGER_VOLUME_RATIO + 0.01, "larger")]
)
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
