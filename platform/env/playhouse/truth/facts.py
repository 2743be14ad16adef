"""The truth about a house at one moment, as plain values: what scripted players, raters and probes reason on."""

from __future__ import annotations

import math
from dataclasses import dataclass

XY = tuple[float, float]
XYZ = tuple[float, float, float]


@dataclass(frozen=True)
class ContactEvent:
    """The last time that a player did something to a thing."""

    time: float  # seconds since the episode began, of the frame in which it was done
    role: str  # who did it
    place: XYZ  # where the thing was when that began, to within a frame
    tool: int | None = None  # the index of the Thing in the player's hand that it was done with


@dataclass(frozen=True)
class Thing:
    """A piece of furniture or a loose object. Lengths in meters, angles in radians."""

    index: int  # stable within the episode; the number that `Body.holding` and `Body.looking_at` name
    category: str  # "ball", "table"
    color: str
    size: str  # "small", "medium", "large"
    furniture: bool  # furniture stays where it is and can not be lifted
    room: str | None  # the name of the room it is in
    position: XYZ  # of its center
    yaw: float
    half_extents: XYZ  # of its bounding box, in its own frame
    at_rest: bool
    held_by: str | None  # a role
    attributes: frozenset[str]  # "round", "long", "eatable", "vehicle", "flies": docs/playhouse.md has them all
    touched: ContactEvent | None = None  # what a player held came upon it. The four are None where it never happened,
    hit: ContactEvent | None = None  # ... did so fast                      and in a house that remembers no deeds
    pushed: ContactEvent | None = None  # a player walked into it
    let_go: ContactEvent | None = None  # a hand opened that held it

    @property
    def name(self) -> str:
        return f"{self.color} {self.category}"

    @property
    def xy(self) -> XY:
        return self.position[0], self.position[1]

    @property
    def radius(self) -> float:
        """Of the circle around its footprint."""
        return math.hypot(self.half_extents[0], self.half_extents[1])


@dataclass(frozen=True)
class Body:
    """An avatar. Yaw 0 looks along +x, grows anticlockwise seen from above; pitch grows upwards. Radians."""

    role: str
    room: str | None
    position: XY
    eye_height: float
    yaw: float
    pitch: float
    holding: int | None  # a Thing's index
    looking_at: int | None  # the Thing in the middle of its view, within reach or not; None for walls and floor
    reach: float  # meters from the eye within which a grasp takes hold
    half_view: float = math.radians(37.5)  # how far off its middle its view ends, sideways


@dataclass(frozen=True)
class Room:
    """An axis-aligned room; `name` is unique in the house, `kind` is what people call it ("bedroom")."""

    name: str
    kind: str
    low: XY
    high: XY

    @property
    def middle(self) -> XY:
        return (self.low[0] + self.high[0]) / 2, (self.low[1] + self.high[1]) / 2


@dataclass(frozen=True)
class Doorway:
    """An opening between two rooms; its middle, and its width."""

    rooms: tuple[str, str]
    middle: XY
    width: float


@dataclass(frozen=True)
class HouseFacts:
    """Everything true at one moment."""

    time: float  # seconds since the episode began
    rooms: tuple[Room, ...]
    doorways: tuple[Doorway, ...]
    things: tuple[Thing, ...]  # things[i].index == i
    bodies: dict[str, Body]  # by role
