"""The mirror image of a house in the plane y = 0, for tests of the reflection."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from interplay.env.playhouse.house.house_layout import House


def mirrored_house(house: House) -> House:
    """Every position (x, y, z) becomes (x, -y, z), and every yaw its negative."""
    return replace(
        house,
        rooms=tuple(
            replace(room, low=(room.low[0], -room.high[1]), high=(room.high[0], -room.low[1])) for room in house.rooms
        ),
        doorways=tuple(replace(door, middle=_across(door.middle)) for door in house.doorways),
        walls=tuple(replace(wall, center=_across(wall.center)) for wall in house.walls),
        things=tuple(replace(thing, position=_across(thing.position), yaw=-thing.yaw) for thing in house.things),
        starts=tuple((x, -y, -yaw) for x, y, yaw in house.starts),
    )


def _across(point: Sequence[float]) -> Any:
    return (point[0], -point[1], *point[2:])
