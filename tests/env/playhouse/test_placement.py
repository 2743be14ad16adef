"""Places to put things down are free, fit, and can be reached."""

from __future__ import annotations

import math

import pytest
from house_scenes import house, one_room, thing

from interplay.env.playhouse.planning import placement, reach
from interplay.env.playhouse.truth import predicates
from interplay.env.playhouse.truth.facts import HouseFacts, Thing

TABLE = thing(0, "brown table", 2.5, 2, 0.25, half_extents=(0.35, 0.35, 0.25), furniture=True)
BLOCK = thing(1, "red block", 4, 3.4, 0.12, half_extents=(0.12, 0.12, 0.12))
LEMON = thing(2, "red lemon", 4.4, 1, half_extents=(0.1, 0.1, 0.1))


def ledge(y: float) -> Thing:
    return thing(0, "brown ledge", 2.5, y, 0.4, half_extents=(0.15, 0.5, 0.4), yaw=math.pi / 2, furniture=True)


def put(thing_: Thing, place: placement.Placement, facts: HouseFacts) -> Thing:
    middle = place.height + thing_.half_extents[2]
    moved = thing(thing_.index, thing_.name, *place.spot, middle, half_extents=thing_.half_extents)
    assert place.room == moved.room
    return moved


def test_spots_on_a_table_are_on_it_and_free() -> None:
    facts = one_room(house(TABLE, BLOCK, LEMON, thing(3, "blue book", 2.5, 2.0, 0.54, half_extents=(0.1, 0.1, 0.04))))
    places = placement.placements_on(facts, LEMON, TABLE)
    assert places
    for place in places:
        there = put(LEMON, place, facts)
        assert predicates.on(there, TABLE) and predicates.gap(there, facts.things[3]) > 0.0
    assert not placement.placements_on(facts, thing(2, "red box", 4, 1, half_extents=(0.3, 0.3, 0.1)), TABLE)


def test_what_stands_at_a_wall_takes_only_what_keeps_off_the_wall() -> None:
    small = thing(1, "red candle", 4, 3, 0.2, half_extents=(0.06, 0.06, 0.2))
    large = thing(2, "red airplane", 4, 1, half_extents=(0.28, 0.28, 0.12))
    facts = one_room(house(ledge(0.15), small, large))
    assert placement.placements_on(facts, small, facts.things[0])
    assert not placement.placements_on(facts, large, facts.things[0]), "the wall is behind it"
    free = one_room(house(ledge(2.0), small, large))
    assert placement.placements_on(free, large, free.things[0])
    for place in placement.placements_on(facts, small, facts.things[0]):
        assert place.spot[1] >= 0.06


def test_only_level_tops_that_are_wide_enough_take_things() -> None:
    facts = one_room(house(TABLE, BLOCK, LEMON, thing(3, "pink duck", 1, 3)))
    book = thing(4, "blue book", 1, 1, half_extents=(0.1, 0.1, 0.04))
    assert [place.spot for place in placement.placements_on(facts, book, BLOCK)] == [BLOCK.xy]
    assert not placement.placements_on(facts, LEMON, BLOCK), "it would roll off"
    assert not placement.placements_on(facts, book, LEMON) and not placement.placements_on(facts, book, facts.things[3])
    assert not placement.placements_on(facts, thing(4, "blue box", 1, 1, half_extents=(0.2, 0.2, 0.1)), BLOCK)


@pytest.mark.parametrize(("half", "fits"), [(0.1, True), (0.2, False)])
def test_a_bin_takes_what_fits_between_its_walls(half: float, fits: bool) -> None:
    attributes = frozenset({"container"})
    box = thing(0, "blue bin", 2, 2, 0.2, half_extents=(0.26, 0.26, 0.2), attributes=attributes)
    block = thing(1, "red block", 4, 1, half_extents=(half, half, 0.1))
    assert bool(placement.placements_in(one_room(house(box, block)), block, box)) == fits
    mug = thing(0, "blue mug", 2, 2, 0.2, half_extents=(0.26, 0.26, 0.2), attributes=attributes)
    assert not placement.placements_in(one_room(house(mug, block)), block, mug), "only a bin is hollow"


