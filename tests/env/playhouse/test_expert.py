"""The experts, on the real house, through the action interface alone."""

import numpy as np
import pytest
from house_scenes import SPEC, house, one_room, thing
from seeded_tasks import asked, is_done_after_drops

from interplay.env.playhouse.control.skills import Steering
from interplay.env.playhouse.house.config import PlayhouseConfig
from interplay.env.playhouse.planning.navigation import Ground
from interplay.env.playhouse.task_source import PlayhouseTasks
from interplay.env.playhouse.tasks.instructions.put import Position
from interplay.env.playhouse.world import Playhouse
from interplay.env.task import Task
from interplay.env.world import Component, WorldSpec

NEEDED = ("forward", "yaw", "pitch", "grasp")
PLAIN = PlayhouseConfig(rooms=(1, 1), furniture=(0, 0), objects=(4, 5), unique_colors=True, components=NEEDED)
FURNISHED = PlayhouseConfig(rooms=(1, 1), components=NEEDED)
EPISODES = 20
STEPS = 60


def solved(world: Playhouse, task: Task, steps: int = STEPS) -> bool:
    expert, said = task.expert(world), list[str]()
    for _ in range(steps):
        action = expert.act(world)
        assert (action.movement == action.movement[0]).all(), "one action is held over the step"
        said += [action.utterance] if action.utterance else []
        world.step({world.spec.solver: action}, observers=())
        if task.success(world.facts(), said):
            return True
    return False


@pytest.mark.parametrize("kind", PlayhouseTasks.kinds)
def test_every_task_is_done_in_a_plain_room(kind: str) -> None:
    world = Playhouse(PLAIN)
    assert [solved(world, task) for task in asked(world, kind, EPISODES)] == [True] * EPISODES


@pytest.mark.parametrize("kind", ["go", "lift", "position"])
def test_every_errand_is_done_among_furniture(kind: str) -> None:
    world = Playhouse(FURNISHED)
    assert [solved(world, task) for task in asked(world, kind, EPISODES)] == [True] * EPISODES


@pytest.mark.parametrize("kind", ["go", "position"])
def test_errands_lead_through_doorways(kind: str) -> None:
    world = Playhouse(PlayhouseConfig(rooms=(2, 3)))
    assert [solved(world, task, 2 * STEPS) for task in asked(world, kind, 6)] == [True] * 6


def test_an_expert_comes_to_its_end_and_keeps_what_it_lifts() -> None:
    world = Playhouse(PLAIN)
    task = next(asked(world, "lift", 1))
    expert = task.expert(world)
    for _ in range(STEPS):
        world.step({"solver": expert.act(world)}, observers=())
    assert expert.finished and task.success(world.facts(), [])


def test_a_dropped_thing_is_fetched_again() -> None:
    world = Playhouse(PLAIN)
    task = next(asked(world, "position", 1))
    assert isinstance(task, Position)
    assert is_done_after_drops(world, task, 2 * STEPS)


def test_a_way_around_furniture_is_clear_and_arrives() -> None:
    wall = thing(0, "brown sofa", 2.5, 2.0, 0.4, half_extents=(0.3, 1.2, 0.4), furniture=True)
    facts = one_room(house(wall, thing(1, "red ball", 4, 2)))
    ground = Ground(facts, "solver")

    def distance(point: tuple[float, float]) -> float:
        return float(np.hypot(point[0] - 4, point[1] - 2))

    assert not ground.is_clear((1, 2), (4, 2), distance, 0.8)
    path = ground.path((1, 2), distance, 0.8)
    assert distance(path[-1]) <= 0.8 and len(path) > 1
    ends = [(1.0, 2.0), *path]
    for a, b in zip(ends, path, strict=False):
        assert not ground.price(np.linspace(a, b, 50)).any()


def test_a_path_through_a_doorway_keeps_off_its_frame() -> None:
    facts = house(thing(0, "red ball", 7, 0.6), at=(4.0, 0.6))
    ground = Ground(facts, "solver")
    assert not ground.is_clear((4.0, 0.6), (7, 0.6), lambda p: abs(p[0] - 7), 0.5)
    path = ground.path((4.0, 0.6), lambda p: float(np.hypot(p[0] - 7, p[1] - 0.6)), 0.5)
    crossing = np.concatenate([np.linspace(a, b, 200) for a, b in zip([(4.0, 0.6), *path], path, strict=False)])
    at_door = crossing[np.abs(crossing[:, 0] - 5.05) < 0.1]
    assert len(at_door) and (np.abs(at_door[:, 1] - 3.0) < 0.55 - 0.22).all()


def test_steering_takes_the_bin_whose_held_turn_is_nearest() -> None:
    steering = Steering(SPEC)
    names = [component.name for component in SPEC.movement]
    turn = steering.hold(forward=1, yaw=np.radians(25), pitch=np.radians(-3), grasp=True)
    assert turn.shape == (8, 4) and turn.dtype == np.int8
    assert dict(zip(names, turn[0].tolist(), strict=True)) == {"forward": 2, "yaw": 9, "pitch": 3, "grasp": 1}
    assert (steering.hold() == SPEC.rest()).all()


def test_a_house_without_hands_says_what_is_missing() -> None:
    walking = WorldSpec("playhouse", 1, ("setter", "solver"), 8, 30.0, None, 0, (Component("forward", 3, 1),), True, 0)
    with pytest.raises(ValueError, match="lacks yaw, pitch, grasp"):
        Steering(walking)
