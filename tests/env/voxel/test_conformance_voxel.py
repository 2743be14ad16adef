"""The voxel world with its own tasks keeps the contract of worlds."""

from __future__ import annotations

import numpy as np
import pytest

from interplay.env import registry
from interplay.env.conformance import WorldConformance
from interplay.env.world import Start, World


class TestScenes(WorldConformance):
    ruled_out = ("step", "build")

    def make_world(self) -> World:
        return registry.make("voxel", image=(24, 32))


class TestFlyingScenes(TestScenes):
    def make_world(self) -> World:
        return registry.make("voxel", image=(24, 32), control="fly", compass=False)


class TestWalkingScenes(TestScenes):
    def make_world(self) -> World:
        return registry.make("voxel", image=(24, 32), control="human")


class TestOwnTargets(WorldConformance):
    def make_world(self) -> World:
        return registry.make("voxel", image=(24, 32), targets="own", control="fly")


def test_the_expert_acts_through_the_world() -> None:
    world = registry.make(
        "voxel", image=(16, 16), components=("move", "turn", "look", "hotbar", "attack"), select_and_place=True
    )
    for seed in range(5):
        world.reset(Start(seed=seed), observers=())
        task = world.tasks().sample("stack", np.random.default_rng(seed))
        expert = task.expert(world)
        for _ in range(40):
            world.step({"solver": expert.act(world)}, observers=())
        assert task.success(world.facts(), ())


def test_targets_that_do_not_exist_are_refused() -> None:
    with pytest.raises(ValueError, match="one of random"):
        registry.make("voxel", targets="castle")
    with pytest.raises(ValueError, match=r"set env\.data"):
        registry.make("voxel", targets="mdc")
