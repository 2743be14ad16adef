"""Ground truth of a house: computes its facts (see `facts`) from a moment of the simulation."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from interplay.env.playhouse.house.house_layout import House, PlacedThing
from interplay.env.playhouse.house.rooms import WALL_THICKNESS_M
from interplay.env.playhouse.physics.contacts import NEVER, PLAYER, TIME, TOOL
from interplay.env.playhouse.physics.model import EYE_HEIGHT_M, REACH_M
from interplay.env.playhouse.physics.simulation import Moment
from interplay.env.playhouse.truth.facts import Body, ContactEvent, Doorway, HouseFacts, Room, Thing

ROLES = ("setter", "solver")


class GroundTruth:
    """Computes the facts of one house from moments. Facts that never change are computed once."""

    def __init__(self, house: House, half_view: float) -> None:
        """`half_view`: half the horizontal field of view, radians."""
        self.house = house
        self.half_view = half_view
        self.rooms = tuple(Room(room.name, room.kind, room.low, room.high) for room in house.rooms)
        names = [room.name for room in house.rooms]
        self.doorways = tuple(
            Doorway((names[door.rooms[0]], names[door.rooms[1]]), door.middle, door.width) for door in house.doorways
        )
        self.furniture = tuple(
            _thing(thing, names[thing.room], thing.position, thing.yaw, True, None) for thing in house.furniture
        )

    def observe(self, moment: Moment, looking: Sequence[int | None]) -> HouseFacts:
        """The facts at a moment. `looking`: by player, the index of the thing at the center of its view."""
        holders = {index: role for role, index in zip(ROLES, moment.holding, strict=True) if index is not None}
        first = len(self.furniture)
        positions, quaternions = moment.positions[first:].tolist(), moment.quaternions[first:].tolist()
        resting = moment.resting[first:].tolist()
        objects = tuple(
            _thing(
                thing,
                self.room_of(position[0], position[1]),
                (position[0], position[1], position[2]),
                yaw_of(quaternion),
                rests and thing.index not in holders,
                holders.get(thing.index),
            )
            for thing, position, quaternion, rests in zip(
                self.house.objects, positions, quaternions, resting, strict=True
            )
        )
        bodies = {
            role: Body(
                role=role,
                room=self.room_of(x, y),
                position=(x, y),
                eye_height=EYE_HEIGHT_M,
                yaw=yaw,
                pitch=pitch,
                holding=moment.holding[player],
                looking_at=looking[player],
                reach=REACH_M,
                half_view=self.half_view,
            )
            for player, (role, (x, y, yaw, pitch)) in enumerate(zip(ROLES, moment.avatars.tolist(), strict=True))
        }
        things = self.furniture + objects
        if moment.contacts is not None:
            things = _with_contacts(things, moment.contacts)
        return HouseFacts(moment.time, self.rooms, self.doorways, things, bodies)

    def room_of(self, x: float, y: float) -> str | None:
        """Name of the room that contains a point, including its half of each doorway. None outside the house."""
        for room in self.rooms:
            if (
                room.low[0] - WALL_THICKNESS_M <= x <= room.high[0] + WALL_THICKNESS_M
                and room.low[1] - WALL_THICKNESS_M <= y <= room.high[1] + WALL_THICKNESS_M
            ):
                return room.name
        return None


def yaw_of(quaternion: Sequence[float]) -> float:
    """Yaw of the x axis of a quaternion (w first), radians."""
    w, x, y, z = quaternion
    return math.atan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z))


def _with_contacts(things: tuple[Thing, ...], contacts: NDArray[np.float32]) -> tuple[Thing, ...]:
    """The things with their contact events."""
    known = list(things)
    for index in np.flatnonzero((contacts[..., TIME] != NEVER).any(axis=1)).tolist():
        touched, hit, pushed, let_go = (_contact_event(numbers) for numbers in contacts[index].tolist())
        known[index] = replace(known[index], touched=touched, hit=hit, pushed=pushed, let_go=let_go)
    return tuple(known)


def _contact_event(numbers: Sequence[float]) -> ContactEvent | None:
    """Decodes one event of a `ContactLog`; None if it never happened."""
    if numbers[TIME] == NEVER:
        return None
    tool = int(numbers[TOOL])
    x, y, z = numbers[3:]
    return ContactEvent(numbers[TIME], ROLES[int(numbers[PLAYER])], (x, y, z), None if tool < 0 else tool)


def _thing(
    thing: PlacedThing,
    room: str | None,
    position: tuple[float, float, float],
    yaw: float,
    at_rest: bool,
    held_by: str | None,
) -> Thing:
    return Thing(
        index=thing.index,
        category=thing.category.name,
        color=thing.color,
        size=thing.size,
        furniture=thing.category.furniture,
        room=room,
        position=position,
        yaw=yaw,
        half_extents=thing.half_extents,
        at_rest=at_rest,
        held_by=held_by,
        attributes=thing.category.attributes,
    )
