"""Procedural generation of a house from a seed: rooms, furniture, objects and start poses.

Everything is reachable by construction: furniture keeps a walkable gap to other furniture, stands either flush against
a wall or a walkable gap away from it, and leaves doorways clear, so the free floor is connected.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from interplay.env.playhouse.house.catalog import BIN, CATEGORIES, SIZES
from interplay.env.playhouse.house.category import XYZ, Category
from interplay.env.playhouse.house.config import PlayhouseConfig
from interplay.env.playhouse.house.rooms import (
    XY,
    DoorPlan,
    RoomPlan,
    Wall,
    are_closer,
    build_walls,
    plan_doors,
    plan_rooms,
)

WALKABLE_GAP_M = 0.65  # between obstacles: an avatar is 0.44 wide
OBJECT_GAP_M = 0.3  # between footprints of loose objects; halved if a room is too full
WALL_GAP_M = 0.15
DOOR_CLEARANCE_M = 0.9  # depth of the clear zone before a doorway
START_VIEW_M = 1.2  # free distance ahead of a player at the start
START_CLEARANCE_M = 0.4  # from the center of an avatar to the nearest footprint
CORNER_M = 0.8  # from both walls, at most, of a start in a corner
START_YAW_SPREAD_RAD = math.radians(15)  # around the direction to the room's center, for starts in a corner
MAX_TRIES = 60
BIN_CLEARANCE_M = 0.01  # around an object that starts in a bin
BELOW_RIM_M = 0.1  # of the underside of an object that starts in a bin; its center is below the rim, too

# The first piece identifies the room: every furnished room has it, unless no place was found for it.
FURNISHING: dict[str, tuple[str, ...]] = {
    "living room": ("sofa", "armchair", "table", "lamp", "rack", "ledge", "footrest", "chest"),
    "bedroom": ("bed", "wardrobe", "chest", "lamp", "stool", "table"),
    "playroom": ("easel", "table", "chair", "chest", "rack", "stool", "footrest"),
    "pantry": ("fridge", "dining table", "chair", "rack", "ledge", "wardrobe", "table"),
    "bathroom": ("bathtub", "sink", "stool", "ledge", "chest"),
}
WOODEN = ("brown", "white")  # colors of furniture that the table does not have
COLORS_OF_FURNITURE = {
    **dict.fromkeys(("bathtub", "sink", "fridge"), ("white", "pink", "cyan")),
    **dict.fromkeys(
        ("sofa", "armchair", "bed", "footrest", "lamp", "easel"), ("white", "brown", "blue", "green", "purple", "pink")
    ),
}


@dataclass(frozen=True)
class PlacedThing:
    """A piece of furniture or an object at its start pose. `index`: its index in `House.things`."""

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
        """Radius of the circle around its footprint."""
        x, y, _ = self.half_extents
        return x if self.category.shape in ("sphere", "cylinder") else math.hypot(x, y)


@dataclass(frozen=True)
class House:
    """Static description of a house, with the start poses of everything that moves."""

    seed: int
    rooms: tuple[RoomPlan, ...]
    doorways: tuple[DoorPlan, ...]
    walls: tuple[Wall, ...]
    things: tuple[PlacedThing, ...]  # furniture first
    starts: tuple[tuple[float, float, float], ...]  # (x, y, yaw) of setter and solver

    @property
    def furniture(self) -> tuple[PlacedThing, ...]:
        return tuple(thing for thing in self.things if thing.category.furniture)

    @property
    def objects(self) -> tuple[PlacedThing, ...]:
        return tuple(thing for thing in self.things if not thing.category.furniture)


def make_house(config: PlayhouseConfig, seed: int) -> House:
    """Generates the house of a seed: the same in every process."""
    rng = np.random.default_rng(seed)
    rooms = plan_rooms(
        int(rng.integers(config.rooms[0], config.rooms[1] + 1)), config.room_size, rng, config.varied_decor
    )
    doors = plan_doors(rooms, rng)
    sampler = _LayoutSampler(rooms, doors, rng)
    for room in range(len(rooms)):
        sampler.furnish(room, int(rng.integers(config.furniture[0], config.furniture[1] + 1)))
    sampler.place_objects(config)
    starts = sampler.sample_starts(config.start_in_corner)
    walls = build_walls(rooms, doors)
    return House(seed, tuple(rooms), tuple(doors), tuple(walls), tuple(sampler.things), starts)


class _LayoutSampler:
    """Samples poses for things one after another, by rejection."""

    def __init__(self, rooms: Sequence[RoomPlan], doors: Sequence[DoorPlan], rng: np.random.Generator) -> None:
        self.rooms = rooms
        self.rng = rng
        self.things: list[PlacedThing] = []
        self.clear_zones = [_clear_zone(door) for door in doors]  # rectangles that stay free of things
        self.footprints: list[tuple[XY, XY]] = []  # rectangles of the furniture
        self.object_footprints: list[tuple[XY, float]] = []  # (center, radius) of objects on the floor

    def furnish(self, room: int, count: int) -> None:
        """Places up to `count` different pieces, as many as fit, the identifying one first."""
        names = FURNISHING[self.rooms[room].kind]
        placed = 0
        for i in sorted(self.rng.permutation(len(names)).tolist(), key=lambda i: i > 0):
            if placed == count:
                return
            placed += self._place_furniture(room, CATEGORIES[names[i]])

    def _place_furniture(self, room: int, category: Category) -> bool:
        for _ in range(MAX_TRIES):
            middle, quarter = self._sample_furniture_pose(room, category)
            x, y = _footprint(category, quarter)
            low, high = (middle[0] - x, middle[1] - y), (middle[0] + x, middle[1] + y)
            crowded = any(are_closer(low, high, *other, WALKABLE_GAP_M) for other in self.footprints)
            if not crowded and not any(are_closer(low, high, *zone, 0.0) for zone in self.clear_zones):
                colors = COLORS_OF_FURNITURE.get(category.name, WOODEN)
                color = colors[self.rng.integers(len(colors))]
                self._add(_unplaced(category, color, "medium"), room, middle, 0.0, quarter * math.pi / 2)
                self.footprints.append((low, high))
                return True
        return False

    def _sample_furniture_pose(self, room: int, category: Category) -> tuple[XY, int]:
        """Samples a center and a number of quarter turns that respect the walls of the room."""
        plan = self.rooms[room]
        quarter = int(self.rng.integers(4))
        half = _footprint(category, quarter)
        gap = 0.0 if category.against_wall else WALKABLE_GAP_M
        middle = [0.0, 0.0]
        for k in (0, 1):
            low, high = plan.low[k] + half[k] + gap, plan.high[k] - half[k] - gap
            middle[k] = float(self.rng.uniform(min(low, high), max(low, high)))
        if category.against_wall:
            # It faces +x, +y, -x, -y for 0..3 quarter turns, with its back flush against the wall behind.
            k, towards_low = quarter % 2, quarter < 2
            middle[k] = plan.low[k] + half[k] if towards_low else plan.high[k] - half[k]
            # Sideways it either touches the corner or leaves a walkable gap to it.
            other = 1 - k
            low, high = plan.low[other] + half[other], plan.high[other] - half[other]
            if middle[other] - low < WALKABLE_GAP_M:
                middle[other] = low
            elif high - middle[other] < WALKABLE_GAP_M:
                middle[other] = high
        return (middle[0], middle[1]), quarter

    def place_objects(self, config: PlayhouseConfig) -> None:
        """Places the loose objects on the floor of any room or on furniture."""
        count = int(self.rng.integers(config.objects[0], config.objects[1] + 1))
        objects = _sample_objects(config, count, self.rng)
        if config.may_stock_bins and self.rng.random() < config.stocked_bins:
            objects = self._place_stocked_bin(objects, config.object_sizes)
        for thing in objects:
            on_top = self.rng.random() < config.on_surfaces and self._place_on_furniture(thing)
            if not on_top:
                self._place_on_floor(thing)

    def _place_stocked_bin(self, objects: Sequence[PlacedThing], sizes: Sequence[str]) -> list[PlacedThing]:
        """Places a bin with one to three of the objects in it, as many as fit; returns the other objects.

        The bin replaces the first object that would not fit into it, unless one of them is a bin already."""
        rest = list(objects)
        at = next((i for i, thing in enumerate(rest) if thing.category.name == BIN), None)
        largest = max(sizes, key=SIZES.__getitem__)
        inner = _inner_radius(CATEGORIES[BIN], largest)
        if at is None:
            at = next((i for i, thing in enumerate(rest) if thing.radius > inner), 0)
        self._place_on_floor(_unplaced(CATEGORIES[BIN], rest.pop(at).color, largest))
        box, remaining = self.things[-1], int(self.rng.integers(1, 4))
        floor = 2 * box.category.proxies[0].half[2] * box.scale  # height of the pile's top
        # Balls last: nothing can be put on them.
        for thing in sorted(rest, key=lambda each: each.category.shape == "sphere"):
            half = thing.half_extents[2]
            below_rim = max(floor + BELOW_RIM_M, floor + half) <= 2 * box.half_extents[2]
            fits = thing.radius <= inner - BIN_CLEARANCE_M and below_rim
            if remaining and fits and thing.category.name != BIN:
                rest.remove(thing)
                self._add(thing, box.room, box.position[:2], floor)
                floor += 2 * half
                remaining = 0 if thing.category.shape == "sphere" else remaining - 1
        return rest

    def _place_on_furniture(self, thing: PlacedThing) -> bool:
        radius = thing.radius
        surfaces = [(other, other.category.surface) for other in self.things if other.category.surface is not None]
        candidates = [(other, surface) for other, surface in surfaces if radius <= min(surface.half)]
        if not candidates:
            return False
        furniture, surface = candidates[self.rng.integers(len(candidates))]
        for _ in range(MAX_TRIES):
            along, aside = (float(self.rng.uniform(-1, 1)) * (h - radius) for h in surface.half)
            cos, sin = math.cos(furniture.yaw), math.sin(furniture.yaw)
            x = furniture.position[0] + cos * along - sin * aside
            y = furniture.position[1] + sin * along + cos * aside
            others = [other for other in self.things if not other.category.furniture]
            if all(math.dist((x, y), other.position[:2]) > radius + other.radius + 0.05 for other in others):
                self._add(thing, furniture.room, (x, y), furniture.position[2] + surface.height)
                return True
        return False

    def _place_on_floor(self, thing: PlacedThing) -> None:
        radius = thing.radius
        for attempt in range(20 * MAX_TRIES):
            room = self._sample_room()
            middle = self._sample_point(room, radius + WALL_GAP_M)
            apart = OBJECT_GAP_M if attempt < MAX_TRIES else OBJECT_GAP_M / 2
            if self._free(middle, radius, apart):
                self._add(thing, room, middle, 0.0)
                self.object_footprints.append((middle, radius))
                return
        name = f"{thing.size} {thing.color} {thing.category.name}"
        raise ValueError(f"no free floor for the {name}: lower objects or furniture, or raise room_size")

    def sample_starts(self, start_in_corner: bool) -> tuple[tuple[float, float, float], ...]:
        """Start poses of setter and solver. With `start_in_corner` each stands in a corner, if one is free, and faces
        the room."""
        spots: list[tuple[float, float, float]] = []
        for attempt in range(40 * MAX_TRIES):
            room = self._sample_room()
            corner = start_in_corner and attempt < 20 * MAX_TRIES  # all corners may be taken
            middle = self._sample_corner(room) if corner else self._sample_point(room, START_CLEARANCE_M)
            clearance = START_CLEARANCE_M if attempt < 20 * MAX_TRIES else START_CLEARANCE_M / 1.5
            if spots and math.dist(middle, spots[0][:2]) <= 1.0:
                continue
            if self._free(middle, 0.0, clearance, keep_doors=False):
                sample_yaw = self._sample_yaw_to_middle if start_in_corner else self._sample_open_yaw
                spots.append((*middle, sample_yaw(room, middle)))
                if len(spots) == 2:
                    return tuple(spots)
        raise ValueError("no free floor for the players to stand on: lower objects or furniture, or raise room_size")

    def _free(self, middle: XY, radius: float, apart: float, keep_doors: bool = True) -> bool:
        for low, high in self.clear_zones if keep_doors else ():
            if are_closer(middle, middle, low, high, radius):
                return False
        for low, high in self.footprints:
            if are_closer(middle, middle, low, high, radius + apart):
                return False
        return all(math.dist(middle, other) >= radius + size + apart for other, size in self.object_footprints)

    def _sample_room(self) -> int:
        return int(self.rng.integers(len(self.rooms))) if len(self.rooms) > 1 else 0  # from one, nothing is drawn

    def _sample_point(self, room: int, margin: float) -> XY:
        plan = self.rooms[room]
        x = float(self.rng.uniform(plan.low[0] + margin, plan.high[0] - margin))
        return x, float(self.rng.uniform(plan.low[1] + margin, plan.high[1] - margin))

    def _sample_corner(self, room: int) -> XY:
        """Samples a point in one of the corners."""
        plan = self.rooms[room]
        away_x, away_y = self.rng.uniform(START_CLEARANCE_M, CORNER_M, size=2).tolist()
        x = plan.low[0] + away_x if self.rng.random() < 0.5 else plan.high[0] - away_x
        return x, plan.low[1] + away_y if self.rng.random() < 0.5 else plan.high[1] - away_y

    def _sample_yaw_to_middle(self, room: int, middle: XY) -> float:
        """Samples a yaw towards the room's center, with a spread."""
        plan = self.rooms[room]
        across = [(plan.low[k] + plan.high[k]) / 2 - middle[k] for k in (0, 1)]
        return math.atan2(across[1], across[0]) + float(self.rng.uniform(-START_YAW_SPREAD_RAD, START_YAW_SPREAD_RAD))

    def _sample_open_yaw(self, room: int, middle: XY) -> float:
        """Samples a yaw with `START_VIEW_M` of room ahead."""
        plan = self.rooms[room]
        while True:
            yaw = self._sample_yaw()
            ahead = middle[0] + START_VIEW_M * math.cos(yaw), middle[1] + START_VIEW_M * math.sin(yaw)
            if all(plan.low[k] < ahead[k] < plan.high[k] for k in (0, 1)):
                return yaw

    def _sample_yaw(self) -> float:
        return float(self.rng.uniform(-math.pi, math.pi))

    def _add(self, thing: PlacedThing, room: int, middle: XY, bottom: float, yaw: float | None = None) -> None:
        """Adds a thing at the height `bottom` of its underside, with a yaw at random unless it is given."""
        yaw = self._sample_yaw() if yaw is None else yaw
        position = (*middle, bottom + thing.half_extents[2])
        index = len(self.things)
        self.things.append(PlacedThing(index, thing.category, thing.color, thing.size, room, position, yaw))


