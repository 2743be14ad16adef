"""Houses as plain facts, built by hand, for tests that need no physics."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from interplay.env.playhouse.house.action_codec import COMPONENTS
from interplay.env.playhouse.house.config import PlayhouseConfig
from interplay.env.playhouse.task_source import PlayhouseTasks
from interplay.env.playhouse.truth.facts import Body, Doorway, HouseFacts, Room, Thing
from interplay.env.world import WorldSpec

SPEC = WorldSpec(
    name="playhouse",
    version=1,
    roles=("setter", "solver"),
    frames_per_step=8,
    frames_per_second=30.0,
    image=None,
    vector=0,
    movement=tuple(component for component in COMPONENTS if component.name in ("forward", "yaw", "pitch", "grasp")),
    utterances=True,
    poses=0,
)
HALL = Room("hall", "living room", (0.0, 0.0), (5.0, 4.0))
DEN = Room("den", "bedroom", (5.1, 0.0), (9.0, 4.0))
DOOR = Doorway(("hall", "den"), (5.05, 3.0), 1.1)


def thing(index: int, name: str, x: float, y: float, z: float = 0.1, **changes: Any) -> Thing:
    """A 20 cm cube on the floor of the hall, unless told otherwise."""
    color, category = name.split()
    room = "hall" if x <= 5.0 else "den"
    made = Thing(
        index, category, color, "medium", False, room, (x, y, z), 0.0, (0.1, 0.1, 0.1), True, None, frozenset()
    )
    return replace(made, **changes)


def house(*things: Thing, at: tuple[float, float] = (1.0, 2.0), yaw: float = 0.0, **body: Any) -> HouseFacts:
    """The hall and the den behind it, with the solver in the hall looking along x, and the setter in a corner."""
    solver = Body("solver", "hall" if at[0] <= 5.0 else "den", at, 1.45, yaw, 0.0, None, None, 2.2)
    setter = Body("setter", "hall", (0.4, 0.4), 1.45, 0.0, 0.0, None, None, 2.2)
    bodies = {"setter": setter, "solver": replace(solver, **body)}
    return HouseFacts(0.0, (HALL, DEN), (DOOR,), things, bodies)


def one_room(facts: HouseFacts) -> HouseFacts:
    return replace(facts, rooms=(HALL,), doorways=())


class StillHouse:
    """A world that only has facts."""

    spec: WorldSpec = SPEC
    config = PlayhouseConfig(rooms=(1, 1), categories=("ball", "block", "book", "duck"))

    def __init__(self, facts: HouseFacts) -> None:
        self._facts = facts

    def facts(self) -> HouseFacts:
        return self._facts

    def tasks(self) -> PlayhouseTasks:
        return tasks_of(self)


def tasks_of(world: Any) -> PlayhouseTasks:
    """The task source of a `StillHouse`, or of a real house."""
    return PlayhouseTasks(world.facts, world.spec, world.config)
