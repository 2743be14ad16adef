"""Throw, push, touch, hit: what counts as done, how progress rises, what may be mistaken, and what is not asked."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numpy as np
import pytest
from house_scenes import SPEC, StillHouse, house, tasks_of, thing

from interplay.env.playhouse.house.action_codec import COMPONENTS
from interplay.env.playhouse.house.config import PlayhouseConfig
from interplay.env.playhouse.planning.ways_ahead import push_path_is_free
from interplay.env.playhouse.task_source import PlayhouseTasks
from interplay.env.playhouse.tasks.instructions.lift_and_throw import Throw, ThrowOut
from interplay.env.playhouse.tasks.instructions.push_and_tools import Hit, Push, PushWith, TouchWith, UseTool
from interplay.env.playhouse.tasks.kinds import KINDS as TASK_KINDS
from interplay.env.playhouse.tasks.playhouse_task import PlayhouseTask
from interplay.env.playhouse.truth.facts import ContactEvent, HouseFacts
from interplay.env.task import InfeasibleTask, words

if TYPE_CHECKING:
    from interplay.env.playhouse.world import Playhouse

KINDS = ("throw", "throw_out", "push", "push_with", "touch_with", "hit")
BALL, BLOCK, DUCK = thing(0, "red ball", 3, 2), thing(1, "blue block", 1, 3.4), thing(2, "green duck", 4, 0.7)
BOOK = thing(3, "pink book", 7, 1)
TABLE = thing(4, "brown table", 2.5, 0.35, 0.25, half_extents=(0.35, 0.35, 0.25), furniture=True)
SCENE = house(BALL, BLOCK, DUCK, BOOK, TABLE)
ASKED = 10.0
T = TypeVar("T", bound=PlayhouseTask)


class FullHouse(StillHouse):
    """A still house whose players have every movement."""

    spec = replace(SPEC, movement=COMPONENTS)

    def __init__(self, facts: HouseFacts, **config: Any) -> None:
        super().__init__(facts)
        self.config = PlayhouseConfig(**config)


def tasks(facts: HouseFacts = SCENE, **config: Any) -> PlayhouseTasks:
    return tasks_of(FullHouse(facts, **config))


def changed(facts: HouseFacts, index: int, **changes: object) -> HouseFacts:
    things = list(facts.things)
    things[index] = replace(things[index], **changes)  # type: ignore[arg-type]
    return replace(facts, things=tuple(things))


def solver(facts: HouseFacts, **changes: object) -> HouseFacts:
    body = replace(facts.bodies["solver"], **changes)  # type: ignore[arg-type]
    return replace(facts, bodies={**facts.bodies, "solver": body})


def taken(facts: HouseFacts, index: int, x: float, y: float) -> HouseFacts:
    """The solver holds a thing there."""
    return solver(changed(facts, index, held_by="solver", position=(x, y, 0.8)), holding=index)


def set_at(task: type[T], start: HouseFacts = SCENE, **fields: Any) -> T:
    """A task that was set at `ASKED`."""
    made = task(kind="a kind", instruction="words", solver="solver", **fields)
    return made.with_baseline(replace(start, time=ASKED))


def did(
    at: float = 11.0, role: str = "solver", place: tuple[float, float, float] = (3, 2, 0.1), **tool: int
) -> ContactEvent:
    return ContactEvent(at, role, place, **tool)


@pytest.mark.parametrize("kind", KINDS)
def test_a_task_survives_json_and_is_not_yet_done(kind: str) -> None:
    source, said = tasks(), set()
    for seed in range(40):
        task = source.sample(kind, np.random.default_rng(seed))
        assert source.load(json.loads(json.dumps(task.to_json()))) == task
        assert task.kind == kind and not task.success(SCENE, []) and task.progress(SCENE) <= 0.3
        named = [each for each in SCENE.things if each.name in task.instruction]
        assert len(named) == (2 if kind in ("push_with", "touch_with", "hit") else 1)
        said.add(tuple(words(task.instruction)[:2]))
    wordings = TASK_KINDS[kind].wordings
    assert len(wordings) >= 6 and len(set(wordings)) == len(wordings) and len(said) >= 4


@pytest.mark.parametrize("kind", KINDS)
def test_a_solver_mistakes_one_thing_for_another(kind: str) -> None:
    for seed in range(20):
        task = tasks().sample(kind, np.random.default_rng(seed))
        wrong = task.misread(cast("Playhouse", FullHouse(SCENE)), np.random.default_rng(seed))
        assert isinstance(task, Throw | Push | UseTool) and isinstance(wrong, type(task))
        if kind != "throw_out":  # the den has but one thing
            assert wrong != task
        if isinstance(task, UseTool) and isinstance(wrong, UseTool):
            assert (wrong.target != task.target) != (wrong.other != task.other) and wrong.target != wrong.other
        assert wrong.instruction == task.instruction and not wrong.success(SCENE, [])


def test_thrown_is_let_go_and_flown_since_it_was_asked() -> None:
    throw = set_at(Throw, target=0)
    held = taken(SCENE, 0, 2.0, 2.0)
    flown = changed(SCENE, 0, position=(4.2, 2.0, 0.1), let_go=did())
    levels = [throw.progress(facts) for facts in (solver(SCENE, yaw=3.0), SCENE, held, flown)]
    assert levels == sorted(set(levels)) and levels[-1] == 1.0 and throw.success(flown, [])
    for other in (
        changed(flown, 0, let_go=did(at=9.0)),
        changed(flown, 0, let_go=did(role="setter")),
        changed(flown, 0, position=(3.9, 2.0, 0.1)),
        changed(flown, 0, pushed=did(at=11.5)),
        taken(flown, 0, 4.2, 2.0),
    ):
        assert not throw.success(other, []) and throw.progress(other) < 1.0


def test_thrown_out_is_thrown_from_the_room_into_another() -> None:
    out = set_at(ThrowOut, target=0, room="hall")
    gone = changed(SCENE, 0, position=(6.4, 3.0, 0.1), room="den", let_go=did(place=(4.7, 3.0, 1.4)))
    carried = changed(gone, 0, let_go=did(place=(5.3, 3.0, 1.4)))
    within = changed(SCENE, 0, position=(4.2, 2.0, 0.1), let_go=did())
    assert out.success(gone, []) and not out.success(carried, []) and not out.success(within, [])
    held, ready = taken(SCENE, 0, 2.0, 2.0), solver(taken(SCENE, 0, 4.5, 3.0), position=(3.6, 3.0))
    levels = [out.progress(facts) for facts in (SCENE, held, ready, gone)]
    assert levels == sorted(set(levels)) and levels[-1] == 1.0


def test_pushed_is_moved_by_the_body_since_it_was_asked() -> None:
    push = set_at(Push, target=0)
    near = solver(SCENE, position=(2.6, 2.0))
    begun = changed(near, 0, position=(3.1, 2.0, 0.1), pushed=did())
    pushed = changed(near, 0, position=(3.3, 2.0, 0.1), pushed=did())
    levels = [push.progress(facts) for facts in (solver(SCENE, yaw=3.0), SCENE, near, begun, pushed)]
    assert levels == sorted(set(levels)) and levels[-1] == 1.0 and push.success(pushed, [])
    for other in (
        begun,
        changed(pushed, 0, pushed=did(at=9.0)),
        changed(pushed, 0, pushed=did(role="setter")),
        changed(pushed, 0, pushed=None, touched=did(tool=1)),
        changed(pushed, 0, let_go=did(at=12.0, place=(3.3, 2, 0.8))),
    ):
        assert not push.success(other, [])


@pytest.mark.parametrize(
    ("make", "sort"), [(TouchWith, "touched"), (Hit, "hit"), (PushWith, "touched")], ids=["touch", "hit", "push"]
)
def test_a_deed_with_a_tool_takes_that_tool(make: type[UseTool], sort: str) -> None:
    task = set_at(make, target=1, other=0)
    held, there = taken(SCENE, 1, 1.0, 2.6), taken(SCENE, 1, 2.75, 2.0)
    moved = (3.3, 2.0, 0.1) if make is PushWith else BALL.position
    done = changed(there, 0, position=moved, **{sort: did(tool=1)})
    levels = [task.progress(facts) for facts in (SCENE, held, there, done)]
    assert levels == sorted(set(levels)) and levels[-1] == 1.0 and task.success(done, [])
    assert task.success(changed(done, 1, held_by=None), []), "once it is done, the tool may be put down"
    for deed in (did(tool=2), did(at=9.0, tool=1), did(role="setter", tool=1), None):
        assert not task.success(changed(done, 0, **{sort: deed}), [])


def test_a_blow_that_was_too_soft_is_on_the_way_to_one() -> None:
    hit = set_at(Hit, target=1, other=0)
    there = taken(SCENE, 1, 2.75, 2.0)
    soft = changed(there, 0, touched=did(tool=1))
    assert hit.progress(there) < hit.progress(soft) < 1.0 and not hit.success(soft, [])


def test_a_push_that_has_begun_is_on_the_way_to_one() -> None:
    push = set_at(PushWith, target=1, other=0)
    begun = changed(taken(SCENE, 1, 2.75, 2.0), 0, position=(3.1, 2.0, 0.1), touched=did(tool=1))
    assert push.progress(taken(SCENE, 1, 2.75, 2.0)) < push.progress(begun) < 1.0 and not push.success(begun, [])


def test_only_what_lies_free_on_the_floor_is_asked_to_be_pushed() -> None:
    on_table = replace(BALL, position=(2.5, 0.35, 0.6))
    cornered = replace(BLOCK, position=(0.12, 3.88, 0.1))
    box = thing(2, "green bin", 3, 3, 0.16, half_extents=(0.2, 0.2, 0.16), attributes=frozenset({"container"}))
    inside = replace(BOOK, position=(3, 3, 0.14), room="hall")
    facts = house(on_table, cornered, box, inside, TABLE)
    asked = {tasks(facts).sample("push", np.random.default_rng(seed)).to_json()["target"] for seed in range(20)}
    assert asked == {2}
    with pytest.raises(InfeasibleTask, match="clear way"):
        tasks(house(on_table, cornered)).sample("push", np.random.default_rng(0))
    furniture = {tasks().sample("touch_with", np.random.default_rng(seed)).to_json()["other"] for seed in range(60)}
    pushed = {tasks().sample("push_with", np.random.default_rng(seed)).to_json()["other"] for seed in range(60)}
    assert 4 in furniture and 4 not in pushed, "furniture stands still"


def test_a_way_is_as_wide_as_what_is_pushed_along_it() -> None:
    pillars = [
        thing(1, "white lamp", 2.5, 2.65, 0.7, half_extents=(0.1, 0.1, 0.7), furniture=True),
        thing(2, "white rack", 2.5, 1.35, 0.7, half_extents=(0.1, 0.1, 0.7), furniture=True),
    ]
    for wide, passes in ((0.2, True), (0.6, False)):
        box = thing(0, "red box", 2.0, 2.0, 0.1, half_extents=(wide, wide, 0.1))
        facts = house(box, *pillars, at=(0.6, 2.0))
        assert push_path_is_free(facts, "solver", box, (0.6, 2.0)) == passes


@pytest.mark.parametrize("kind", ["push_with", "touch_with", "hit"])
def test_what_is_close_or_stowed_away_is_not_a_tool_for_another(kind: str) -> None:
    near = house(BALL, replace(BLOCK, position=(3.5, 2.0, 0.1)), DUCK)
    box = thing(3, "green bin", 1, 2, 0.16, half_extents=(0.2, 0.2, 0.16), attributes=frozenset({"container"}))
    stowed = house(BALL, replace(BLOCK, position=(1.0, 2.0, 0.14)), DUCK, box, at=(2.0, 0.5))
    for seed in range(30):
        rng = np.random.default_rng(seed)
        asked = tasks(near).sample(kind, rng).to_json()
        assert {asked["target"], asked["other"]} != {0, 1}
        asked = tasks(stowed).sample(kind, rng).to_json()
        assert 1 not in (asked["target"], asked["other"])


@pytest.mark.parametrize("kind", KINDS)
def test_what_can_not_be_judged_or_done_is_not_asked(kind: str) -> None:
    with pytest.raises(InfeasibleTask, match=r"env\.track_contacts=true"):
        tasks(track_contacts=False).sample(kind, np.random.default_rng(0))
    if kind.startswith("throw"):
        armless = tasks_of(StillHouse(SCENE))
        with pytest.raises(InfeasibleTask, match="lack throw"):
            armless.sample(kind, np.random.default_rng(0))


def pairs_drawn(facts: HouseFacts, kind: str) -> set[tuple[int, int | None]]:
    """The things that such tasks are about: the target, and the other where there is one."""
    drawn = [tasks(facts).sample(kind, np.random.default_rng(seed)).to_json() for seed in range(60)]
    return {(task["target"], task.get("other")) for task in drawn}


def test_what_was_just_pushed_is_not_asked_to_be_pushed() -> None:
    """Its place is where that push began, so a nudge would do."""
    now = replace(SCENE, time=20.0)
    last, ball = did(now.time - 1.9), (0, None)
    assert ball in pairs_drawn(now, "push")
    for age in (0.0, 1.9):
        assert ball not in pairs_drawn(changed(now, 0, pushed=did(now.time - age)), "push")
    assert ball in pairs_drawn(changed(now, 0, pushed=replace(last, role="setter")), "push")
    assert ball in pairs_drawn(changed(now, 0, pushed=did(now.time - 2.1)), "push")
    assert ball in pairs_drawn(changed(now, 0, touched=replace(last, tool=1)), "push")


def test_what_was_just_pushed_with_something_is_not_asked_to_be_pushed_with_that() -> None:
    now = replace(SCENE, time=20.0)
    assert {(1, 0), (2, 0)} <= pairs_drawn(now, "push_with")
    lately = pairs_drawn(changed(now, 0, touched=did(now.time - 1.9, tool=1)), "push_with")
    assert (1, 0) not in lately and (2, 0) in lately
    assert (1, 0) in pairs_drawn(changed(now, 0, touched=did(now.time - 2.1, tool=1)), "push_with")


def test_nothing_is_thrown_out_of_the_only_room() -> None:
    single = replace(house(BALL, BLOCK), rooms=SCENE.rooms[:1], doorways=())
    with pytest.raises(InfeasibleTask, match="doorway"):
        tasks(single).sample("throw_out", np.random.default_rng(0))
