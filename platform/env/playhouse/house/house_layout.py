"""A whole house from a seed: rooms, furniture, objects, and where the players start.

Everything can be reached by construction: pieces of furniture keep a walkable gap between them, stand either flush
against a wall or a walkable gap away from it, and leave the doorways free, so the floor between them is in one piece.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from interplay.env.playhouse.house.catalog import BIN, CATEGORIES, SIZES, XYZ, Category
from interplay.env.playhouse.house.config import PlayhouseConfig
from interplay.env.playhouse.house.rooms import (
    XY,
    DoorPlan,
    RoomPlan,
    Wall,
    build_walls,
    plan_doors,
    plan_rooms,
)

WALKABLE_GAP_M = 0.65  # meters between obstacles: an avatar is 0.44 wide
OBJECT_GAP_M = 0.3  # meters between the footprints of loose objects; halved where a room is too full
WALL_GAP_M = 0.15
DOOR_CLEARANCE_M = 0.9  # how far into a room its doorways are kept free
START_VIEW_M = 1.2  # meters that a player can see ahead at the start
START_CLEARANCE_M = 0.4  # meters from the middle of an avatar to the nearest footprint
CORNER_M = 0.8  # meters from both walls, at most, of a start in a corner
START_YAW_SPREAD_RAD = math.radians(15)  # off the middle of the room, at most, when one starts by overlooking it
MAX_TRIES = 60
BIN_CLEARANCE_M = 0.01  # meters to spare all round what starts in a bin
BELOW_RIM_M = 0.1  # meters under a bin's rim, at least, of the underside of what starts in it; and its middle is below

ObjectDescription = tuple[Category, str, str]  # category, color and size of an object

# By what comes first one knows the room: no room with furniture is without it, unless no place for it was found.
FURNISHING: dict[str, tuple[str, ...]] = {
    "living room": ("sofa", "armchair", "table", "lamp", "rack", "ledge", "footrest", "chest"),
    "bedroom": ("bed", "wardrobe", "chest", "lamp", "stool", "table"),
    "playroom": ("easel", "table", "chair", "chest", "rack", "stool", "footrest"),
    "pantry": ("fridge", "dining table", "chair", "rack", "ledge", "wardrobe", "table"),
    "bathroom": ("bathtub", "sink", "stool", "ledge", "chest"),
}
WOODEN = ("brown", "white")
ENAMELLED = ("white", "pink", "cyan")
UPHOLSTERED = ("white", "brown", "blue", "green", "purple", "pink")
UPHOLSTERY = frozenset({"sofa", "armchair", "bed", "footrest", "lamp", "easel"})
ENAMEL = frozenset({"bathtub", "sink", "fridge"})


@dataclass(frozen=True)
class PlacedThing:
    """A piece of furniture or an object where it starts. `index` is its place in `House.things`."""

    index: int
    category: Category
    color: str
    size: str
    room: int
    position: XYZ  # of its center
    yaw: float

    @property
    def scale(self) -> float:
        return SIZES[self.size]

    @property
    def half_extents(self) -> XYZ:
        x, y, z = self.category.half_extents
        return x * self.scale, y * self.scale, z * self.scale

    @property
    def radius(self) -> float:
        """Of the circle around its footprint; a round thing is its own circle."""
        x, y, _ = self.half_extents
        return x if self.category.shape in ("sphere", "cylinder") else math.hypot(x, y)


@dataclass(frozen=True)
class House:
    """Everything that stays as it was made, and where everything else started."""

    seed: int
    rooms: tuple[RoomPlan, ...]
    doorways: tuple[DoorPlan, ...]
    walls: tuple[Wall, ...]
    things: tuple[PlacedThing, ...]  # furniture first
    starts: tuple[tuple[float, float, float], ...]  # x, y, yaw of the setter and of the solver

    @property
    def furniture(self) -> tuple[PlacedThing, ...]:
        return tuple(thing for thing in self.things if thing.category.furniture)

    @property
    def objects(self) -> tuple[PlacedThing, ...]:
        return tuple(thing for thing in self.things if not thing.category.furniture)


def make_house(config: PlayhouseConfig, seed: int) -> House:
    """The house of this seed under these settings: the same in every process."""
    rng = np.random.default_rng(seed)
    rooms = plan_rooms(
        int(rng.integers(config.rooms[0], config.rooms[1] + 1)), config.room_size, rng, config.varied_decor
    )
    doors = plan_doors(rooms, rng)
    placing = _Placing(rooms, doors, rng)
    for room in range(len(rooms)):
        placing.furnish(room, int(rng.integers(config.furniture[0], config.furniture[1] + 1)))
    placing.scatter(config)
    starts = placing.starts(config.start_in_corner)
    walls = build_walls(rooms, doors)
    return House(seed, tuple(rooms), tuple(doors), tuple(walls), tuple(placing.things), starts)


class _Placing:
    """Puts things into rooms one after another, keeping them apart."""

    def __init__(self, rooms: Sequence[RoomPlan], doors: Sequence[DoorPlan], rng: np.random.Generator) -> None:
        self.rooms = rooms
        self.rng = rng
        self.things: list[PlacedThing] = []
        self.clear = [_clear_zone(door) for door in doors]  # rectangles that stay free
        self.footprints: list[tuple[XY, XY]] = []  # of the furniture
        self.lying: list[tuple[XY, float]] = []  # middles and radii of the objects on the floor

    def furnish(self, room: int, count: int) -> None:
        """Up to `count` different pieces: as many as fit, the telling one first."""
        names = FURNISHING[self.rooms[room].kind]
        placed = 0
        for i in sorted(self.rng.permutation(len(names)), key=lambda i: i > 0):
            if placed == count:
                return
            placed += self._stand(room, CATEGORIES[names[i]])

    def _stand(self, room: int, category: Category) -> bool:
        for _ in range(MAX_TRIES):
            middle, quarter = self._spot(room, category)
            x, y = _footprint(category, quarter)
            low, high = (middle[0] - x, middle[1] - y), (middle[0] + x, middle[1] + y)
            crowded = any(_near(low, high, *other, WALKABLE_GAP_M) for other in self.footprints)
            if not crowded and not any(_near(low, high, *zone, 0.0) for zone in self.clear):
                colors = _colors(category.name)
                color = colors[self.rng.integers(len(colors))]
                self._add(category, color, "medium", room, middle, category.half_extents[2], quarter * math.pi / 2)
                self.footprints.append((low, high))
                return True
        return False

    def _spot(self, room: int, category: Category) -> tuple[XY, int]:
        """A middle, and quarter turns, that respect the walls of the room."""
        plan = self.rooms[room]
        quarter = int(self.rng.integers(4))
        half = _footprint(category, quarter)
        gap = 0.0 if category.against_wall else WALKABLE_GAP_M
        middle = [0.0, 0.0]
        for k in (0, 1):
            low, high = plan.low[k] + half[k] + gap, plan.high[k] - half[k] - gap
            middle[k] = float(self.rng.uniform(min(low, high), max(low, high)))
        if category.against_wall:
            # Its front looks along +x, +y, -x, -y for 0..3 quarter turns, so its back is flush with the wall behind.
            k, towards_low = quarter % 2, quarter < 2
            middle[k] = plan.low[k] + half[k] if towards_low else plan.high[k] - half[k]
            # Sideways it either touches the corner or leaves a way into it.
            other = 1 - k
            low, high = plan.low[other] + half[other], plan.high[other] - half[other]
            if middle[other] - low < WALKABLE_GAP_M:
                middle[other] = low
            elif high - middle[other] < WALKABLE_GAP_M:
                middle[other] = high
        return (middle[0], middle[1]), quarter

    def scatter(self, config: PlayhouseConfig) -> None:
        """The loose objects: on the floor of any room, or on top of furniture."""
        count = int(self.rng.integers(config.objects[0], config.objects[1] + 1))
        described = _describe(config, count, self.rng)
        if config.may_stock_bins and self.rng.random() < config.stocked_bins:
            described = self._stock_bin(described, config.object_sizes)
        for category, color, size in described:
            on_top = self.rng.random() < config.on_surfaces and self._lay_on_top(category, color, size)
            if not on_top:
                self._lay_on_floor(category, color, size)

    def _stock_bin(self, described: Sequence[ObjectDescription], sizes: Sequence[str]) -> list[ObjectDescription]:
        """Lays out a bin that holds one to three of the things described, as many as fit; returns all others.

        The bin takes the place of the first that would not fit in, unless one of them is a bin."""
        rest = list(described)
        at = next((i for i, (category, _, _) in enumerate(rest) if category.name == BIN), None)
        largest = max(sizes, key=SIZES.__getitem__)
        if at is None:
            inner = _inner(CATEGORIES[BIN], largest)
            at = next((i for i, (category, _, size) in enumerate(rest) if _radius(category, size) > inner), 0)
        color = rest.pop(at)[1]
        self._lay_on_floor(CATEGORIES[BIN], color, largest)
        box, wanted = self.things[-1], int(self.rng.integers(1, 4))
        floor = 2 * box.category.proxies[0].half[2] * box.scale  # the heights of the pile, and then of its top
        for described_thing in sorted(rest, key=lambda each: each[0].shape == "sphere"):  # nothing lies on a ball
            category, color, size = described_thing
            half = category.half_extents[2] * SIZES[size]
            fits = _radius(category, size) <= _inner(box.category, box.size) - BIN_CLEARANCE_M
            sinks = max(floor + BELOW_RIM_M, floor + half) <= 2 * box.half_extents[2]
            if wanted and fits and sinks and category.name != BIN:
                rest.remove(described_thing)
                self._add(category, color, size, box.room, box.position[:2], floor + half, self._any_yaw())
                floor += 2 * half
                wanted = 0 if category.shape == "sphere" else wanted - 1
        return rest

    def _lay_on_top(self, category: Category, color: str, size: str) -> bool:
        radius = _radius(category, size)
        tops = [thing for thing in self.things if thing.category.furniture and _fits(thing.category, radius)]
        if not tops:
            return False
        furniture = tops[self.rng.integers(len(tops))]
        surface = furniture.category.surface
        assert surface is not None
        for _ in range(MAX_TRIES):
            along, aside = (float(self.rng.uniform(-1, 1)) * (h - radius) for h in surface.half)
            cos, sin = math.cos(furniture.yaw), math.sin(furniture.yaw)
            x = furniture.position[0] + cos * along - sin * aside
            y = furniture.position[1] + sin * along + cos * aside
            mates = [thing for thing in self.things if not thing.category.furniture]
            if all(math.dist((x, y), mate.position[:2]) > radius + mate.radius + 0.05 for mate in mates):
                height = furniture.position[2] + surface.height + category.half_extents[2] * SIZES[size]
                self._add(category, color, size, furniture.room, (x, y), height, self._any_yaw())
                return True
        return False

    def _lay_on_floor(self, category: Category, color: str, size: str) -> None:
        radius = _radius(category, size)
        for attempt in range(20 * MAX_TRIES):
            room = int(self.rng.integers(len(self.rooms)))
            middle = self._inside(room, radius + WALL_GAP_M)
            apart = OBJECT_GAP_M if attempt < MAX_TRIES else OBJECT_GAP_M / 2
            if self._free(middle, radius, apart):
                height = category.half_extents[2] * SIZES[size]
                self._add(category, color, size, room, middle, height, self._any_yaw())
                self.lying.append((middle, radius))
                return
        raise ValueError(
            f"no free floor for the {size} {color} {category.name}: lower objects or furniture, or raise room_size"
        )

    def starts(self, start_in_corner: bool) -> tuple[tuple[float, float, float], ...]:
        """Start poses of setter and solver. With `start_in_corner` each stands in a corner, if one is free, and faces
        the room."""
        spots: list[tuple[float, float, float]] = []
        for attempt in range(40 * MAX_TRIES):
            room = int(self.rng.integers(len(self.rooms)))
            corner = start_in_corner and attempt < 20 * MAX_TRIES  # all corners may be taken
            middle = self._corner(room) if corner else self._inside(room, START_CLEARANCE_M)
            clearance = START_CLEARANCE_M if attempt < 20 * MAX_TRIES else START_CLEARANCE_M / 1.5
            apart = all(math.dist(middle, spot[:2]) > 1.0 for spot in spots)
            if apart and self._free(middle, 0.0, clearance, keep_doors=False):
                yaw = self._yaw_across(room, middle) if start_in_corner else self._yaw_into(room, middle)
                spots.append((*middle, yaw))
                if len(spots) == 2:
                    return tuple(spots)
        raise ValueError("no free floor for the players to stand on: lower objects or furniture, or raise room_size")

    def _free(self, middle: XY, radius: float, apart: float, keep_doors: bool = True) -> bool:
        if keep_doors and any(_near(middle, middle, *zone, radius) for zone in self.clear):
            return False
        if any(_near(middle, middle, *footprint, radius + apart) for footprint in self.footprints):
            return False
        return all(math.dist(middle, other) >= radius + size + apart for other, size in self.lying)

    def _inside(self, room: int, margin: float) -> XY:
        plan = self.rooms[room]
        x, y = (float(self.rng.uniform(plan.low[k] + margin, plan.high[k] - margin)) for k in (0, 1))
        return x, y

    def _corner(self, room: int) -> XY:
        """A place in one of the corners."""
        plan = self.rooms[room]
        away = self.rng.uniform(START_CLEARANCE_M, CORNER_M, size=2)
        x, y = (float(plan.low[k] + away[k] if self.rng.random() < 0.5 else plan.high[k] - away[k]) for k in (0, 1))
        return x, y

    def _yaw_across(self, room: int, middle: XY) -> float:
        """To the middle of the room, about."""
        plan = self.rooms[room]
        across = [(plan.low[k] + plan.high[k]) / 2 - middle[k] for k in (0, 1)]
        return math.atan2(across[1], across[0]) + float(self.rng.uniform(-START_YAW_SPREAD_RAD, START_YAW_SPREAD_RAD))

    def _yaw_into(self, room: int, middle: XY) -> float:
        """Any direction in which the wall is not right before one's nose."""
        plan = self.rooms[room]
        while True:
            yaw = self._any_yaw()
            ahead = middle[0] + START_VIEW_M * math.cos(yaw), middle[1] + START_VIEW_M * math.sin(yaw)
            if all(plan.low[k] < ahead[k] < plan.high[k] for k in (0, 1)):
                return yaw

    def _any_yaw(self) -> float:
        return float(self.rng.uniform(-math.pi, math.pi))

    def _add(self, category: Category, color: str, size: str, room: int, middle: XY, height: float, yaw: float) -> None:
        self.things.append(PlacedThing(len(self.things), category, color, size, room, (*middle, height), yaw))


