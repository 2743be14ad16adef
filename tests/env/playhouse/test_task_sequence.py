"""One thing and then another: done once both are, half of the progress each, and asked for in one sentence."""

from __future__ import annotations

from dataclasses import replace
from typing import cast

import numpy as np
import pytest
from house_scenes import StillHouse, house, one_room, thing

from interplay.env.playhouse.house.config import PlayhouseConfig
from interplay.env.playhouse.tasks.instructions.go_and_stand import Go
from interplay.env.playhouse.tasks.instructions.put import Position
from interplay.env.playhouse.tasks.instructions.sequence import TaskSequence
from interplay.env.playhouse.truth.facts import HouseFacts
from interplay.env.playhouse.world import Playhouse
from interplay.env.task import InfeasibleTask
from interplay.env.world import Start

BALL, BLOCK, DUCK = thing(0, "red ball", 4, 2), thing(1, "blue block", 1, 3.5), thing(2, "green duck", 4, 0.5)
SCENE = one_room(house(BALL, BLOCK, DUCK))
FIRST = Position(
    kind="position",
    instruction="put the red ball next to the blue block",
    solver="solver",
    target=0,
    other=1,
)
SECOND = Go(kind="go", instruction="go to the green duck", solver="solver", target=2)
TASK = TaskSequence(
    kind="in_turn",
    instruction="put the red ball next to the blue block and then go to the green duck",
    solver="solver",
    first=FIRST,
    second=SECOND,
).with_baseline(SCENE)


def with_ball(facts: HouseFacts, x: float, y: float) -> HouseFacts:
    return replace(facts, things=(replace(BALL, position=(x, y, 0.1)), *facts.things[1:]))


def at_duck(facts: HouseFacts) -> HouseFacts:
    there = replace(facts.bodies["solver"], position=(3.2, 0.5), yaw=0.0)
    return replace(facts, bodies={**facts.bodies, "solver": there})


def test_it_is_done_once_both_are() -> None:
    placed = with_ball(SCENE, 1.5, 3.5)
    assert not TASK.success(placed, ()) and not TASK.success(at_duck(SCENE), ())
    assert TASK.success(at_duck(placed), ())


def test_each_is_half_of_the_progress_and_the_first_may_come_undone() -> None:
    placed = with_ball(SCENE, 1.5, 3.5)
    levels = [TASK.progress(facts) for facts in (SCENE, placed, at_duck(placed))]
    assert levels[0] < 0.5 <= levels[1] < levels[2] == 1
    assert TASK.progress(at_duck(SCENE)) < 0.5


def test_a_misunderstanding_forgets_or_mistakes_one() -> None:
    world = cast("Playhouse", StillHouse(SCENE))
    meant = [TASK.misread(world, np.random.default_rng(seed)) for seed in range(30)]
    assert {type(task) for task in meant} == {TaskSequence, Go, Position}
    assert all(task.instruction == TASK.instruction and task != TASK for task in meant)


def test_it_is_asked_of_different_things_and_done_in_real_houses() -> None:
    world = Playhouse(PlayhouseConfig(rooms=(1, 2)))
    done = in_order = 0
    for seed in range(4):
        world.reset(Start(seed=40 + seed), observers=())
        try:
            task = world.tasks().sample("in_turn", np.random.default_rng(seed))
        except InfeasibleTask:
            continue
        assert isinstance(task, TaskSequence)
        fields = task.to_json()
        assert fields["first"]["target"] != fields["second"].get("target")
        assert world.tasks().load(fields) == task
        expert, order = task.expert(world), list[bool]()
        for _ in range(240):
            world.step({"solver": expert.act(world)}, observers=())
            order.append(task.first.success(world.facts(), ()))
            if task.success(world.facts(), ()):
                break
        done += task.success(world.facts(), ())
        in_order += order.index(True) < len(order) - 1  # what is next may have come about by the way
    assert done >= 3 and in_order >= 2


def test_lacking_errands_are_told() -> None:
    with pytest.raises(InfeasibleTask, match="in_turn"):
        one = one_room(house(BALL))
        Playhouse.tasks(cast("Playhouse", StillHouse(one))).sample("in_turn", np.random.default_rng(0))
