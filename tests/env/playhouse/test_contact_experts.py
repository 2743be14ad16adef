"""The experts of throwing, pushing, touching, hitting and standing, on the real house through actions alone."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from seeded_tasks import asked

from interplay.env.playhouse.house.config import PlayhouseConfig
from interplay.env.playhouse.planning.ways_ahead import doorway_exits
from interplay.env.playhouse.tasks.instructions.lift_and_throw import ThrowOut
from interplay.env.playhouse.world import Playhouse
from interplay.env.world import Start

KINDS = ("throw", "throw_out", "push", "push_with", "touch_with", "hit", "stand", "stand_between", "go_room")
EPISODES, STEPS = 5, 120


@pytest.fixture(scope="module")
def world() -> Playhouse:
    return Playhouse(PlayhouseConfig())


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_asked_is_done(world: Playhouse, kind: str) -> None:
    solved = []
    for task in asked(world, kind, EPISODES):
        expert, levels = task.expert(world), [task.progress(world.facts())]
        while not task.success(world.facts(), []) and len(levels) <= STEPS:
            action = expert.act(world)
            assert (action.movement == action.movement[0]).all(), "one action is held over the step"
            world.step({"solver": action}, observers=())
            levels.append(task.progress(world.facts()))
        solved.append(task.success(world.facts(), []))
        assert (levels[-1] == 1.0) == solved[-1]
        assert max(before - after for before, after in pairwise(levels)) < 0.7, "progress is not lost for nothing"
        expert.act(world)
        assert expert.finished == solved[-1]
    assert solved == [True] * EPISODES


def test_a_thing_is_thrown_out_where_all_spots_before_the_doorway_become_occupied() -> None:
    house = Playhouse(PlayhouseConfig(track_contacts=True))
    house.reset(Start(seed=162), observers=())
    task = house.tasks().sample("throw_out", np.random.default_rng(162))
    assert isinstance(task, ThrowOut)
    expert, exits = task.expert(house), []
    while not expert.finished and len(exits) < STEPS:
        house.step({"solver": expert.act(house)}, observers=())
        exits.append(len(doorway_exits(house.facts(), "solver", task.room)))
    assert exits[0] == 1 and 0 in exits, "the scene has changed: find another seed"
    assert task.success(house.facts(), [])


def test_touches_and_blows_do_without_an_arm_that_stretches() -> None:
    plain = Playhouse(PlayhouseConfig(components=("forward", "yaw", "pitch", "grasp")))
    for kind in ("touch_with", "hit"):
        plain.reset(Start(seed=3), observers=())
        task = plain.tasks().sample(kind, np.random.default_rng(3))
        expert = task.expert(plain)
        for _ in range(STEPS):
            plain.step({"solver": expert.act(plain)}, observers=())
            if task.success(plain.facts(), []):
                break
        assert task.success(plain.facts(), []), kind
