"""The errands of the hand, on built houses: when they are done, how far they have come, what may be mistaken."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any, cast

import numpy as np
import pytest
from house_scenes import SPEC, StillHouse, house, tasks_of, thing

from interplay.env.playhouse.house.action_codec import COMPONENTS
from interplay.env.playhouse.house.config import PlayhouseConfig
from interplay.env.playhouse.task_source import PlayhouseTasks
from interplay.env.playhouse.tasks.instructions.bring_and_reposition import Bring, HandOver, Reposition
from interplay.env.playhouse.tasks.instructions.lift_and_throw import LiftContainer
from interplay.env.playhouse.tasks.instructions.object_instruction import ObjectInstruction, PlaceObjects
from interplay.env.playhouse.tasks.instructions.put import Fill, Put, Remove
from interplay.env.playhouse.truth.facts import HouseFacts, Thing
from interplay.env.playhouse.world import Playhouse
from interplay.env.task import InfeasibleTask

KINDS = (
    "put_on", "put_in", "put_under", "reposition", "bring", "hand_over", "remove", "lift_container", "fill",
)  # fmt: skip
CONTAINER = frozenset({"container"})
TABLE = thing(0, "brown table", 4.2, 2, 0.25, half_extents=(0.35, 0.35, 0.25), furniture=True)
CHEST = thing(1, "white chest", 7, 3.7, 0.25, half_extents=(0.25, 0.25, 0.25), furniture=True)
BIN = thing(2, "blue bin", 3.0, 1.0, 0.21, half_extents=(0.26, 0.26, 0.21), attributes=CONTAINER)
OTHER_BIN = thing(3, "pink bin", 2.0, 3.2, 0.21, half_extents=(0.26, 0.26, 0.21), attributes=CONTAINER)
INSIDE = thing(4, "green soap", 2.9, 1.0, 0.1, half_extents=(0.1, 0.06, 0.05))
INSIDE_TOO = thing(5, "yellow candle", 3.1, 1.0, 0.2, half_extents=(0.06, 0.06, 0.15))
BALL = thing(6, "red lemon", 3.0, 2.6, half_extents=(0.1, 0.1, 0.1))
RED = thing(7, "red roll", 7.0, 1.0, half_extents=(0.08, 0.08, 0.08))
BLOCK = thing(8, "white block", 6.0, 2.0, half_extents=(0.12, 0.12, 0.12))
SCENE = house(TABLE, CHEST, BIN, OTHER_BIN, INSIDE, INSIDE_TOO, BALL, RED, BLOCK)


class FullHouse(StillHouse):
    """A world whose players have all movements."""

    spec = replace(SPEC, movement=COMPONENTS)
    config = PlayhouseConfig()


def still(facts: HouseFacts) -> Playhouse:
    return cast("Playhouse", FullHouse(facts))


def ask(kind: str, seed: int = 0, facts: HouseFacts = SCENE) -> ObjectInstruction:
    task = tasks_of(still(facts)).sample(kind, np.random.default_rng(seed))
    assert isinstance(task, ObjectInstruction)
    return task


def with_thing(facts: HouseFacts, index: int, **changes: Any) -> HouseFacts:
    things = list(facts.things)
    things[index] = replace(things[index], **changes)
    holder = things[index].held_by
    bodies = {
        role: replace(body, holding=index if role == holder else None if body.holding == index else body.holding)
        for role, body in facts.bodies.items()
    }
    return replace(facts, things=tuple(things), bodies=bodies)


def at(facts: HouseFacts, index: int, x: float, y: float, bottom: float, **changes: Any) -> HouseFacts:
    """The same house with a thing elsewhere, in nobody's hand unless told."""
    half = facts.things[index].half_extents[2]
    moved = {"position": (x, y, bottom + half), "room": "hall" if x <= 5.0 else "den", "held_by": None}
    return with_thing(facts, index, **{**moved, **changes})


def about(task: type[PlaceObjects], kind: str, *things: Thing, **fields: Any) -> Any:
    """An instruction about these things, all of which must arrive unless told, set in the scene."""
    indices = tuple(thing.index for thing in things)
    fields = {"target": indices[0], "candidates": indices, "count": len(indices), **fields}
    return task(kind=kind, instruction="do it", solver="solver", **fields).with_baseline(SCENE)


