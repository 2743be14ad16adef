"""The Gymnasium environments of the voxel world: spaces, checker, rewards, task sets, and the vector form."""

from __future__ import annotations

import subprocess
import sys
import warnings
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import SyncVectorEnv, VectorEnv
from tiny_task_sets import TinyTasks, tiny_task

from interplay.env.voxel.gymnasium_actions import WALKING, ActionSpace, GymnasiumActions
from interplay.env.voxel.gymnasium_env import SilentBuilder, SilentBuilderVector
from interplay.env.voxel.random_tasks import RandomTasks
from interplay.env.voxel.space import to_dense, to_sparse
from interplay.env.voxel.tasksets import Subtasks

IDS = ("SilentBuilder", "SilentBuilderVisual")
SPACES = ("walking", "human-level", "discrete", "continuous", "flying")
MODULE = "interplay.env.gymnasium_ids:interplay/"
BREAK, PLACE = 16, 17


def made(name: str = "SilentBuilder", **settings: Any) -> gymnasium.Env[Any, Any]:
    return gymnasium.make(f"{MODULE}{name}-v0", **{"tasks": TinyTasks(), "resolution": (16, 20), **settings})


@pytest.mark.parametrize("name", IDS)
@pytest.mark.parametrize("action_space", SPACES)
@pytest.mark.parametrize("select_and_place", [False, True])
def test_the_checker_passes(name: str, action_space: str, select_and_place: bool) -> None:
    env = made(name, action_space=action_space, select_and_place=select_and_place, target_in_obs=select_and_place)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*For Box action spaces, we recommend")  # cameras are in degrees
        check_env(env.unwrapped, skip_render_check=True)


def test_the_checker_passes_with_pictures_to_look_at() -> None:
    env = made(render_mode="rgb_array")
    check_env(env.unwrapped)
    env.reset(seed=0)
    assert np.asarray(env.render()).shape == (240, 720, 3)
    assert made().unwrapped.render() is None


def test_observations() -> None:
    env = made(target_in_obs=True)
    observation, info = env.reset(seed=3)
    assert set(observation) == {"pov", "inventory", "agentPos", "grid", "compass", "chat", "target_grid"}
    assert observation["pov"].shape == (16, 20, 3)
    assert observation["agentPos"].tolist() == [0, 0, 0, 0, 0]
    assert observation["compass"]["angle"].tolist() == [-180], "south"
    assert observation["inventory"].tolist() == [20] * 6
    assert observation["chat"].startswith("<Architect> a row of")
    np.testing.assert_array_equal(observation["target_grid"], info["target_grid"])
    assert set(made("SilentBuilderVisual").reset()[0]) == {"pov", "inventory", "compass", "chat"}
    assert "pov" not in made(render=False).reset()[0]


def test_building_the_target_pays_and_ends() -> None:
    env = made(start_position=(0, 0, 3, 60, 180), right_scale=3, wrong_scale=0.5)
    env.unwrapped.set_task("two")  # type: ignore[attr-defined]
    env.reset(seed=0)
    plan = [(7, 0), (PLACE, -0.5), (BREAK, 0.5), (6, 0), (PLACE, 3), (7, 0), *[(15, 0)] * 3, (PLACE, 3)]
    for number, (action, reward) in enumerate(plan):
        observation, got, terminated, truncated, info = env.step(action)
        assert got == reward, (number, to_sparse(observation["grid"]))
        assert terminated is (number == len(plan) - 1)
        assert not truncated
    assert to_sparse(observation["grid"]) == [(0, 0, 2, 1), (0, 1, 2, 2)]
    assert observation["inventory"].tolist() == [19, 19, 20, 20, 20, 20]
    assert info["target_grid"].sum() == 3


def test_without_a_task_set_structures_are_random() -> None:
    env = gymnasium.make(f"{MODULE}SilentBuilder-v0")
    _, info = env.reset(seed=0)
    assert 1 <= np.count_nonzero(info["target_grid"]) <= 4


def test_time_ends_an_episode() -> None:
    env = made(max_steps=3)
    env.reset(seed=0)
    assert [env.step(0)[3] for _ in range(3)] == [False, False, True]
    with pytest.raises(gymnasium.error.ResetNeeded):
        SilentBuilder(tasks=TinyTasks()).step(0)


def test_task_sets_change_at_the_next_reset() -> None:
    env: Any = made().unwrapped
    env.reset(seed=0)
    before = env.current_task
    env.set_task("one")
    assert env.current_task is before
    env.reset()
    assert env.current_task.chat == "<Architect> one blue block"
    task = tiny_task(to_dense([(0, 3, 0, 5)]))
    env.set_task(task)
    env.reset()
    assert env.current_task is task
    tasks = TinyTasks()
    env.update_taskset(tasks)
    assert env.tasks is tasks
    env.reset()
    assert env.current_task is not task
    with pytest.raises(ValueError, match="no task 'three'; it has one, two"):
        env.set_task("three")


