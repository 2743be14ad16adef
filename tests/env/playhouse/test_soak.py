"""Houses stand what two players do to them at random; benchmarks/soak.py does this for hours."""

from __future__ import annotations

import math
from collections.abc import Sequence
from types import ModuleType

import numpy as np
import pytest
from loaded_script import loaded

from interplay.env.playhouse.house.config import PlayhouseConfig
from interplay.env.playhouse.house.house_layout import House
from interplay.env.playhouse.world import Playhouse
from interplay.env.world import Start


@pytest.fixture(scope="module")
def soak() -> ModuleType:
    return loaded("benchmarks/soak.py")


def test_nothing_escapes_sinks_or_warns(soak: ModuleType, caplog: pytest.LogCaptureFixture) -> None:
    rows = list(soak.all_houses(PlayhouseConfig(rooms=(1, 5)), houses=3, steps=300, first=900))
    assert not soak.faults(rows, caplog.messages)
    assert sum(row.grasps for row in rows) > 150 and sum(row.spent for row in rows) > 15


@pytest.mark.parametrize(("seed", "category"), [(103, "pear"), (105, "mug"), (110, "plate"), (112, "plate")])
def test_nothing_slight_is_pulled_through_walls(soak: ModuleType, seed: int, category: str) -> None:
    world = Playhouse(PlayhouseConfig(rooms=(1, 5), categories=(category,), objects=(6, 6), sizes=("small",)))
    assert not soak.soak(world, seed, 400).escaped


def beside_a_wall(house: House) -> list[list[float]]:
    """A place on either side of the wall between two rooms, as far from the doorway as can be."""
    door = house.doorways[0]
    k = "yx".index(door.axis)  # the axis along the wall
    ends = max(room.low[k] for room in house.rooms) + 0.3, min(room.high[k] for room in house.rooms) - 0.3
    places = []
    for room in house.rooms:
        place = [max(ends, key=lambda end: abs(end - door.middle[k]))] * 2
        place[1 - k] = min(max(door.middle[1 - k], room.low[1 - k] + 0.3), room.high[1 - k] - 0.3)
        places.append(place)
    return places


def test_what_is_out_of_place_is_noticed(soak: ModuleType) -> None:
    world = Playhouse(PlayhouseConfig(rooms=(2, 2), categories=("block",)))
    for seed in range(50):
        world.reset(Start(seed=seed), observers=())
        here, there = beside_a_wall(world.house)
        if math.dist(here, world.house.doorways[0].middle) > 1.2:
            break
    data, room = world.simulation.data, world.house.rooms[0]
    middle = (room.low[0] + room.high[0]) / 2, (room.low[1] + room.high[1]) / 2

    def told(x: float, y: float, z: float, times: int = 1, start: Sequence[float] = middle) -> str:
        """After the first block stood at `start`, and then so long there."""
        qpos = data.qpos[4:].reshape(-1, 7)
        qpos[0, :3] = (*start, 1.0)
        watch = soak.Watch(world)
        assert not watch.wrong()
        qpos[0, :3] = x, y, z
        for _ in range(times - 1):
            watch.wrong()
        return ", ".join(watch.wrong())

    name = world.house.objects[0].color
    assert told(room.low[0] - 30.0, middle[1], 1.0).startswith(f"{name} block outside")
    assert told(*middle, -0.2) == f"{name} block under the floor"
    assert told(*middle, 3.0) == f"{name} block above the ceiling"
    assert told(*middle, np.nan).startswith(f"{name} block under the floor")
    assert told(*middle, 0.02, times=soak.STAYS) == f"{name} block sunk"
    assert told(*there, 1.0, start=here) == f"{name} block through a wall"
    wall = world.house.walls[0]
    assert f"{name} block in a wall" in told(wall.center[0], wall.center[1], 1.0, times=soak.STAYS)