def test_a_full_bin_takes_nothing_where_it_would_stick_out() -> None:
    box = thing(0, "blue bin", 2, 2, 0.2, half_extents=(0.26, 0.26, 0.2), attributes=frozenset({"container"}))
    lemon = thing(1, "red lemon", 4, 1, half_extents=(0.08, 0.08, 0.08))
    low = thing(2, "pink soap", 2, 2, 0.1, half_extents=(0.1, 0.1, 0.05))
    tall = thing(2, "pink plant", 1.9, 2, 0.24, half_extents=(0.06, 0.06, 0.2))
    wide = thing(2, "pink drum", 2, 2, 0.2, half_extents=(0.18, 0.18, 0.16))
    on_top = placement.placements_in(one_room(house(box, lemon, low)), lemon, box)
    assert box.xy in [place.spot for place in on_top]
    beside = placement.placements_in(one_room(house(box, lemon, tall)), lemon, box)
    assert beside and all(math.dist(place.spot, tall.xy) >= 0.14 for place in beside)
    assert not placement.placements_in(one_room(house(box, lemon, wide)), lemon, box)
    assert placement.placements_in(one_room(house(box, lemon, wide)), lemon, box, pressed=True)


def test_room_under_a_table_is_as_high_and_as_wide_as_its_legs_leave() -> None:
    facts = one_room(house(TABLE, BLOCK))
    places = placement.placements_under(facts, BLOCK, TABLE)
    assert len(places) == 4
    for place in places:
        assert predicates.under(put(BLOCK, place, facts), TABLE)
        away = math.dist(place.spot, TABLE.xy)
        outside = (place.spot[0] + math.cos(place.approach_angle or 0.0) * place.slide_in, place.spot[1])
        assert away < 0.35 and (place.approach_angle != 0.0 or predicates.edge_distance(outside, TABLE) > 0.12)
    high = thing(1, "red robot", 4, 3, 0.25, half_extents=(0.1, 0.1, 0.25))
    wide = thing(1, "red box", 4, 3, half_extents=(0.3, 0.3, 0.1))
    assert not placement.placements_under(facts, high, TABLE) and not placement.placements_under(facts, wide, TABLE)
    assert not placement.placements_under(facts, BLOCK, thing(0, "red block", 2, 2))
    walled = one_room(house(ledge(0.15), BLOCK))
    assert all(place.spot[1] >= BLOCK.radius for place in placement.placements_under(walled, BLOCK, walled.things[0]))


def test_floor_beside_and_before_is_free_and_in_the_room() -> None:
    corner = thing(3, "pink box", 0.3, 3.7, half_extents=(0.15, 0.15, 0.1))
    facts = one_room(house(TABLE, BLOCK, LEMON, corner))
    beside = placement.placements_beside(facts, LEMON, corner)
    assert beside and all(predicates.next_to(put(LEMON, place, facts), corner) for place in beside)
    around_the_setter = placement.placements_around(facts, LEMON, facts.bodies["setter"])
    around = placement.placements_in_room(facts, LEMON, facts.rooms[0])
    assert around_the_setter and around
    for place in (*beside, *around_the_setter, *around):
        there = put(LEMON, place, facts)
        assert predicates.outside(facts.rooms[0], place.spot) < -placement.footprint_radius(LEMON)
        assert all(predicates.gap(there, other) > 0.0 for other in facts.things if other.index != LEMON.index)
    setter = facts.bodies["setter"].position
    assert all(math.dist(place.spot, setter) < 1.3 for place in around_the_setter)


def test_one_stands_on_free_floor_of_the_same_room_within_an_arms_length() -> None:
    facts = house(TABLE, BLOCK, LEMON, at=(4.5, 3.5))
    places = placement.placements_on(facts, LEMON, TABLE)
    reached = placement.reachable_placements(facts, "solver", LEMON, places)
    assert len(reached) == len(places)
    for place in reached:
        assert 0.5 < math.dist(place.stand, place.spot) < reach.horizontal_reach(place.height + 0.1)
        assert predicates.edge_distance(place.stand, TABLE) > 0.22 and 0.2 < place.stand[0] < 4.8
    ways = [math.dist(place.stand, (4.5, 3.5)) for place in reached]
    assert ways[0] < min(ways) + 0.5, "the nearest comes first, or one that is hardly farther"
    fenced = [thing(k, "brown chest", x, y, 0.25, half_extents=(0.6, 0.6, 0.25), furniture=True)
              for k, (x, y) in enumerate([(1.5, 2), (3.5, 2), (2.5, 1), (2.5, 3), (1.3, 0.8), (3.7, 0.8), (1.3, 3.2),
                                          (3.7, 3.2)], start=3)]  # fmt: skip
    closed = one_room(house(TABLE, BLOCK, LEMON, *fenced, at=(0.3, 0.3)))
    assert not placement.reachable_placements(closed, "solver", LEMON, placement.placements_on(closed, LEMON, TABLE))