def test_a_seed_decides_everything() -> None:
    one, other = made(), made()
    other.reset(seed=99)
    for _ in range(3):
        first, second = one.reset(seed=5), other.reset(seed=5)
        np.testing.assert_array_equal(first[1]["target_grid"], second[1]["target_grid"])
        assert first[0]["chat"] == second[0]["chat"]
        again = one.reset(), other.reset()
        np.testing.assert_array_equal(again[0][1]["target_grid"], again[1][1]["target_grid"])
    targets = {made().reset(seed=seed)[1]["target_grid"].tobytes() for seed in range(20)}
    assert len(targets) > 5


def test_start_position_and_initial_blocks() -> None:
    env: Any = made(start_position=(1, 0, 2, 30, 90), initial_blocks=[(0, 0, 0, 6), (1, 0, 0, 6)]).unwrapped
    env.set_task("one")
    observation, _ = env.reset(seed=0)
    assert observation["agentPos"].tolist() == [1, 0, 2, 30, 90]
    assert observation["compass"]["angle"].tolist() == [-90], "west"
    assert to_sparse(observation["grid"]) == [(0, 0, 0, 6), (1, 0, 0, 6)]
    dense: Any = made(initial_blocks=to_dense([(0, 0, 0, 2), (0, 1, 0, 2)])).unwrapped
    dense.set_task("one")
    assert dense.reset()[0]["agentPos"][1] == 2, "on top of what is in the middle"
    full: Any = made(initial_blocks=[(3, 0, 0, 1)]).unwrapped
    full.set_task("one")
    with pytest.raises(ValueError, match="already built"):
        full.reset()


def test_no_task_is_drawn_that_the_initial_blocks_have_built() -> None:
    env: Any = made(initial_blocks=[(0, 0, 0, 1), (1, 0, 0, 1)]).unwrapped  # blue rows of one and of two
    for seed in range(40):
        env.reset(seed=seed)


def test_a_task_without_a_start_grid_begins_empty() -> None:
    observation, _ = made().reset(seed=0)
    assert not observation["grid"].any()


def test_the_next_turn_follows_once_a_turn_is_done() -> None:
    last = tiny_task(to_dense([(0, 0, 0, 1), (0, 1, 0, 1)]), "<Architect> one\n<Architect> two")
    built = tiny_task(to_dense([(0, 0, 0, 1)]), "<Architect> nothing new", following=last)
    env: Any = made(start_position=(0, 0, 3, 60, 180)).unwrapped
    env.set_task(tiny_task(to_dense([(0, 0, 0, 1)]), "<Architect> one", following=built))
    env.reset()
    observation, reward, terminated, _, info = env.step(PLACE)
    assert (reward, terminated) == (2, False)
    assert observation["chat"] == "<Architect> one\n<Architect> two", "a turn that changes nothing is passed over"
    assert info["target_grid"].sum() == 2
    for _ in range(3):
        env.step(15)
    _, reward, terminated, _, _ = env.step(PLACE)
    assert (reward, terminated) == (2, True)


def test_a_turn_that_only_removes_blocks_pays_for_each_and_ends() -> None:
    row = [(0, 0, 2, 1), (3, 0, 0, 1)]
    turns = Subtasks(["<Architect> two", "<Architect> take one away"], [row, row[1:]])
    env: Any = made(tasks=turns, start_position=(0, 0, 3, 60, 180)).unwrapped
    env.set_task("1")
    assert np.count_nonzero(env.reset()[0]["grid"]) == 2
    _, reward, terminated, _, _ = env.step(BREAK)
    assert (reward, terminated) == (1, True)


