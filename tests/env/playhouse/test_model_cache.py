"""A model that is rewritten for another house equals one that is compiled for it, and so does all that follows."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import mujoco
import numpy as np
import pytest

from interplay.env.playhouse.house.catalog import SIZES
from interplay.env.playhouse.house.config import PlayhouseConfig
from interplay.env.playhouse.house.house_layout import House, make_house
from interplay.env.playhouse.house.objects import OBJECTS
from interplay.env.playhouse.physics.model import WAKES, HouseModel, build_model
from interplay.env.playhouse.physics.model_cache import KEPT_MODELS, ModelCache
from interplay.env.playhouse.world import Playhouse
from interplay.env.world import Action, Start

BARE: dict[str, Any] = {"rooms": (1, 1), "room_size": (4.0, 4.0), "furniture": (0, 0), "image": (24, 32)}
BINS = PlayhouseConfig(**BARE, objects=(2, 2), categories=("bin", "ball", "plate"))
FEW = PlayhouseConfig(**BARE, objects=(3, 4), categories=("ball", "block", "pillow"), setter_visible=False)


def arrays(owner: mujoco.MjModel | mujoco.MjData) -> Iterator[tuple[str, bytes]]:
    """Each array of MuJoCo's model or data, in bytes."""
    for name in dir(owner):
        if not name.startswith("_") and isinstance(value := getattr(owner, name), np.ndarray):
            yield name, value.tobytes()


def assert_as_compiled(found: HouseModel, data: mujoco.MjData, house: House, setter_solid: bool) -> None:
    compiled = build_model(house, setter_solid=setter_solid)
    assert dict(arrays(found.model)) == dict(arrays(compiled.model))
    assert dict(arrays(data)) == dict(arrays(mujoco.MjData(compiled.model)))
    assert found.model.stat.meaninertia == compiled.model.stat.meaninertia
    assert (found.geom_thing, found.object_geoms) == (compiled.geom_thing, compiled.object_geoms)
    assert (found.obstacles == compiled.obstacles).all()


def disturb(found: HouseModel, data: mujoco.MjData) -> None:
    """Changes what simulations change."""
    data.qvel[:] = 0.5
    data.eq_active[0], data.mocap_pos[0] = 1, 1.0
    found.model.geom_conaffinity[found.object_geoms[0][0]] = 0
    found.model.qpos0[4:], found.model.tree_sleep_policy[2:] = 3.0, WAKES
    mujoco.mj_step(found.model, data, nstep=8)


def test_a_model_rewritten_for_an_object_of_any_category_and_size_equals_a_compiled_one() -> None:
    cache, rng = ModelCache(setter_solid=True), np.random.default_rng(0)
    configs = [
        PlayhouseConfig(**BARE, objects=(1, 1), categories=(category.name,), sizes=(size,))
        for category in OBJECTS
        for size in SIZES
    ]
    compiled = [cache.get(make_house(config, 0))[0] for config in configs]
    for index in rng.permutation(len(configs)).tolist():
        house = make_house(configs[index], 1)
        found, data = cache.get(house)
        assert any(found is model for model in compiled)
        assert_as_compiled(found, data, house, setter_solid=True)
        disturb(found, data)


@pytest.mark.parametrize("config", [BINS, FEW], ids=["bins", "few"])
def test_a_model_rewritten_for_several_objects_equals_a_compiled_one(config: PlayhouseConfig) -> None:
    cache, models = ModelCache(setter_solid=config.setter_visible), dict[int, HouseModel]()
    for seed in range(40):
        house = make_house(config, seed)
        found, data = cache.get(house)
        assert_as_compiled(found, data, house, config.setter_visible)
        disturb(found, data)
        models[id(found)] = found
    assert len(models) < 10


def test_the_last_models_are_kept() -> None:
    cache = ModelCache(setter_solid=True)
    houses = [make_house(PlayhouseConfig(objects=(1, 1)), seed) for seed in range(KEPT_MODELS + 1)]
    first, *others = (cache.get(house)[0] for house in houses)
    for house, model in zip(houses[1:], others, strict=True):
        assert cache.get(house)[0] is model
    assert cache.get(houses[0])[0] is not first


def test_a_house_with_other_walls_or_furniture_is_compiled() -> None:
    cache, house = ModelCache(setter_solid=True), make_house(PlayhouseConfig(rooms=(2, 2)), 0)
    cache.get(house)
    first, *rest = house.things
    moved = replace(first, position=(first.position[0] + 0.1, *first.position[1:]))
    larger = replace(house.rooms[1], high=(9.0, 9.0))
    for other in (
        replace(house, walls=house.walls[1:]),
        replace(house, rooms=(house.rooms[0], larger)),
        replace(house, things=(moved, *rest)),
    ):
        found, data = cache.get(other)
        assert_as_compiled(found, data, other, setter_solid=True)


def played(world: Playhouse, start: Start, seed: int) -> tuple[bytes, str]:
    """The state, and a digest of pictures, poses and facts, after some steps in which hands grasp what they meet."""
    digest = hashlib.sha256(world.reset(start)["solver"].image)
    rng = np.random.default_rng(seed)
    for _ in range(12):
        actions = {}
        for role in world.spec.roles:
            row = rng.integers([component.bins for component in world.spec.movement])
            row[4] = rng.random() < 0.8
            actions[role] = Action(np.tile(row, (8, 1)).astype(np.int8))
        digest.update(world.step(actions).views["solver"].image)
    digest.update(world.poses())
    digest.update(repr(world.facts()).encode())
    return world.state(), digest.hexdigest()


@pytest.mark.parametrize("config", [BINS, FEW], ids=["bins", "few"])
def test_a_world_of_many_houses_plays_each_as_a_new_world_does(config: PlayhouseConfig) -> None:
    world, states, models = Playhouse(config), [], []
    for seed in range(12):
        state, digest = played(world, Start(seed=seed), seed)
        assert played(Playhouse(config), Start(seed=seed), seed) == (state, digest)
        states.append(state)
        models.append(world.simulation.model)
    for seed in np.random.default_rng(0).permutation(12).tolist():
        start = Start(state=states[seed])
        assert played(world, start, seed) == played(Playhouse(config), start, seed)
        assert any(world.simulation.model is model for model in models), "compiled again"