def _unplaced(category: Category, color: str, size: str) -> PlacedThing:
    """A thing whose index, room and pose are still open."""
    return PlacedThing(-1, category, color, size, -1, (0.0, 0.0, 0.0), 0.0)


def _sample_objects(config: PlayhouseConfig, count: int, rng: np.random.Generator) -> list[PlacedThing]:
    """Samples category, color and size of each object; pairs of category and color are distinct if possible."""
    categories, colors, sizes = config.object_categories, config.object_colors, config.object_sizes
    shuffled = [colors[i] for i in rng.permutation(len(colors))]
    objects: list[PlacedThing] = []
    taken: set[tuple[str, str]] = set()
    for i in range(count):
        for _ in range(MAX_TRIES):
            name = categories[rng.integers(len(categories))]
            color = shuffled[i] if config.unique_colors else colors[rng.integers(len(colors))]
            if (name, color) not in taken:
                break
        taken.add((name, color))
        objects.append(_unplaced(CATEGORIES[name], color, sizes[rng.integers(len(sizes))]))
    return objects


def _inner_radius(category: Category, size: str) -> float:
    """Distance from the center of a bin to its walls."""
    wall = max(category.proxies, key=lambda part: part.offset[0])
    return (wall.offset[0] - wall.half[0]) * SIZES[size]


def _footprint(category: Category, quarter: int) -> tuple[float, float]:
    x, y, _ = category.half_extents
    return (y, x) if quarter % 2 else (x, y)


def _clear_zone(door: DoorPlan) -> tuple[XY, XY]:
    """The floor on both sides of a doorway, as a rectangle."""
    half = (DOOR_CLEARANCE_M, door.width / 2) if door.axis == "x" else (door.width / 2, DOOR_CLEARANCE_M)
    return (door.middle[0] - half[0], door.middle[1] - half[1]), (door.middle[0] + half[0], door.middle[1] + half[1])
