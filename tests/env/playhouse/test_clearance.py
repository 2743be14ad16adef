"""Frames in which nothing can touch are stepped without the search for contacts, and give the same numbers."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

from interplay.env.playhouse.house.config import PlayhouseConfig
from interplay.env.playhouse.physics.clearance import Clearance, obstacles
from interplay.env.playhouse.physics.model import SUBSTEPS_PER_FRAME
from interplay.env.playhouse.physics.simulation import Simulation
from interplay.env.playhouse.world import Playhouse
from interplay.env.world import Action, Start

STEPS = 40


def played(config: PlayhouseConfig, seed: int) -> list[bytes]:
    """What a house's players see and where everything is, after each step of players who grasp most of the time."""
    world, rng, found = Playhouse(config), np.random.default_rng(seed), []
    world.reset(Start(seed=seed), observers=())
    for _ in range(STEPS):
        actions = {}
        for role in world.spec.roles:
            movement = world.spec.rest()
            for column, component in enumerate(world.spec.movement):
                movement[:, column] = rng.integers(component.bins)
                if component.name == "grasp":
                    movement[:, column] = rng.random() < 0.8
            actions[role] = Action(movement)
        world.step(actions, observers=())
        data = world.simulation.data
        found.append(data.qpos.tobytes() + data.qvel.tobytes() + world.poses().tobytes())
    return [*found, world.state()]


@pytest.mark.parametrize(
    "config",
    [PlayhouseConfig(), PlayhouseConfig(rooms=(1, 1), furniture=(0, 0), objects=(4, 5), setter_visible=False)],
    ids=["house", "room"],
)
def test_numbers_do_not_depend_on_it(config: PlayhouseConfig, monkeypatch: pytest.MonkeyPatch) -> None:
    """With and without it, bit for bit; where it holds, MuJoCo finds no contact in any substep."""
    certain = 0

    def searched(simulation: Simulation) -> None:
        nonlocal certain
        certain += 1
        for _ in range(SUBSTEPS_PER_FRAME):
            mujoco.mj_step(simulation.model, simulation.data)
            assert simulation.data.ncon == 0

    for seed in range(3):
        quick = played(config, seed)
        with monkeypatch.context() as patched:
            patched.setattr(Simulation, "_step_without_contacts", searched)
            assert played(config, seed) == quick
        with monkeypatch.context() as patched:
            patched.setattr(Clearance, "is_certain", lambda clearance: False)
            assert played(config, seed) == quick
    assert certain > STEPS, "the houses of this test have hardly any frame without contacts"


def test_walls_and_furniture_are_obstacles_but_lintels_are_not() -> None:
    world = Playhouse(PlayhouseConfig(rooms=(2, 2)))
    world.reset(Start(seed=0), observers=())
    simulation = world.simulation
    boxes = obstacles(simulation.model)
    for wall in world.house.walls:
        low, high = (np.array(wall.center[:2]) + sign * np.array(wall.half[:2]) for sign in (-1, 1))
        listed = np.isclose(boxes, [*low, *high]).all(axis=1).any()
        assert listed == (wall.center[2] - wall.half[2] < 1.5)
    assert len(boxes) > len(world.house.walls), "furniture"