def test_chats_fit_their_space() -> None:
    env: Any = made().unwrapped
    env.set_task(tiny_task(to_dense([(0, 0, 0, 1)]), "blöck " + "x" * 30_000 + "é"))
    observation, _ = env.reset()
    assert observation in env.observation_space
    assert observation["chat"].endswith("xx?")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"action_space": "jumping"}, "is unknown"),
        ({"max_steps": 0}, "at least 1"),
        ({"max_steps": "5"}, "whole number"),
        ({"resolution": 64}, "each at least 8"),
        ({"right_scale": "2"}, "not a number"),
        ({"start_position": 5}, "pitch, yaw"),
        ({"start_position": (float("nan"), 0, 0, 0, 0)}, "from -7.5 to 7.5"),
        ({"start_position": (0, 0, 0, 0, float("inf"))}, "yaw must be finite"),
        ({"resolution": (4, 64)}, "each at least 8"),
        ({"start_position": (0, 0, 0)}, "pitch, yaw"),
        ({"start_position": (8, 0, 0, 0, 0)}, "from -7.5 to 7.5"),
        ({"initial_blocks": [(9, 0, 0, 1)]}, "outside the zone"),
        ({"initial_blocks": np.ones((9, 11, 11), int)}, "1089 blue"),
        ({"tasks": 5}, "not a task set"),
        ({"visual": True, "render": False}, "nothing to see"),
    ],
)
def test_wrong_arguments_are_refused(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        SilentBuilder(**{"tasks": TinyTasks(), **settings})


def test_tasks_that_are_none_are_refused() -> None:
    env: Any = SilentBuilder(tasks=RandomTasks(), resolution=(8, 8))
    for call, fault in (
        (lambda: env.set_task(5), "is not a task"),
        (lambda: env.set_task("C8"), "without end"),
        (lambda: env.update_taskset("own"), "is not a task set"),
    ):
        with pytest.raises(ValueError, match=fault):
            call()


@pytest.mark.parametrize(
    ("action_space", "changed", "fault"),
    [
        ("human-level", {"hotbar": 9}, "colors go from 1 to 6"),
        ("human-level", {"camera": np.array([np.nan, 0.0])}, "not finite"),
        ("flying", {"inventory": 42, "placement": 1}, "colors go from 1 to 6"),
        ("discrete", {"move": 7}, r"move is \[7\]"),
        ("discrete", {"strafe": -1}, r"strafe is \[-1\]"),
        ("discrete", 3, "a Dict"),
        ("walking", 1.5, "whole number"),
        ("walking", None, "whole number"),
    ],
)
def test_actions_without_a_meaning_are_refused(action_space: ActionSpace, changed: Any, fault: str) -> None:
    env: Any = SilentBuilder(tasks=TinyTasks(), resolution=(8, 8), action_space=action_space)
    env.reset(seed=0)
    action = env.action_space.sample() | changed if isinstance(changed, dict) else changed
    with pytest.raises(ValueError, match=fault):
        env.step(action)


def test_walking_actions() -> None:
    assert len(WALKING) == 18
    env = made()
    start = env.reset(seed=0)[0]["agentPos"]
    moves = {1: (0, 0.25), 2: (0, -0.25), 3: (0.25, 0), 4: (-0.25, 0)}  # facing south: east is to the left
    for action, (east, south) in moves.items():
        env.reset(seed=0)
        after = env.step(action)[0]["agentPos"]
        assert (after[0], after[2]) == pytest.approx((start[0] + east, start[2] + south))
    turns = {12: (0, -5), 13: (0, 5), 14: (5, 0), 15: (-5, 0)}
    for action, expected in turns.items():
        env.reset(seed=0)
        assert tuple(env.step(action)[0]["agentPos"][3:]) == expected
    for action in (-1, 18):
        with pytest.raises(ValueError, match="from 0 to 17"):
            env.unwrapped.step(action)


def test_continuous_motion_is_along_the_axes_of_the_world() -> None:
    actions = GymnasiumActions("continuous")
    for yaw in (0.0, 37.0, 180.0, -90.0):
        env = made(action_space="continuous", start_position=(0, 3, 0, 0, yaw))
        env.reset(seed=0)
        action = actions.space.sample() | {"attack": 0, "use": 0, "camera": np.array([0, 33], np.float32)}
        action |= {"move_x": np.array([1.0]), "move_y": np.array([-0.5]), "move_z": np.array([-1.0])}
        position = env.step(action)[0]["agentPos"]
        assert position[:3] == pytest.approx((1, 2.5, -1), abs=1e-5)


def test_flying_and_human_level_actions() -> None:
    env = made(action_space="flying", start_position=(0, 3, 0, 0, 180))
    env.reset(seed=0)
    action = {
        "movement": np.array([1, 0.5, -1], np.float32),
        "camera": np.array([90, 2]),
        "inventory": 3,
        "placement": 0,
    }
    x, y, z, pitch, yaw = env.step(action)[0]["agentPos"].tolist()
    assert (pitch, yaw) == (5, -178), "the camera turns at most 5 degrees"
    assert (x, y, z) == pytest.approx((0.5, 2, -1), abs=0.04)
    env = made(action_space="human-level", start_position=(0, 0, 3, 60, 180))
    env.reset(seed=0)
    action = dict.fromkeys(("forward", "back", "left", "right", "jump", "attack"), 0)
    action |= {"use": 1, "hotbar": 6, "forward": 1, "camera": np.array([-60, 90])}  # type: ignore[dict-item]
    observation = env.step(action)[0]
    assert to_sparse(observation["grid"]) == [(0, 0, 2, 6)]
    assert observation["agentPos"].tolist() == pytest.approx([0.25, 0, 3, 0, -90])
    with pytest.raises(ValueError, match="lacks"):
        env.unwrapped.step({"forward": 1})


def test_discrete_actions() -> None:
    env = made(action_space="discrete", start_position=(0, 0, 3, 60, 180))
    env.reset(seed=0)
    rest: dict[str, Any] = {"move": 0, "strafe": 0, "jump": 0, "attack": 0, "use": 0, "hotbar": 0}
    camera = np.zeros(2, np.float32)
    position = env.step({**rest, "move": 2, "strafe": 1, "camera": camera})[0]["agentPos"]
    assert position[:3].tolist() == [-1, 0, 2]


def same(one: Any, other: Any, where: str) -> None:
    """Asserts that two nested observations or infos are equal."""
    if isinstance(one, dict):
        assert set(one) == set(other), where
        for name in one:
            same(one[name], other[name], f"{where}.{name}")
    elif isinstance(one, tuple):
        assert one == other, where
    else:
        np.testing.assert_array_equal(one, other, where)


@pytest.mark.parametrize("action_space", SPACES)
def test_the_vector_form_equals_single_environments(action_space: str) -> None:
    settings: dict[str, Any] = {"tasks": TinyTasks(), "action_space": action_space, "resolution": (12, 16)}
    settings |= {"max_steps": 23, "start_position": (0, 0, 3, 60, 180), "target_in_obs": True}
    vector: VectorEnv[Any, Any, Any] = gymnasium.make_vec(f"{MODULE}SilentBuilder-v0", num_envs=5, **settings)
    assert isinstance(vector, SilentBuilderVector)
    single: VectorEnv[Any, Any, Any] = SyncVectorEnv([lambda: SilentBuilder(**settings) for _ in range(5)])
    assert vector.observation_space == single.observation_space
    assert vector.action_space == single.action_space
    for was, now in zip(single.reset(seed=7), vector.reset(seed=7), strict=True):
        same(was, now, "reset")
    vector.action_space.seed(1)
    ended = 0
    for step in range(80):
        actions = vector.action_space.sample()
        one, other = single.step(actions), vector.step(actions)
        for was, now in zip(one, other, strict=True):
            same(was, now, f"step {step}")
        ended += int(other[2].sum() + other[3].sum())
    assert ended >= 15
    same(single.reset()[0], vector.reset()[0], "reset without a seed")


def test_a_vector_takes_a_seed_for_each_world() -> None:
    vector = SilentBuilderVector(3, tasks=TinyTasks(), resolution=(8, 8))
    _, info = vector.reset(seed=[1, 2, 1])
    assert (info["target_grid"][0] == info["target_grid"][2]).all()
    with pytest.raises(ValueError, match="2 seeds for 3 worlds"):
        vector.reset(seed=[1, 2])
    vector.set_task("one")
    vector.reset()
    assert {task.chat for task in vector.current_tasks if task} == {"<Architect> one blue block"}
    assert vector.tasks is not None
    with pytest.raises(gymnasium.error.ResetNeeded):
        SilentBuilderVector(2, tasks=TinyTasks()).step(np.zeros(2, int))


@pytest.mark.parametrize("action_space", SPACES)
@pytest.mark.parametrize("count", [1, 2, 4])
def test_a_vector_takes_an_action_for_each_world(action_space: ActionSpace, count: int) -> None:
    vector = SilentBuilderVector(3, tasks=TinyTasks(), action_space=action_space, render=False)
    vector.reset(seed=0)
    actions = vector.action_space.sample()
    if isinstance(actions, dict):
        wrong: Any = {name: np.resize(part, (count, *part.shape[1:])) for name, part in actions.items()}
    else:
        wrong = np.resize(actions, count)
    with pytest.raises(ValueError, match=f"{count} actions for 3 worlds; give one for each"):
        vector.step(wrong)


def test_no_graphics_library_and_no_download_on_import() -> None:
    script = (
        "import socket, sys\n"
        "socket.socket.connect = lambda *a: sys.exit('connects')\n"
        "from interplay.env.voxel.gymnasium_env import SilentBuilder\n"
        "loaded = {name.split('.')[0] for name in sys.modules}\n"
        "sys.exit(str(loaded & {'OpenGL', 'pyglet', 'pygame', 'moderngl', 'mujoco', 'torch'} or ''))\n"
    )
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120)
    assert ran.stderr.strip() == "", ran.stderr
