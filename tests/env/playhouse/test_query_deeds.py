"""What was done, on the real house: pushed, lifted, thrown, handed over."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from house_scenes import house, thing
from staged_house import Stage

from interplay.env.playhouse import queries
from interplay.env.playhouse.facts import HouseFacts

BIN = thing(0, "blue bin", 2, 2, 0.16, half_extents=(0.2, 0.2, 0.16), attributes=frozenset({"container"}))


def held(facts: HouseFacts, index: int, role: str, **changes: object) -> HouseFacts:
    things = list(facts.things)
    things[index] = replace(things[index], held_by=role, at_rest=False, **changes)  # type: ignore[arg-type]
    bodies = {**facts.bodies, role: replace(facts.bodies[role], holding=index)}
    return replace(facts, things=tuple(things), bodies=bodies)


def test_walking_into_a_block_pushes_it_and_nothing_else() -> None:
    stage = Stage("block", "book")
    stage.put("block", 0.0, 0.0, 0.12)
    stage.put("book", 0.0, 1.5, 0.04)
    stage.stand("solver", -0.8, 0.0, at="block")
    before = stage.facts
    block, book = stage.index["block"], stage.index["book"]
    assert not queries.pushed(before, stage.facts, block)
    stage.play(20, forward=1)
    assert queries.pushed(before, stage.facts, block) and queries.moved(before, stage.facts, block)
    assert not queries.moved(before, stage.facts, book)


def test_a_held_thing_pushes_another_and_is_not_pushed_itself() -> None:
    stage = Stage("block", "ball")
    stage.put("block", 0.0, 0.0, 0.12)
    stage.put("ball", 0.6, 0.0, 0.14)
    stage.stand("solver", -1.0, 0.0, at="block")
    block, ball = stage.index["block"], stage.index["ball"]
    stage.play(5, grasp=1)
    before = stage.facts
    stage.play(3, grasp=1, forward=1)
    assert not queries.pushed(before, stage.facts, block), "what is held is carried"
    stage.play(12, grasp=1, forward=1)
    now = stage.facts
    assert queries.pushed(before, now, ball) and queries.pushed_with(before, now, ball, block, "solver")
    assert not queries.pushed_with(before, now, ball, block, "setter")


def test_what_was_picked_up_and_carried_off_was_not_pushed() -> None:
    lying = house(thing(0, "red block", 1, 1))
    away = held(house(thing(0, "red block", 3, 1, 0.8)), 0, "solver")
    assert queries.moved(lying, away, 0) and not queries.pushed(lying, away, 0)
    assert queries.pushed(lying, house(thing(0, "red block", 3, 1)), 0)


def test_what_rolls_far_from_the_tool_was_not_pushed_with_it() -> None:
    start = house(thing(0, "red block", 1, 1), thing(1, "blue ball", 3, 3))
    before = held(start, 0, "solver")
    now = held(house(thing(0, "red block", 1, 1), thing(1, "blue ball", 3.5, 3)), 0, "solver")
    assert queries.pushed(before, now, 1) and not queries.pushed_with(before, now, 1, 0, "solver")


def test_what_is_held_touches_what_it_leans_on() -> None:
    stage = Stage("block", "box")
    stage.put("block", 0.0, 0.0, 0.12)
    stage.put("box", 0.9, 0.0, 0.13)
    stage.stand("solver", -1.0, 0.0, at="block")
    box = stage.index["box"]
    stage.play(5, grasp=1)
    assert not queries.touched_with(stage.facts, box, "solver")
    for _ in range(40):
        stage.play(1, grasp=1, forward=0.5)
        if queries.touched_with(stage.facts, box, "solver"):
            break
    facts = stage.facts
    assert queries.touched_with(facts, box, "solver")
    block = facts.things[stage.index["block"]]
    assert queries.gap(block, facts.things[box]) < 0.06
    assert not queries.touched_with(facts, box, "setter"), "an empty hand touches nothing"


@pytest.mark.parametrize(("throw", "flies"), [(1.0, True), (0.0, False)])
def test_a_throw_travels_and_a_drop_does_not(throw: float, flies: bool) -> None:
    stage = Stage("block")
    stage.put("block", -0.6, 0.0, 0.12)
    stage.stand("solver", -1.5, 0.0, at="block")
    stage.play(25, grasp=1, pitch=math.radians(2))
    block = stage.index["block"]
    before = stage.facts
    assert before.things[block].held_by == "solver"
    stage.play(1, grasp=throw, throw=throw)
    stage.play(60)
    now = stage.facts
    assert queries.thrown(before, now, block, "solver") == flies
    assert not queries.thrown(before, now, block, "setter")
    assert not queries.thrown(now, now, block, "solver"), "nothing is thrown that was not held"


def test_a_bin_is_lifted_with_its_ball_and_not_without() -> None:
    stage = Stage("bin", "lemon")
    stage.put("bin", 0.0, 0.0, 0.16)
    stage.put("lemon", 0.0, 0.0, 0.16)
    stage.play(20)
    stage.stand("solver", -1.0, 0.0, at="bin")
    stage.play(2, pitch=math.radians(-3))  # at the wall before the lemon
    container, lemon = stage.index["bin"], stage.index["lemon"]
    before = stage.facts
    assert [t.index for t in queries.contents(before, before.things[container])] == [lemon]
    stage.play(5, grasp=1)
    assert not queries.raised(before, stage.facts, container, "solver")
    stage.play(25, grasp=1, pitch=math.radians(1))
    now = stage.facts
    assert queries.raised_with_contents(before, now, container, "solver")
    assert not queries.raised_with_contents(before, now, lemon, "solver"), "what is inside is not in the hand"
    things = list(now.things)
    things[lemon] = replace(things[lemon], position=(1.0, 1.0, 0.1))
    spilt = replace(now, things=tuple(things))
    assert queries.raised(before, spilt, container, "solver")
    assert not queries.raised_with_contents(before, spilt, container, "solver")
    things = list(before.things)
    things[lemon] = spilt.things[lemon]
    empty = replace(before, things=tuple(things))
    assert queries.raised(empty, spilt, container, "solver")
    assert not queries.raised_with_contents(empty, spilt, container, "solver"), "an empty one has nothing to keep"


def test_a_thing_passes_from_hand_to_hand() -> None:
    stage = Stage("book")
    stage.put("book", 0.0, 0.0, 0.04)
    stage.stand("solver", -0.9, 0.0, at="book")
    stage.play(25, grasp=1, pitch=math.radians(1))
    book = stage.index["book"]
    offered = stage.facts
    assert offered.things[book].held_by == "solver"
    stage.stand("setter", 0.9, 0.5, at="book")
    stage.play(1, role="setter", grasp=1)  # the solver's hand opens while the setter's closes
    stage.play(5, role="setter", grasp=1)
    taken = stage.facts
    assert queries.handed_over(offered, taken, book, "solver", "setter")
    assert not queries.handed_over(offered, offered, book, "solver", "setter")
    assert not queries.handed_over(taken, taken, book, "solver", "setter")


def test_what_is_taken_out_of_a_bin_is_neither_in_it_nor_on_its_rim() -> None:
    inside = thing(1, "red ball", 2, 2, 0.12)
    other = thing(2, "green ball", 2.05, 2, 0.12)
    before = house(BIN, inside, other)
    beside = house(BIN, replace(inside, position=(3, 2, 0.1)), other)
    on_rim = house(BIN, replace(inside, position=(2, 2, 0.42)), other)
    both = house(BIN, replace(inside, position=(3, 2, 0.1)), replace(other, position=(3, 3, 0.1)))
    assert queries.removed(before, beside, 1, 0) and not queries.removed(before, on_rim, 1, 0)
    assert not queries.removed(before, before, 1, 0) and not queries.removed(beside, beside, 1, 0)
    assert queries.emptied(before, both, 0) and not queries.emptied(before, beside, 0)
    assert not queries.emptied(both, both, 0), "it held nothing"
    swapped = house(BIN, *both.things[1:], thing(3, "pink ball", 2, 2, 0.12))
    assert not queries.emptied(house(*before.things, thing(3, "pink ball", 4, 1)), swapped, 0)


def test_brought_is_come_within_reach_of_the_player_by_being_moved() -> None:
    before = house(thing(0, "red ball", 3, 2))
    near = house(thing(0, "red ball", 1, 1))
    assert queries.brought(before, near, 0, "setter")  # the setter stands at (0.4, 0.4)
    assert not queries.brought(near, near, 0, "setter"), "it was there before"
    assert not queries.brought(before, house(thing(0, "red ball", 2, 2)), 0, "setter")
    through_a_wall = house(thing(0, "red ball", 1, 1, room="den"))
    assert not queries.brought(before, through_a_wall, 0, "setter")


def test_the_player_who_walks_up_was_brought_nothing() -> None:
    before = house(thing(0, "red ball", 3, 2), at=(1, 2))
    came = house(thing(0, "red ball", 3, 2), at=(2.5, 2))
    assert not queries.brought(before, came, 0, "solver")


def test_a_house_settles() -> None:
    stage = Stage("ball")
    stage.put("ball", 0.0, 0.0, 1.0)
    stage.play(6)
    assert not queries.settled(stage.facts)
    stage.play(120)
    assert queries.settled(stage.facts)
    assert queries.settled(held(house(thing(0, "red ball", 1, 1)), 0, "solver"))
