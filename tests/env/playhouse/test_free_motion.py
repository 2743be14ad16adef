"""Frames in which nothing touches are computed without MuJoCo, and give the same numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from interplay.env.playhouse.house.config import PlayhouseConfig
from interplay.env.playhouse.physics.free_motion import AT_CONTACT, AT_GRASP, FreeMotion
from interplay.env.playhouse.world import Playhouse
from interplay.env.world import Action, Start

STEPS = 40
GRASPING = 0.8  # probability


def drawn(world: Playhouse, rng: np.random.Generator) -> dict[str, Action]:
    """Random movements of both players, who grasp most of the time."""
    actions = {}
    for role in world.spec.roles:
        movement = world.spec.rest()
        for column, component in enumerate(world.spec.movement):
            movement[:, column] = rng.integers(component.bins)
            if component.name == "grasp":
                movement[:, column] = rng.random(len(movement)) < GRASPING
        actions[role] = Action(movement)
    return actions


def turning(world: Playhouse, direction: int) -> dict[str, Action]:
    """Both players turn as fast as they can, to the left (1) or to the right (-1)."""
    movement = world.spec.rest()
    for column, component in enumerate(world.spec.movement):
        if component.name == "yaw":
            movement[:, column] = component.bins - 1 if direction > 0 else 0
    return {role: Action(movement) for role in world.spec.roles}


def numbers(world: Playhouse) -> bytes:
    """Everything from which the physics go on, and what is recorded."""
    data = world.simulation.data
    arrays = (data.qpos, data.qvel, data.ctrl, data.qacc, data.qacc_smooth, data.qacc_warmstart, data.tree_asleep)
    return b"".join(array.tobytes() for array in arrays) + np.float64(data.time).tobytes() + world.poses().tobytes()


def played(config: PlayhouseConfig, seed: int) -> list[bytes]:
    """The numbers of a house after each step of play; it is saved, and so reloaded, halfway."""
    world, rng = Playhouse(config), np.random.default_rng(seed)
    world.reset(Start(seed=seed), observers=())
    found = []
    for step in range(STEPS):
        if step == STEPS // 2:
            found.append(world.state())
        world.step(drawn(world, rng), observers=())
        found.append(numbers(world))
    for direction in (1, -1):
        for _ in range(10):
            world.step(turning(world, direction), observers=())
            found.append(numbers(world))
    return [*found, world.state()]


def by_mujoco(motion: FreeMotion, moves: Any, frame: int, moved: bool) -> tuple[int, int]:
    return frame, AT_CONTACT if moved else AT_GRASP


@pytest.mark.parametrize(
    "config",
    [PlayhouseConfig(), PlayhouseConfig(rooms=(1, 1), furniture=(0, 0), objects=(4, 5), setter_visible=False)],
    ids=["house", "room"],
)
def test_numbers_are_those_of_mujoco(config: PlayhouseConfig, monkeypatch: pytest.MonkeyPatch) -> None:
    frames = 0
    advance = FreeMotion.advance

    def counted(motion: FreeMotion, moves: Any, frame: int, moved: bool) -> tuple[int, int]:
        nonlocal frames
        stop, reason = advance(motion, moves, frame, moved)
        frames += stop - frame
        return stop, reason

    for seed in range(4):
        with monkeypatch.context() as patched:
            patched.setattr(FreeMotion, "advance", counted)
            quick = played(config, seed)
        with monkeypatch.context() as patched:
            patched.setattr(FreeMotion, "advance", by_mujoco)
            assert played(config, seed) == quick
    assert frames > 4 * STEPS, "the houses of this test have hardly any frame in which nothing touches"


def test_single_frames_are_those_of_a_step() -> None:
    worlds = [Playhouse(PlayhouseConfig()) for _ in range(2)]
    rng = np.random.default_rng(0)
    for world in worlds:
        world.reset(Start(seed=1), observers=())
    for _ in range(10):
        actions = drawn(worlds[0], rng)
        worlds[0].step(actions, observers=())
        for row in range(worlds[0].spec.frames_per_step):
            worlds[1].frame({role: action.movement[row] for role, action in actions.items()}, observers=())
        assert numbers(worlds[0]) == numbers(worlds[1])


def test_walls_and_furniture_are_obstacles_but_lintels_are_not() -> None:
    world = Playhouse(PlayhouseConfig(rooms=(2, 2)))
    world.reset(Start(seed=0), observers=())
    simulation = world.simulation
    boxes = simulation.compiled.obstacles
    for wall in world.house.walls:
        low, high = (np.array(wall.center[:2]) + sign * np.array(wall.half[:2]) for sign in (-1, 1))
        listed = np.isclose(boxes, [*low, *high]).all(axis=1).any()
        assert listed == (wall.center[2] - wall.half[2] < 1.5)
    assert len(boxes) > len(world.house.walls), "furniture"
