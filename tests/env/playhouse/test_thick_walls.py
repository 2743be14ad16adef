"""The walls that thin things touch: as the true ones from within, and thick behind."""

from __future__ import annotations

import numpy as np
import pytest

from interplay.env.playhouse.house.config import PlayhouseConfig
from interplay.env.playhouse.house.house_layout import make_house
from interplay.env.playhouse.house.rooms import OUTER_GROUND_M, WALL_THICKNESS_M, thick_walls

CONFIG = PlayhouseConfig(rooms=(1, 5))


@pytest.mark.parametrize("seed", range(12))
def test_thick_walls_reach_into_no_room_and_block_no_doorway(seed: int) -> None:
    house = make_house(CONFIG, seed)
    for wall in thick_walls(house.rooms, house.walls):
        low, high = np.array(wall.center) - wall.half, np.array(wall.center) + wall.half
        for room in house.rooms:
            shared = np.minimum(high[:2], room.high) - np.maximum(low[:2], room.low)
            assert shared.min() < 1e-6, (wall, room)
        for door in house.doorways:
            inside = np.array([*door.middle, 1.0])
            assert not ((inside > low) & (inside < high)).all(), (wall, door)


@pytest.mark.parametrize("seed", range(12))
def test_behind_each_place_of_a_wall_is_ground_or_the_share_of_a_room(seed: int) -> None:
    house = make_house(CONFIG, seed)
    thick = thick_walls(house.rooms, house.walls)
    low = np.array([np.array(wall.center) - wall.half for wall in thick])
    high = np.array([np.array(wall.center) + wall.half for wall in thick])
    deep = []
    for wall in house.walls:
        along = 0 if wall.half[0] < wall.half[1] else 1
        outward = 1.0 if wall.center[along] > house.rooms[wall.room].low[along] else -1.0
        for share in np.linspace(-0.97, 0.97, 9):
            place = np.array(wall.center)
            place[1 - along] += share * wall.half[1 - along]
            face = place[along] + outward * wall.half[along]
            place[along] = face + outward * 0.9 * WALL_THICKNESS_M
            assert ((place > low) & (place < high)).all(axis=1).any(), (wall, share)
            place[along] = face + outward * 0.9 * OUTER_GROUND_M
            beyond = ((place > low) & (place < high)).all(axis=1).any()
            room_there = any((place[:2] > r.low).all() and (place[:2] < r.high).all() for r in house.rooms)
            deep.append(beyond)
            assert beyond or room_there or len(house.rooms) > 1
    assert np.mean(deep) > 0.4