def _describe(config: PlayhouseConfig, count: int, rng: np.random.Generator) -> list[ObjectDescription]:
    """Category, color and size of each object; no two alike in category and color while that can be had."""
    categories, colors, sizes = config.object_categories, config.object_colors, config.object_sizes
    shuffled = [colors[i] for i in rng.permutation(len(colors))]
    described: list[ObjectDescription] = []
    taken: set[tuple[str, str]] = set()
    for i in range(count):
        for _ in range(MAX_TRIES):
            name = categories[rng.integers(len(categories))]
            color = shuffled[i] if config.unique_colors else colors[rng.integers(len(colors))]
            if (name, color) not in taken:
                break
        taken.add((name, color))
        described.append((CATEGORIES[name], color, sizes[rng.integers(len(sizes))]))
    return described


def _inner(category: Category, size: str) -> float:
    """From the middle of a bin to its walls."""
    wall = max(category.proxies, key=lambda part: part.offset[0])
    return (wall.offset[0] - wall.half[0]) * SIZES[size]


def _colors(furniture: str) -> tuple[str, ...]:
    if furniture in ENAMEL:
        return ENAMELLED
    return UPHOLSTERED if furniture in UPHOLSTERY else WOODEN


def _radius(category: Category, size: str) -> float:
    return PlacedThing(-1, category, "", size, -1, (0, 0, 0), 0.0).radius


def _fits(category: Category, radius: float) -> bool:
    return category.surface is not None and radius <= min(category.surface.half)


def _footprint(category: Category, quarter: int) -> tuple[float, float]:
    x, y, _ = category.half_extents
    return (y, x) if quarter % 2 else (x, y)


def _near(low: XY, high: XY, other_low: XY, other_high: XY, gap: float) -> bool:
    """Do two rectangles come closer than `gap` on both axes?"""
    return all(low[k] < other_high[k] + gap and other_low[k] < high[k] + gap for k in (0, 1))


def _clear_zone(door: DoorPlan) -> tuple[XY, XY]:
    """The floor before and behind a doorway, as a rectangle."""
    half = (DOOR_CLEARANCE_M, door.width / 2) if door.axis == "x" else (door.width / 2, DOOR_CLEARANCE_M)
    return (door.middle[0] - half[0], door.middle[1] - half[1]), (door.middle[0] + half[0], door.middle[1] + half[1])
