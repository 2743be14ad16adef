"""Instructions to arrange several things: what is asked, how it is judged, and that it can be done in real houses."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import pairwise
from typing import cast

import numpy as np
import pytest
from house_scenes import SPEC, StillHouse, house, one_room, tasks_of, thing
from seeded_tasks import asked

from interplay.env.playhouse.control.place_experts import ArrangeExpert
from interplay.env.playhouse.control.skills import Steering
from interplay.env.playhouse.house.action_codec import COMPONENTS
from interplay.env.playhouse.house.config import PlayhouseConfig
from interplay.env.playhouse.planning.layouts import ArrangementPlan
from interplay.env.playhouse.task_source import PlayhouseTasks
from interplay.env.playhouse.tasks.instructions import arrangement
from interplay.env.playhouse.tasks.instructions.arrangement import Arrangement
from interplay.env.playhouse.truth import predicates
from interplay.env.playhouse.truth.facts import HouseFacts
from interplay.env.playhouse.world import Playhouse
from interplay.env.task import InfeasibleTask
from interplay.env.world import Start, World

KINDS = ("tower", "row", "triangle", "square", "circle", "group")
WORDINGS = (
    arrangement.TOWER_WORDINGS, arrangement.ROW_WORDINGS, arrangement.ROW_BY_SIZE_WORDINGS,
    arrangement.TRIANGLE_WORDINGS, arrangement.SQUARE_WORDINGS, arrangement.CIRCLE_WORDINGS,
    arrangement.GROUP_WORDINGS, arrangement.GROUP_AT_WORDINGS,
)  # fmt: skip
SIZES = (0.08, 0.1, 0.12, 0.14, 0.16, 0.168)  # the last two hardly differ
NAMES = ("red block", "red box", "white block", "white drum", "blue block", "blue ball")
PLACES = ((0.6, 0.6), (2.2, 0.8), (4.2, 0.6), (0.8, 3.2), (2.6, 3.0), (4.3, 2.0))
ROOM = one_room(
    house(
        *(
            thing(i, name, *place, half, half_extents=(half, half, half))
            for i, (name, place, half) in enumerate(zip(NAMES, PLACES, SIZES, strict=True))
        ),
        thing(6, "brown chest", 3.6, 3.7, 0.25, half_extents=(0.4, 0.25, 0.25), furniture=True),
        at=(2.5, 2.0),
    )
)


def tasks(facts: HouseFacts, config: PlayhouseConfig = StillHouse.config) -> PlayhouseTasks:
    still = StillHouse(facts)
    still.config = config
    still.spec = replace(SPEC, movement=tuple(each for each in COMPONENTS if each.name in config.components))
    return tasks_of(still)


def ask(kind: str, seed: int, facts: HouseFacts = ROOM) -> Arrangement:
    task = tasks(facts).sample(kind, np.random.default_rng(seed))
    assert isinstance(task, Arrangement)
    return task


def given(kind: str, shape: str, candidates: tuple[int, ...], count: int) -> Arrangement:
    return Arrangement(
        kind=kind,
        instruction="do it",
        solver="solver",
        shape=shape,
        candidates=candidates,
        count=count,
        baseline={"placed": 1},
    )


def moved(facts: HouseFacts, index: int, **changes: object) -> HouseFacts:
    changed = [replace(t, **changes) if t.index == index else t for t in facts.things]  # type: ignore[arg-type]
    return replace(facts, things=tuple(changed))


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_asked_is_stored_can_be_done_and_is_not_done_yet(kind: str) -> None:
    words = set()
    for seed in range(14):
        task = ask(kind, seed)
        assert tasks(ROOM).load(json.loads(json.dumps(task.to_json()))) == task
        assert (task.kind, task.answer) == (kind, None)
        assert task.count <= len(task.candidates) and all(not ROOM.things[i].furniture for i in task.candidates)
        assert not task.success(ROOM, []) and task.progress(ROOM) < 0.4
        assert task.plan(ROOM) is not None
        words.add(task.instruction)
    assert len(words) >= 8


def test_every_wording_has_six_phrasings() -> None:
    assert all(len(set(wordings)) >= 6 for wordings in WORDINGS)
    assert all("{things}" in text for wordings in WORDINGS for text in wordings)


def test_words_are_true_of_what_may_be_used() -> None:
    for seed in range(60):
        task = ask("tower", seed)
        used = [ROOM.things[i] for i in task.candidates]
        for color in ("red", "white", "blue"):
            if f"the {color} objects" in task.instruction:
                assert {t.index for t in predicates.matching(ROOM, color=color)} == set(task.candidates)
                assert task.count == len(task.candidates)
        if "two blocks" in task.instruction:
            assert {t.category for t in used} == {"block"} and task.count == 2
        if "any three objects" in task.instruction:
            assert len(used) == 6 and task.count == 3
        assert "the blue objects" not in task.instruction, "a ball does not stack"


def test_what_the_setter_holds_is_none_of_those_that_may_be_used_and_what_the_solver_holds_is_one() -> None:
    for role, usable in (("setter", False), ("solver", True)):
        body = replace(ROOM.bodies[role], holding=2)
        held = replace(moved(ROOM, 2, held_by=role), bodies={**ROOM.bodies, role: body})
        asked = [ask(kind, seed, held) for kind in ("tower", "group") for seed in range(30)]
        white = [task for task in asked if "the white objects" in task.instruction]
        assert bool(white) == usable and all(task.candidates == (2, 3) for task in white)
        assert any(2 in task.candidates for task in asked) == usable
        assert any("two blocks" in task.instruction and len(task.candidates) == 2 + usable for task in asked)


def test_a_row_by_size_is_asked_of_clearly_different_things() -> None:
    ordered = [task for seed in range(60) if (task := ask("row", seed)).shape == "ordered row"]
    assert 5 < len(ordered) < 30
    for task in ordered:
        volumes = sorted(predicates.volume(ROOM.things[i]) for i in task.candidates)
        assert all(b > 1.25 * a for a, b in pairwise(volumes)) and len(volumes) == task.count


def test_things_are_gathered_with_and_without_furniture() -> None:
    asked = [ask("group", seed) for seed in range(30)]
    assert {task.furniture for task in asked} == {None, 6}
    assert all(("chest" in task.instruction) == (task.furniture == 6) for task in asked)


def test_nothing_is_asked_of_hands_that_can_not_push_or_of_too_few_things() -> None:
    plain = PlayhouseConfig(components=("forward", "yaw", "pitch", "grasp"))
    with pytest.raises(InfeasibleTask, match="push, strafe; add them to env"):
        tasks(ROOM, plain).sample("tower", np.random.default_rng(1))
    two = replace(ROOM, things=ROOM.things[:2])
    with pytest.raises(InfeasibleTask, match="square"):
        ask("square", 1, two)


def test_nothing_is_asked_that_the_floor_has_no_place_for() -> None:
    full = thing(6, "brown bed", 2.5, 2.0, 0.1, half_extents=(2.45, 1.95, 0.1), furniture=True)
    lifted = [replace(t, position=(*t.xy, t.position[2] + 0.2)) for t in ROOM.things[:6]]
    with pytest.raises(InfeasibleTask, match="row"):
        ask("row", 1, replace(ROOM, things=(*lifted, full)))


def test_a_plan_is_made_anew_where_something_comes_between() -> None:
    task = given("row", "row", (0, 1, 2), 3)
    world = StillHouse(ROOM)
    world.spec = replace(SPEC, movement=COMPONENTS)
    expert = ArrangeExpert(task, cast(World, world))
    expert.next_movement(ROOM)
    before = expert._plan
    assert isinstance(before, ArrangementPlan)
    index = next(i for i in before.spots if i not in before.staying)
    expert.next_movement(ROOM)
    assert expert._plan is before
    expert.next_movement(moved(ROOM, 5, position=(*before.spots[index], 0.168)))
    assert isinstance(expert._plan, ArrangementPlan) and expert._plan.spots != before.spots


def test_progress_has_a_rung_for_each_thing() -> None:
    task = given("tower", "tower", (0, 2, 4), 3)
    far = replace(ROOM, bodies={**ROOM.bodies, "solver": replace(ROOM.bodies["solver"], position=(4.8, 3.8))})
    held = moved(ROOM, 2, held_by="solver")
    held = replace(held, bodies={**held.bodies, "solver": replace(held.bodies["solver"], holding=2)})
    brought = moved(held, 2, position=(1.2, 0.8, 0.9))
    two = moved(ROOM, 2, position=(*ROOM.things[4].xy, 0.44))
    three = moved(two, 0, position=(*ROOM.things[4].xy, 0.64))
    rungs = [task.progress(facts) for facts in (far, ROOM, held, brought, two, three)]
    assert rungs == sorted(rungs) and len(set(rungs)) == len(rungs)
    assert rungs[-1] == 1.0 and task.success(three, []) and not task.success(two, [])
    assert task.progress(moved(three, 0, position=(1.0, 1.0, 0.08))) == pytest.approx(task.progress(two), abs=0.15)


def test_what_others_do_with_other_things_is_not_a_tower() -> None:
    stacked = moved(ROOM, 3, position=(*ROOM.things[1].xy, 0.34))
    assert not given("tower", "tower", (0, 2, 4), 2).success(stacked, [])
    assert given("tower", "tower", (1, 3), 2).success(stacked, [])


@pytest.mark.parametrize("kind", KINDS)
def test_a_confused_solver_would_do_something_else(kind: str) -> None:
    other = 0
    for seed in range(12):
        task = ask(kind, seed)
        meant = task.misread(cast("World", StillHouse(ROOM)), np.random.default_rng(seed))
        assert isinstance(meant, Arrangement) and meant.instruction == task.instruction
        if meant != task:
            other += 1
            assert meant.shape != task.shape or not set(meant.candidates) <= set(task.candidates)
            assert meant.plan(ROOM) is not None and meant.progress(ROOM) < 1.0
    assert other >= 8


@pytest.mark.parametrize("kind", KINDS)
def test_it_is_done_in_furnished_houses_and_progress_ends_at_one(kind: str) -> None:
    world, done = Playhouse(PlayhouseConfig()), 0
    for task in asked(world, kind, 4, seed=700):
        expert = task.expert(world)
        for _ in range(PlayhouseTasks.step_limits[kind]):
            action = expert.act(world)
            assert (action.movement == action.movement[0]).all(), "one action is held over the step"
            world.step({"solver": action}, observers=())
            if expert.finished:
                break
        done += task.success(world.facts(), [])
        assert (task.progress(world.facts()) == 1.0) == task.success(world.facts(), [])
    assert done >= 3


def test_a_tower_that_is_knocked_over_is_built_again() -> None:
    world = Playhouse(PlayhouseConfig())
    world.reset(Start(seed=103), observers=())
    task = world.tasks().sample("tower", np.random.default_rng(103))
    expert, knocked = task.expert(world), False
    for _ in range(2 * PlayhouseTasks.step_limits["tower"]):
        world.step({"solver": expert.act(world)}, observers=())
        held = world.facts().bodies["solver"].holding
        if held is not None and not knocked and world.facts().things[held].position[2] > 0.5:
            knocked = True
            world.step({"solver": expert.act(world)}, observers=())
            world.step({}, observers=())  # it opens its hand
        if expert.finished:
            break
    assert knocked and task.success(world.facts(), [])


def test_steering_pushes_turns_and_steps_aside_where_the_world_has_these_movements() -> None:
    whole = replace(SPEC, movement=COMPONENTS)
    steering = Steering(whole)
    chunk = steering.hold(grasp=True, push=1, rotate=-1, strafe=1)
    names = [component.name for component in COMPONENTS]
    assert {n: int(chunk[0, names.index(n)]) for n in ("push", "rotate", "strafe")} == {
        "push": 2,
        "rotate": 0,
        "strafe": 2,
    }
    assert (steering.hold() == whole.rest()).all()
