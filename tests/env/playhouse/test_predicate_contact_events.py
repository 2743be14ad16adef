"""What was done, on the real house: pushed, lifted, thrown, handed over."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from house_scenes import house, thing
from staged_house import Stage

from interplay.env.playhouse.tasks.instructions.bring_and_reposition import HandOver
from interplay.env.playhouse.tasks.instructions.lift_and_throw import LiftContainer
from interplay.env.playhouse.truth import predicates
from interplay.env.playhouse.truth.facts import ContactEvent, HouseFacts


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
    assert not predicates.pushed_by(before, block, "solver")
    stage.play(20, forward=1)
    now = stage.facts
    assert predicates.pushed_by(now, block, "solver", since=before.time)
    assert predicates.pushed_distance(now, block, now.things[block].pushed) == pytest.approx(
        math.dist(before.things[block].xy, now.things[block].xy), abs=0.07
    )
    assert not predicates.pushed_by(now, block, "setter") and not predicates.pushed_by(
        now, block, "solver", since=now.time
    )
    assert now.things[book].position == pytest.approx(before.things[book].position, abs=0.01)
    assert now.things[book].pushed is None
    assert now.things[block].touched is None, "the hand was empty"


def test_who_stands_in_its_way_does_not_push_what_rolls_by() -> None:
    stage = Stage("ball", "book")
    stage.put("ball", 0.0, 0.0, 0.14)
    stage.stand("solver", -0.5, 0.0, at="ball")
    stage.world.simulation.data.qvel[4:].reshape(-1, 6)[stage.index["ball"], 0] = -2.0
    stage.world.simulation.data.xfrc_applied[:, 2] = 1e-9  # awake
    stage.play(20)
    assert stage.facts.things[stage.index["ball"]].pushed is None


def test_a_held_thing_pushes_another_and_is_not_pushed_itself() -> None:
    stage = Stage("block", "ball")
    stage.put("block", 0.0, 0.0, 0.12)
    stage.put("ball", 0.6, 0.0, 0.14)
    stage.stand("solver", -1.0, 0.0, at="block")
    block, ball = stage.index["block"], stage.index["ball"]
    stage.play(5, grasp=1)
    before = stage.facts
    stage.play(3, grasp=1, forward=1)
    assert stage.facts.things[block].pushed is None, "what is held is carried"
    stage.play(12, grasp=1, forward=1)
    now = stage.facts
    assert predicates.pushed_with(now, ball, block, "solver", since=before.time)
    assert predicates.touched(now, ball, block, "solver") and now.things[ball].pushed is None
    assert not predicates.pushed_with(now, ball, block, "setter") and not predicates.pushed_with(
        now, block, ball, "solver"
    )
    assert not predicates.pushed_with(now, ball, block, "solver", since=now.time), "that was before"


def test_what_is_let_go_and_taken_up_again_was_not_driven_there() -> None:
    deed = ContactEvent(2.0, "solver", (1.0, 1.0, 0.1), tool=1)
    pushed = ContactEvent(2.0, "solver", (1.0, 1.0, 0.1))
    carried = ContactEvent(3.0, "solver", (2.0, 1.0, 0.8))
    tool = thing(1, "blue ball", 4, 3)

    def there(**changes: object) -> HouseFacts:
        return house(thing(0, "red block", 2, 1, touched=deed, pushed=pushed, **changes), tool)

    assert predicates.pushed_with(there(), 0, 1, "solver") and predicates.pushed_by(there(), 0, "solver")
    for facts in (there(let_go=carried), held(there(), 0, "solver")):
        assert not predicates.pushed_with(facts, 0, 1, "solver") and not predicates.pushed_by(facts, 0, "solver")
        assert predicates.touched(facts, 0, 1, "solver"), "touched it was all the same"
    near = house(thing(0, "red block", 1.1, 1, touched=deed, pushed=pushed), tool)
    assert not predicates.pushed_with(near, 0, 1, "solver") and not predicates.pushed_by(near, 0, "solver")


@pytest.mark.parametrize(("nod", "walk", "fast"), [(0.01, 0.0, False), (0.0, 1.0, True)])
def test_a_walk_hits_and_a_nod_touches(nod: float, walk: float, fast: bool) -> None:
    stage = Stage("block", "box")
    stage.put("block", 0.0, 0.0, 0.12)
    stage.put("box", 0.5, 0.0, 0.13)
    stage.stand("solver", -0.7, 0.0, at="block")
    block, box = stage.index["block"], stage.index["box"]
    stage.play(8, grasp=1)
    assert stage.facts.things[box].touched is None
    stage.play(30, grasp=1, pitch=nod, forward=walk)
    facts = stage.facts
    assert predicates.touched(facts, box, block, "solver")
    assert predicates.hit(facts, box, block, "solver") == fast
    assert not predicates.hit(facts, box, block, "setter")


def test_what_is_held_touches_what_it_leans_on() -> None:
    stage = Stage("block", "box")
    stage.put("block", 0.0, 0.0, 0.12)
    stage.put("box", 0.9, 0.0, 0.13)
    stage.stand("solver", -1.0, 0.0, at="block")
    block, box = stage.index["block"], stage.index["box"]
    stage.play(5, grasp=1)
    assert not predicates.touched(stage.facts, box, block, "solver")
    for _ in range(40):
        stage.play(1, grasp=1, forward=0.5)
        if predicates.touched(stage.facts, box, block, "solver"):
            break
    facts = stage.facts
    assert predicates.touched(facts, box, block, "solver")
    assert predicates.gap(facts.things[block], facts.things[box]) < 0.06
    assert not predicates.touched(facts, box, block, "setter"), "an empty hand touches nothing"


@pytest.mark.parametrize(("throw", "flies"), [(1.0, True), (0.0, False)])
def test_a_throw_travels_and_a_drop_does_not(throw: float, flies: bool) -> None:
    stage = Stage("block")
    stage.put("block", -0.6, 0.0, 0.12)
    stage.stand("solver", -1.5, 0.0, at="block")
    stage.play(25, grasp=1, pitch=math.radians(2))
    block = stage.index["block"]
    before = stage.facts
    assert before.things[block].held_by == "solver" and before.things[block].let_go is None
    stage.play(1, grasp=throw, throw=throw)
    stage.play(60)
    now = stage.facts
    release = now.things[block].let_go
    assert release is not None and (release.role, release.tool) == ("solver", None)
    assert release.time == pytest.approx(before.time, abs=1e-5)
    assert release.place == pytest.approx(before.things[block].position, abs=0.02)
    assert predicates.thrown(now, block, "solver", since=before.time) == flies
    assert not predicates.thrown(now, block, "setter") and not predicates.thrown(now, block, "solver", since=now.time)
    assert not predicates.thrown(before, block, "solver"), "nothing is thrown that was not held"


def test_what_is_pushed_after_it_was_let_go_was_not_thrown() -> None:
    release = ContactEvent(2.0, "solver", (1.0, 1.0, 0.8))
    assert predicates.thrown(house(thing(0, "red block", 3, 1, let_go=release)), 0, "solver")
    kicked = house(thing(0, "red block", 3, 1, let_go=release, pushed=ContactEvent(3.0, "solver", (1.1, 1.0, 0.1))))
    before = house(thing(0, "red block", 3, 1, let_go=release, pushed=ContactEvent(1.0, "solver", (1.1, 1.0, 0.1))))
    assert not predicates.thrown(kicked, 0, "solver") and predicates.thrown(before, 0, "solver")
    assert not predicates.thrown(held(before, 0, "solver"), 0, "solver")


def test_a_bin_is_lifted_with_its_ball_and_not_without() -> None:
    stage = Stage("bin", "lemon")
    stage.put("bin", 0.0, 0.0, 0.16)
    stage.put("lemon", 0.0, 0.0, 0.16)
    stage.play(20)
    stage.stand("solver", -1.0, 0.0, at="bin")
    stage.play(2, pitch=math.radians(-3))  # at the wall before the lemon
    container, lemon = stage.index["bin"], stage.index["lemon"]
    before = stage.facts
    assert [t.index for t in predicates.contents(before, before.things[container])] == [lemon]
    task = LiftContainer(
        kind="lift_container", instruction="lift it", solver="solver", target=container, contents=(lemon,)
    ).with_baseline(before)
    stage.play(5, grasp=1)
    assert not task.is_done(stage.facts)
    stage.play(25, grasp=1, pitch=math.radians(1))
    now = stage.facts
    assert task.is_done(now)
    things = list(now.things)
    things[lemon] = replace(things[lemon], position=(1.0, 1.0, 0.1))
    spilt = replace(now, things=tuple(things))
    assert not task.is_done(spilt) and replace(task, contents=()).is_done(spilt)


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
    task = HandOver(
        kind="hand_over", instruction="give it", solver="solver", target=book, candidates=(book,), setter="setter"
    )
    assert task.is_done(taken) and not task.is_done(offered)


def test_a_house_settles() -> None:
    stage = Stage("ball")
    stage.put("ball", 0.0, 0.0, 1.0)
    stage.play(6)
    assert not predicates.settled(stage.facts)
    stage.play(120)
    assert predicates.settled(stage.facts)
    assert predicates.settled(held(house(thing(0, "red ball", 1, 1)), 0, "solver"))