def rungs(errand: ObjectInstruction, *moments: HouseFacts) -> list[float]:
    return [errand.progress(facts) for facts in moments]


@pytest.mark.parametrize("kind", KINDS)
def test_it_is_asked_on_request_stored_and_not_yet_done(kind: str) -> None:
    assert kind in PlayhouseTasks.optional_kinds and kind not in PlayhouseTasks.kinds
    source = tasks_of(still(SCENE))
    for seed in range(30):
        task = ask(kind, seed)
        assert task.kind == kind and not task.success(SCENE, []) and task.progress(SCENE) <= 0.2
        assert source.load(json.loads(json.dumps(task.to_json()))) == task


@pytest.mark.parametrize("kind", KINDS)
def test_it_has_six_wordings_that_name_real_things(kind: str) -> None:
    names = [name for t in SCENE.things for name in (t.name, f"{t.category}s")]
    names += ["bedroom", "living room", "red things", "round things"]
    asked = [ask(kind, seed) for seed in range(120)]
    wordings = set()
    for task in asked:
        text = task.instruction
        found = sorted((name for name in names if name in text), key=len, reverse=True)
        assert found, text
        for name in found:
            text = text.replace(name, "*")
        wordings.add(text)
    assert len(wordings) >= 6, wordings


@pytest.mark.parametrize("kind", KINDS)
def test_a_misunderstanding_is_about_something_else(kind: str) -> None:
    changed = 0
    for seed in range(30):
        task = ask(kind, seed)
        misread = task.misread(still(SCENE), np.random.default_rng(seed))
        assert misread.instruction == task.instruction and misread.kind == kind
        assert not misread.success(SCENE, [])
        changed += misread != task
    assert changed >= (10 if kind == "fill" else 25) or kind == "lift_container"


def test_places_and_things_are_mistaken_alike() -> None:
    task = about(Put, "put_in", BALL, other=BIN.index)
    mistakes = [task.misread(still(SCENE), np.random.default_rng(seed)) for seed in range(60)]
    assert {m.other for m in mistakes} == {BIN.index, OTHER_BIN.index}
    assert all((m.target == BALL.index) != (m.other == BIN.index) for m in mistakes)
    wrong = {m.target for m in mistakes if m.other == BIN.index}
    assert wrong and not wrong & {BIN.index, INSIDE.index, INSIDE_TOO.index}
    moved = about(Reposition, "reposition", RED, room="hall")
    assert {m.room for m in (moved.misread(still(SCENE), np.random.default_rng(s)) for s in range(40))} == {"hall"}
    to_chest = about(Reposition, "reposition", BALL, other=CHEST.index)
    assert TABLE.index in {
        m.other for m in (to_chest.misread(still(SCENE), np.random.default_rng(s)) for s in range(40))
    }


@pytest.mark.parametrize("kind", KINDS)
def test_who_lacks_a_movement_or_a_setter_is_told_so(kind: str) -> None:
    world = still(SCENE)
    object.__setattr__(world, "spec", SPEC)
    source = tasks_of(world)
    if kind == "lift_container":
        source.sample(kind, np.random.default_rng(0))
        return
    with pytest.raises(InfeasibleTask, match="push, strafe"):
        source.sample(kind, np.random.default_rng(0))


@pytest.mark.parametrize("kind", ["bring", "hand_over"])
def test_nothing_is_brought_to_a_setter_who_is_not_there(kind: str) -> None:
    world = still(SCENE)
    object.__setattr__(world, "config", PlayhouseConfig(setter_visible=False))
    with pytest.raises(InfeasibleTask, match="setter_visible"):
        tasks_of(world).sample(kind, np.random.default_rng(0))


@pytest.mark.parametrize(
    ("kind", "other", "done", "undone"),
    [
        ("put_on", TABLE, (4.2, 2.0, 0.5), (4.2, 2.0, 0.0)),
        ("put_on", BLOCK, (6.0, 2.0, 0.24), (6.3, 2.0, 0.0)),
        ("put_in", BIN, (3.0, 1.0, 0.1), (3.0, 1.0, 0.42)),
        ("put_under", TABLE, (4.2, 2.0, 0.0), (4.2, 2.0, 0.5)),
    ],
)
def test_put_is_let_go_in_its_place(
    kind: str, other: Thing, done: tuple[float, float, float], undone: tuple[float, float, float]
) -> None:
    put = about(Put, kind, BALL, other=other.index)
    there = at(SCENE, BALL.index, *done)
    assert put.success(there, []) and put.progress(there) == 1.0
    assert not put.success(at(SCENE, BALL.index, *undone), [])
    held = at(SCENE, BALL.index, *done, held_by="solver", at_rest=False)
    assert not put.success(held, []) and put.progress(held) == pytest.approx(0.8)


