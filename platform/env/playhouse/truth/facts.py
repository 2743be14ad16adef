"""Ground truth about a house at one moment, as plain values for scripted players, raters and probes."""

from __future__ import annotations

import math
from dataclasses import dataclass

XY = tuple[float, float]
XYZ = tuple[float, float, float]


@dataclass(frozen=True)
class ContactEvent:
    """The last contact of one kind between a player and a thing."""

    time: float  # seconds since the start of the episode
    role: str  # of the player
    place: XYZ  # position of the thing when the contact began, to within a frame
    tool: int | None = None  # index of the Thing in the player's hand that was used


@dataclass(frozen=True)
class Thing:
    """A piece of furniture or a loose object. Lengths in meters, angles in radians."""

    index: int  # constant within the episode; used by `Body.holding` and `Body.looking_at`
    category: str  # "ball", "table"
    color: str
    size: str  # "small", "medium", "large"
    furniture: bool  # furniture cannot be moved
    room: str | None  # the name of the room it is in
    position: XYZ  # of its center
    yaw: float
    half_extents: XYZ  # of its bounding box, in its own frame
    at_rest: bool
    held_by: str | None  # a role
    attributes: frozenset[str]  # "round", "long", "eatable", "vehicle", "flies": docs/playhouse.md has them all
    touched: ContactEvent | None = None  # by an object in a player's hand. All four are None if it never
    hit: ContactEvent | None = None  # ... at speed           happened, or if contacts are not tracked
    pushed: ContactEvent | None = None  # by a player's body
    let_go: ContactEvent | None = None  # released from a hand

    @property
    def name(self) -> str:
        return f"{self.color} {self.category}"

    @property
    def xy(self) -> XY:
        return self.position[0], self.position[1]

    @property
    def radius(self) -> float:
        """Radius of the circle around its footprint."""
        return math.hypot(self.half_extents[0], self.half_extents[1])


@dataclass(frozen=True)
class Body:
    """An avatar. Yaw 0 looks along +x, grows counterclockwise seen from above; pitch grows upwards. Radians."""

    role: str
    room: str | None
    position: XY
    eye_height: float
    yaw: float
    pitch: float
    holding: int | None  # a Thing's index
    looking_at: int | None  # index of the Thing at the center of its view, at any distance; None for walls and floor
    reach: float  # of a grasp, meters from the eye
    half_view: float = math.radians(37.5)  # half the horizontal field of view


@dataclass(frozen=True)
class Room:
    """An axis-aligned room; `name` is unique in the house, `kind` is the word for it ("bedroom")."""

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
    """All facts at one moment."""

    time: float  # seconds since the episode began
    rooms: tuple[Room, ...]
    doorways: tuple[Doorway, ...]
    things: tuple[Thing, ...]  # things[i].index == i
    bodies: dict[str, Body]  # by role

    def __hash__(self) -> int:
        return hash((self.time, self.things, *self.bodies.values()))
