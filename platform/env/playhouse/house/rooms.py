"""Floor plan of a house: rooms, doorways and walls."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from interplay.env.playhouse.house.category import RGB, XYZ

XY = tuple[float, float]

WALL_HEIGHT_M = 2.6
WALL_THICKNESS_M = 0.05  # of each room's own wall; between two rooms there are two
OUTER_GROUND_M = 0.4  # depth of solid ground behind an outer wall
DOOR_WIDTH_M = 1.1
DOOR_HEIGHT_M = 2.1
MIN_WALL_BESIDE_DOOR_M = 0.25  # on each side of a doorway

ROOM_KINDS = ("living room", "bedroom", "playroom", "pantry", "bathroom")


@dataclass(frozen=True)
class Decor:
    """Floors and wall colors that identify a kind of room; muted, so that the saturated objects stand out."""

    floors: tuple[str, ...]
    walls: str
    floor_colors: tuple[RGB, ...]
    wall_colors: tuple[RGB, ...]


DECORS: dict[str, Decor] = {
    "living room": Decor(
        ("wood",), "plain",
        ((0.62, 0.42, 0.24), (0.52, 0.36, 0.24), (0.68, 0.52, 0.34)),
        ((0.88, 0.80, 0.62), (0.80, 0.72, 0.60), (0.76, 0.78, 0.62)),
    ),
    "bedroom": Decor(
        ("carpet",), "stripes",
        ((0.46, 0.50, 0.66), (0.58, 0.48, 0.62), (0.62, 0.54, 0.54)),
        ((0.70, 0.74, 0.90), (0.84, 0.72, 0.86), (0.90, 0.76, 0.78)),
    ),
    "playroom": Decor(
        ("mats",), "dado",
        ((0.42, 0.66, 0.46), (0.72, 0.62, 0.28), (0.40, 0.58, 0.74)),
        ((0.92, 0.88, 0.70), (0.84, 0.92, 0.80), (0.92, 0.84, 0.74)),
    ),
    "pantry": Decor(
        ("checker",), "boards",
        ((0.66, 0.40, 0.30), (0.48, 0.44, 0.40), (0.62, 0.52, 0.36)),
        ((0.90, 0.86, 0.78), (0.84, 0.82, 0.72)),
    ),
    "bathroom": Decor(
        ("tile",), "tiles",
        ((0.44, 0.64, 0.70), (0.56, 0.66, 0.76), (0.52, 0.70, 0.62)),
        ((0.78, 0.92, 0.94), (0.84, 0.88, 0.96), (0.80, 0.94, 0.88)),
    ),
}  # fmt: skip
# With varied_decor=False: floor pattern, floor color and wall color by room kind.
FIXED_DECOR: dict[str, tuple[str, RGB, RGB]] = {
    "living room": ("carpet", (0.60, 0.56, 0.48), (0.74, 0.80, 0.72)),
    "bedroom": ("wood", (0.50, 0.50, 0.52), (0.80, 0.76, 0.68)),
    "playroom": ("carpet", (0.55, 0.45, 0.36), (0.80, 0.76, 0.68)),
    "pantry": ("wood", (0.60, 0.56, 0.48), (0.76, 0.74, 0.80)),
    "bathroom": ("checker", (0.60, 0.56, 0.48), (0.76, 0.74, 0.80)),
}


@dataclass(frozen=True)
class RoomPlan:
    """A room: its floor rectangle and its decor."""

    name: str
    kind: str
    low: XY
    high: XY
    floor: str  # "wood", "tile", "checker", "carpet", "stripes" or "mats"
    floor_color: RGB
    wall_color: RGB
    walls: str = "plain"  # or "stripes", "dado", "boards" or "tiles"


@dataclass(frozen=True)
class DoorPlan:
    """An opening in the walls between two rooms."""

    rooms: tuple[int, int]
    middle: XY
    axis: str  # "x" or "y": the direction of passage
    width: float = DOOR_WIDTH_M
    height: float = DOOR_HEIGHT_M


@dataclass(frozen=True)
class Wall:
    """An axis-aligned wall segment in the color of one room."""

    room: int
    center: XYZ
    half: XYZ


def plan_rooms(count: int, side: tuple[float, float], rng: np.random.Generator, varied: bool) -> list[RoomPlan]:
    """`count` rooms of different kinds, each sharing a wall with an earlier one. Sides in meters."""
    kinds = [ROOM_KINDS[i] for i in (rng.permutation(len(ROOM_KINDS)) if varied else range(len(ROOM_KINDS)))][:count]
    placed: list[tuple[XY, XY]] = []
    while len(placed) < count:
        size = np.round(rng.uniform(*side, size=2), 2)
        low = _adjacent_corner(placed[rng.integers(len(placed))], size, rng) if placed else (0.0, 0.0)
        high = (low[0] + float(size[0]), low[1] + float(size[1]))
        if not any(are_closer(low, high, *other, 2 * WALL_THICKNESS_M - 1e-6) for other in placed):
            placed.append((low, high))
    return [
        _decorate(kind, low, high, rng if varied else None) for kind, (low, high) in zip(kinds, placed, strict=True)
    ]


def _adjacent_corner(neighbor: tuple[XY, XY], size: np.ndarray, rng: np.random.Generator) -> XY:
    """Low corner for a room of this size that shares enough wall with its neighbor for a doorway."""
    low, high = neighbor
    along = int(rng.integers(2))  # the axis along which the two rooms are adjacent
    across = 1 - along
    gap = 2 * WALL_THICKNESS_M
    shared = DOOR_WIDTH_M + 2 * MIN_WALL_BESIDE_DOOR_M
    start = [0.0, 0.0]
    start[along] = high[along] + gap if rng.random() < 0.5 else low[along] - gap - float(size[along])
    start[across] = float(rng.uniform(low[across] + shared - size[across], high[across] - shared))
    return start[0], start[1]


def are_closer(low: XY, high: XY, other_low: XY, other_high: XY, gap: float) -> bool:
    """Whether two rectangles are closer than `gap` on both axes."""
    return (
        low[0] < other_high[0] + gap
        and other_low[0] < high[0] + gap
        and low[1] < other_high[1] + gap
        and other_low[1] < high[1] + gap
    )


def _decorate(kind: str, low: XY, high: XY, rng: np.random.Generator | None) -> RoomPlan:
    if rng is None:
        return RoomPlan(kind, kind, low, high, *FIXED_DECOR[kind])
    decor = DECORS[kind]
    return RoomPlan(
        name=kind,
        kind=kind,
        low=low,
        high=high,
        floor=decor.floors[rng.integers(len(decor.floors))],
        floor_color=decor.floor_colors[rng.integers(len(decor.floor_colors))],
        wall_color=decor.wall_colors[rng.integers(len(decor.wall_colors))],
        walls=decor.walls,
    )


def plan_doors(rooms: Sequence[RoomPlan], rng: np.random.Generator) -> list[DoorPlan]:
    """A doorway wherever two rooms share enough wall: every room is reachable, some by two routes."""
    doors = []
    for i in range(len(rooms)):
        for j in range(i + 1, len(rooms)):
            for along, axis in enumerate(("x", "y")):
                door = _door(rooms, (i, j), along, axis, rng)
                if door is not None:
                    doors.append(door)
    return doors


def _door(
    rooms: Sequence[RoomPlan], pair: tuple[int, int], along: int, axis: str, rng: np.random.Generator
) -> DoorPlan | None:
    first, second = sorted((rooms[i] for i in pair), key=lambda room: room.low[along])
    across = 1 - along
    touching = abs(second.low[along] - first.high[along] - 2 * WALL_THICKNESS_M) < 1e-6
    margin = DOOR_WIDTH_M / 2 + MIN_WALL_BESIDE_DOOR_M
    low = max(first.low[across], second.low[across]) + margin
    high = min(first.high[across], second.high[across]) - margin
    if not touching or low > high + 1e-9:
        return None
    middle = [0.0, 0.0]
    middle[along] = (first.high[along] + second.low[along]) / 2
    middle[across] = float(rng.uniform(low, max(low, high)))
    return DoorPlan(pair, (middle[0], middle[1]), axis)


def build_walls(rooms: Sequence[RoomPlan], doors: Sequence[DoorPlan]) -> list[Wall]:
    """The four walls of every room, with doorways cut out and lintels above them."""
    return [
        wall
        for index in range(len(rooms))
        for along in (0, 1)
        for far in (False, True)
        for wall in _room_side(rooms[index], index, along, far, doors)
    ]


def _room_side(room: RoomPlan, index: int, along: int, far: bool, doors: Sequence[DoorPlan]) -> Iterator[Wall]:
    """The wall of a room perpendicular to the axis `along`, on its near or far side."""
    across = 1 - along
    at = room.high[along] + WALL_THICKNESS_M / 2 if far else room.low[along] - WALL_THICKNESS_M / 2

    def slab(start: float, end: float, bottom: float) -> Wall:
        center, half = [0.0, 0.0], [0.0, 0.0]
        center[along], half[along] = at, WALL_THICKNESS_M / 2
        center[across], half[across] = (start + end) / 2, (end - start) / 2
        tall = (WALL_HEIGHT_M - bottom) / 2
        return Wall(index, (center[0], center[1], bottom + tall), (half[0], half[1], tall))

    start = room.low[across] - WALL_THICKNESS_M
    for door in sorted(doors, key=lambda door: door.middle[across]):
        if index in door.rooms and "xy".index(door.axis) == along and abs(door.middle[along] - at) < WALL_THICKNESS_M:
            left, right = door.middle[across] - door.width / 2, door.middle[across] + door.width / 2
            yield slab(start, left, 0.0)
            yield slab(left, right, door.height)
            start = right
    yield slab(start, room.high[across] + WALL_THICKNESS_M, 0.0)


def thick_walls(rooms: Sequence[RoomPlan], walls: Sequence[Wall]) -> list[Wall]:
    """The walls at maximum thickness: through the neighbor's wall if there is a room behind, otherwise `OUTER_GROUND_M`
    outwards."""
    return [piece for wall in walls for piece in _thicken(rooms, wall)]


def _thicken(rooms: Sequence[RoomPlan], wall: Wall) -> Iterator[Wall]:
    along = 0 if wall.half[0] < wall.half[1] else 1
    across, room = 1 - along, rooms[wall.room]
    outward = 1.0 if wall.center[along] > room.low[along] else -1.0
    face = wall.center[along] + outward * wall.half[along]
    ground = sorted((face, face + outward * OUTER_GROUND_M))
    start, stop = wall.center[across] - wall.half[across], wall.center[across] + wall.half[across]
    for other in sorted(rooms, key=lambda other: other.low[across]):
        low, high = ([side[k] for k in (along, across)] for side in (other.low, other.high))
        behind = low[0] - WALL_THICKNESS_M < ground[1] - 1e-6 and high[0] + WALL_THICKNESS_M > ground[0] + 1e-6
        if other is not room and behind:
            near, far = (min(max(end, start), stop) for end in (low[1] - WALL_THICKNESS_M, high[1] + WALL_THICKNESS_M))
            yield from _thick_piece(wall, along, start, near, outward * OUTER_GROUND_M)
            yield from _thick_piece(wall, along, near, far, outward * WALL_THICKNESS_M)
            start = far
    yield from _thick_piece(wall, along, start, stop, outward * OUTER_GROUND_M)


def _thick_piece(wall: Wall, along: int, start: float, stop: float, deeper: float) -> Iterator[Wall]:
    """The part of a wall from `start` to `stop` along its length, grown by `deeper` perpendicular to it."""
    if stop - start > 1e-3:
        center, half = list(wall.center), list(wall.half)
        center[along], half[along] = center[along] + deeper / 2, half[along] + abs(deeper) / 2
        center[1 - along], half[1 - along] = (start + stop) / 2, (stop - start) / 2
        yield Wall(wall.room, (center[0], center[1], center[2]), (half[0], half[1], half[2]))