def test_progress_rises_on_the_way_and_falls_with_a_drop() -> None:
    put = about(Put, "put_on", BALL, other=TABLE.index)
    away = replace(SCENE, bodies={**SCENE.bodies, "solver": replace(SCENE.bodies["solver"], yaw=3.0)})
    seen = replace(SCENE, bodies={**SCENE.bodies, "solver": replace(SCENE.bodies["solver"], yaw=0.29, pitch=-0.5)})
    held = at(SCENE, BALL.index, 2.0, 2.4, 0.9, held_by="solver", at_rest=False)
    near = at(SCENE, BALL.index, 3.7, 2.0, 0.9, held_by="solver", at_rest=False)
    dropped = at(SCENE, BALL.index, 3.7, 2.0, 0.0)
    levels = rungs(put, away, seen, held, near, at(SCENE, BALL.index, 4.2, 2.0, 0.5))
    assert levels == sorted(levels) and levels[0] == 0.0 and levels[-1] == 1.0 and len(set(levels)) == 5
    assert 0.1 <= put.progress(dropped) < put.progress(near) - 0.3


def test_to_reposition_is_to_leave_it_in_the_room_or_at_the_furniture() -> None:
    room = about(Reposition, "reposition", BALL, room="den")
    inside = at(SCENE, BALL.index, 6.5, 2.5, 0.0)
    assert room.success(inside, []) and not room.success(SCENE, [])
    assert not room.success(at(SCENE, BALL.index, 6.5, 2.5, 1.0, held_by="solver"), [])
    on_the_way = at(SCENE, BALL.index, 4.9, 3.0, 1.0, held_by="solver")
    assert 0.75 < room.progress(on_the_way) < 1.0
    chest = about(Reposition, "reposition", BALL, other=CHEST.index)
    for x, y, bottom in ((7.0, 3.7, 0.5), (7.0, 3.1, 0.0)):
        assert chest.success(at(SCENE, BALL.index, x, y, bottom), [])
    assert not chest.success(at(SCENE, BALL.index, 6.5, 2.0, 0.0), [])


def test_what_is_brought_came_to_the_setter_and_was_not_there_before() -> None:
    bring = about(Bring, "bring", BALL, setter="setter")
    near = at(SCENE, BALL.index, 1.2, 0.6, 0.0)
    assert bring.success(near, []) and not bring.success(SCENE, [])
    assert not bring.success(at(SCENE, BALL.index, 1.2, 0.6, 0.0, room="den"), []), "behind a wall"
    assert bring.success(at(SCENE, BALL.index, 1.2, 0.6, 0.9, held_by="solver"), []), "held out is brought"
    walked = {**SCENE.bodies, "setter": replace(SCENE.bodies["setter"], position=(2.4, 2.6))}
    assert not bring.success(replace(SCENE, bodies=walked), []), "the setter walked up to it"
    half = at(SCENE, BALL.index, 2.0, 1.8, 0.9, held_by="solver")
    assert 0.45 < bring.progress(half) < 0.8


def test_of_several_so_many_must_come() -> None:
    bring = about(Bring, "bring", BALL, RED, BLOCK, count=2, setter="setter")
    first = at(SCENE, RED.index, 1.2, 0.6, 0.0)
    both = at(first, BLOCK.index, 0.6, 1.5, 0.0)
    carried = at(first, BLOCK.index, 3.0, 3.0, 0.9, held_by="solver")
    levels = rungs(bring, SCENE, first, carried, both)
    assert levels == sorted(levels) and levels[-1] == 1.0 and 0.5 <= levels[1] < 0.6 and 0.7 < levels[2] < 1.0
    assert bring.success(both, []) and not bring.success(first, [])
    gone = at(both, RED.index, 4.0, 3.5, 0.0)
    assert not bring.success(gone, []) and bring.progress(gone) < 0.7


