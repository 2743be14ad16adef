"""On, in, under, beside, between, touching; and the sides that a player sees."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from house_scenes import house, thing
from hypothesis import assume, given
from hypothesis import strategies as st
from staged_house import Stage

from interplay.env.playhouse.house.catalog import CATEGORIES
from interplay.env.playhouse.truth import predicates
from interplay.env.playhouse.truth.facts import Thing
from interplay.env.playhouse.truth.predicates.relations import BETWEEN_OFFSET_M, FAR_GAP_M, NEAR_GAP_M, NEXT_TO_GAP_M

SWAPPED = {"left": "right", "right": "left", "front": "behind", "behind": "front"}
meters = st.floats(-2.0, 2.0)


def furniture(index: int, name: str, x: float, y: float, yaw: float = 0.0) -> Thing:
    """A piece of the catalog, standing on the floor."""
    color, category = name.split(maxsplit=1)
    half = CATEGORIES[category].half_extents
    made = thing(index, f"{color} x", x, y, half[2], half_extents=half, yaw=yaw, furniture=True)
    return replace(made, category=category)


@pytest.mark.parametrize(
    ("piece", "x", "y", "height"),
    [
        ("bed", 0.0, 0.0, 0.40),  # the mattress, not the headboard
        ("sofa", 0.1, 0.3, 0.42),
        ("chair", 0.05, 0.0, 0.475),
        ("rack", 0.0, 0.0, 0.08),  # each of its boards
        ("rack", 0.0, 0.2, 0.54),
        ("rack", 0.0, -0.2, 1.00),
        ("bathtub", 0.0, 0.2, 0.12),
        ("table", 0.2, 0.2, 0.5),
    ],
)
def test_things_lie_on_every_level_part_of_furniture(piece: str, x: float, y: float, height: float) -> None:
    place = furniture(0, f"brown {piece}", 2.5, 2.0)
    lies = thing(1, "red ball", 2.5 + x, 2.0 + y, height + 0.1)
    assert predicates.on(lies, place) and not predicates.under(lies, place) and not predicates.next_to(lies, place)
    assert not predicates.on(replace(lies, position=(2.5 + x, 2.0 + y, height + 0.25)), place)
    assert not predicates.on(place, lies)


def test_furniture_that_is_turned_keeps_its_shelves() -> None:
    rack = furniture(0, "brown rack", 2.5, 2.0, yaw=math.pi / 2)
    assert predicates.on(thing(1, "red ball", 2.1, 2.0, 0.64), rack)
    assert not predicates.on(thing(1, "red ball", 2.5, 2.4, 0.64), rack)


def test_under_a_table_is_beneath_its_top() -> None:
    table = furniture(0, "brown table", 2.5, 2.0)
    below, beside = thing(1, "red ball", 2.5, 2.0), thing(1, "red ball", 3.0, 2.0)
    assert predicates.under(below, table) and not predicates.on(below, table)
    assert not predicates.under(beside, table)
    assert not predicates.under(replace(below, half_extents=(0.1, 0.1, 0.3), position=(2.5, 2.0, 0.3)), table)


def test_a_loose_thing_is_over_what_it_stands_on() -> None:
    low, high = thing(0, "red pillow", 2, 2), thing(1, "blue bin", 2, 2, 0.3)
    assert predicates.on(high, low) and predicates.under(low, high) and predicates.above(high, low)
    assert not predicates.under(high, low) and not predicates.above(low, high)
    hung = replace(high, position=(2, 2, 1.0))
    assert predicates.above(hung, low) and not predicates.on(hung, low) and not predicates.under(low, hung)


def test_what_stands_on_a_real_stack_and_lies_in_a_real_bin() -> None:
    stage = Stage("block", "book", "bin", "lemon")
    stage.put("block", 0.0, 0.0, 0.12)
    stage.put("book", 0.0, 0.0, 0.29)
    stage.put("bin", 1.0, 0.0, 0.16)
    stage.put("lemon", 1.0, 0.0, 0.3)
    stage.play(60)
    facts = stage.facts
    block, book, container, lemon = (facts.things[i] for i in stage.index.values())
    assert predicates.on(book, block) and predicates.touching(book, block) and predicates.under(block, book)
    assert predicates.inside(lemon, container) and predicates.touching(lemon, container)
    assert not predicates.on(lemon, container), "what is in it is not on it"
    later = stage.facts  # the same moment, surveyed again
    assert predicates.things_on(later, block) == [book] and predicates.contents(later, container) == [lemon]
    assert not predicates.on(later.things[book.index], book) and not predicates.touching(later.things[book.index], book)
    assert not predicates.touching(block, container) and not predicates.inside(book, container)


@pytest.mark.parametrize(
    ("gap", "near", "far"),
    [
        (NEAR_GAP_M - 0.01, True, False),
        (NEAR_GAP_M + 0.01, False, False),
        (FAR_GAP_M - 0.01, False, False),
        (FAR_GAP_M + 0.01, False, True),
    ],
)
def test_near_and_far_between_things_and_players(gap: float, near: bool, far: bool) -> None:
    a, b = thing(0, "red ball", 0.5, 2), thing(1, "blue ball", 0.7 + gap, 2)
    assert (predicates.near(a, b), predicates.far(a, b)) == (near, far)
    body = house(at=(0.6, 2)).bodies["solver"]
    assert (predicates.near(body, b), predicates.far(b, body)) == (near, far)
    other = house(at=(0.6 + gap, 2)).bodies["solver"]
    assert (predicates.near(body, other), predicates.far(body, other)) == (near, far)


def test_another_room_is_far_and_never_near() -> None:
    a, b = thing(0, "red ball", 4.85, 1), thing(1, "blue ball", 5.25, 1)
    assert not predicates.near(a, b) and predicates.far(a, b)
    assert not predicates.next_to(a, b) and predicates.next_to(a, replace(b, room="hall"))


def test_next_to_ends_where_one_could_walk_through() -> None:
    a = thing(0, "red ball", 1, 1)
    assert predicates.next_to(a, thing(1, "blue ball", 1.2 + NEXT_TO_GAP_M - 0.01, 1))
    assert not predicates.next_to(a, thing(1, "blue ball", 1.2 + NEXT_TO_GAP_M + 0.01, 1))


def test_between_is_near_the_line_and_clear_of_both_ends() -> None:
    b, c = thing(0, "red chest", 1, 1), thing(1, "blue chest", 3, 1)
    assert predicates.between(thing(2, "pink ball", 2, 1 + BETWEEN_OFFSET_M - 0.01), b, c)
    assert not predicates.between(thing(2, "pink ball", 2, 1 + BETWEEN_OFFSET_M + 0.01), b, c)
    assert not predicates.between(thing(2, "pink ball", 0.8, 1), b, c)
    assert not predicates.between(thing(2, "pink ball", 3.3, 1), b, c)
    assert not predicates.between(thing(2, "pink ball", 1.05, 1), b, c), "over one of them"
    assert not predicates.between(thing(2, "pink ball", 2, 1, room="den"), b, c)
    assert predicates.between(house(at=(2.2, 1.2)).bodies["solver"], b, c)
    assert not predicates.between(thing(2, "pink ball", 1, 1), b, b)


@given(meters, meters, meters, meters, meters, meters)
def test_between_does_not_ask_which_end_is_first(x: float, y: float, p: float, q: float, u: float, v: float) -> None:
    a, b, c = (thing(i, "red ball", *at, room="hall") for i, at in enumerate(((x, y), (p, q), (u, v))))
    assert predicates.between(a, b, c) == predicates.between(a, c, b)


def test_touching_is_of_solid_parts() -> None:
    table = furniture(0, "brown table", 2.5, 2.0)
    assert not predicates.touching(thing(1, "red ball", 2.5, 2.0), table), "beneath it, between its legs"
    assert predicates.touching(thing(1, "red ball", 2.5, 2.0, 0.61), table)
    assert not predicates.touching(thing(1, "red ball", 2.5, 2.0, 0.7), table)
    side_by_side = thing(1, "red ball", 1, 1), thing(2, "blue ball", 1.22, 1)
    assert predicates.touching(*side_by_side)
    assert not predicates.touching(side_by_side[0], thing(2, "blue ball", 1.25, 1))
    assert not predicates.touching(side_by_side[0], side_by_side[0])


def test_sides_of_a_thing_as_a_player_faces() -> None:
    viewer = house(at=(1.0, 2.0)).bodies["solver"]  # looks along x: left is +y
    box = thing(0, "blue box", 3, 2)
    at = {"left": (3, 2.5), "right": (3, 1.5), "front": (2.5, 2), "behind": (3.5, 2)}
    for side, (x, y) in at.items():
        assert predicates.side_as_seen(viewer, thing(1, "red ball", x, y), box) == side
    assert predicates.side_as_seen(viewer, thing(1, "red ball", 3.05, 2, 0.3), box) is None, "on top of it"
    assert predicates.side_as_seen(viewer, thing(1, "red ball", 3, 2.5, room="den"), box) is None


def test_sides_of_a_player_are_its_own() -> None:
    body = house(at=(2.0, 2.0), yaw=math.pi / 2).bodies["solver"]  # looks along y: left is -x
    at = {"front": (2, 3), "behind": (2, 1), "left": (1, 2), "right": (3, 2)}
    for side, (x, y) in at.items():
        assert predicates.side_of_player(body, thing(1, "red ball", x, y)) == side
    assert predicates.side_of_player(body, thing(1, "red ball", 6, 2)) is None


@given(meters, meters, st.floats(-3.0, 3.0))
def test_who_turns_round_sees_the_sides_swapped(x: float, y: float, yaw: float) -> None:
    viewer, box = house(at=(2.5, 2.0), yaw=yaw).bodies["solver"], thing(0, "blue box", 2, 2)
    ball = thing(1, "red ball", 2 + x, 2 + y, room="hall")
    turned = replace(viewer, yaw=yaw + math.pi)
    away = math.hypot(x, y)
    diagonal = abs(abs(math.sin(math.atan2(y, x) - yaw)) - math.sqrt(0.5)) < 1e-6
    assume(away > 0.2 and not diagonal)
    side = predicates.side_as_seen(viewer, ball, box)
    assert side is not None and predicates.side_as_seen(turned, ball, box) == SWAPPED[side]
    opposite = thing(1, "red ball", 2 - x, 2 - y, room="hall")
    assert predicates.side_as_seen(viewer, opposite, box) == SWAPPED[side]


def test_face_to_face_takes_two() -> None:
    a, b = house(at=(1.0, 2.0)).bodies["solver"], house(at=(3.0, 2.0), yaw=math.pi).bodies["solver"]
    assert predicates.face_to_face(a, b) and predicates.face_to_face(b, a)
    assert not predicates.face_to_face(a, replace(b, yaw=0.0))
    assert not predicates.face_to_face(a, replace(b, position=(3.8, 2.0)))
    assert not predicates.face_to_face(a, replace(b, room="den"))