def test_several_are_asked_for_by_what_they_share() -> None:
    several = {ask("bring", seed).instruction for seed in range(80)}
    assert any("two red things" in text for text in several)
    both = next(t for s in range(80) if "two red things" in (t := ask("bring", s)).instruction)
    assert isinstance(both, Bring) and set(both.candidates) == {BALL.index, RED.index} and both.count == 2


def test_handed_over_is_in_the_setters_hand() -> None:
    task = about(HandOver, "hand_over", BALL, setter="setter")
    offered = at(SCENE, BALL.index, 1.0, 0.5, 0.9, held_by="solver")
    taken = at(SCENE, BALL.index, 1.0, 0.5, 0.9, held_by="setter")
    assert task.success(taken, []) and not task.success(offered, []) and task.progress(offered) == pytest.approx(0.8)
    assert not task.success(at(SCENE, BALL.index, 0.8, 0.5, 0.0), []), "laid down is not handed over"
    assert task.partner(still(SCENE)) is not None and ask("bring").partner(still(SCENE)) is None


def test_removed_is_out_of_the_bin_and_not_over_it() -> None:
    task = about(Remove, "remove", INSIDE, other=BIN.index)
    raised = at(SCENE, INSIDE.index, 3.0, 1.0, 0.6, held_by="solver")
    aside = at(SCENE, INSIDE.index, 2.4, 1.0, 0.6, held_by="solver")
    assert not task.success(raised, []) and task.success(aside, []) and task.success(at(SCENE, 4, 2, 1, 0.0), [])
    assert not task.success(at(SCENE, INSIDE.index, 3.0, 1.0, 0.42), []), "on the rim"
    lifted = at(SCENE, INSIDE.index, 3.0, 1.0, 0.25, held_by="solver")
    levels = rungs(task, SCENE, lifted, raised, aside)
    assert levels == sorted(levels) and 0.45 < levels[1] < levels[2] < levels[3] == 1.0


def test_everything_is_removed_once_nothing_is_left() -> None:
    task = about(Remove, "remove", INSIDE, INSIDE_TOO, other=BIN.index)
    first = at(SCENE, INSIDE.index, 2.0, 1.0, 0.0)
    assert not task.success(first, []) and 0.5 <= task.progress(first) < 0.7
    assert task.success(at(first, INSIDE_TOO.index, 2.0, 1.5, 0.0), [])
    forgetful = task.misread(still(SCENE), np.random.default_rng(0))
    assert isinstance(forgetful, Remove) and forgetful.count == len(forgetful.candidates) == 1
    asked = {ask("remove", seed).count for seed in range(40)}  # type: ignore[attr-defined]
    assert asked == {1, 2}


def test_filled_counts_only_what_is_in_the_right_bin() -> None:
    task = about(Fill, "fill", BALL, RED, other=OTHER_BIN.index)
    first = at(SCENE, BALL.index, 1.9, 3.2, 0.05)
    both = at(first, RED.index, 2.1, 3.2, 0.05)
    wrong = at(first, RED.index, 3.0, 1.0, 0.1)
    assert task.success(both, []) and not task.success(first, []) and not task.success(wrong, [])
    levels = rungs(task, SCENE, first, both)
    assert levels == sorted(levels) and 0.5 <= levels[1] < 0.65 and levels[2] == 1.0


def test_a_container_is_lifted_with_all_that_was_in_it() -> None:
    task = ask("lift_container")
    assert isinstance(task, LiftContainer)
    assert task.target == BIN.index and set(task.contents) == {INSIDE.index, INSIDE_TOO.index}
    up = SCENE
    for index, x in ((BIN.index, 3.0), (INSIDE.index, 2.9), (INSIDE_TOO.index, 3.1)):
        bottom = SCENE.things[index].position[2] - SCENE.things[index].half_extents[2] + 0.4
        up = at(up, index, x, 1.0, bottom, held_by="solver" if index == BIN.index else None)
    assert task.success(up, []) and task.progress(up) == 1.0
    spilt = at(up, INSIDE.index, 2.4, 1.0, 0.0)
    assert not task.success(spilt, []) and task.progress(spilt) == pytest.approx(0.5)
