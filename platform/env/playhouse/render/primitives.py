"""Tables of render primitives: all parts of a house's rooms, doorways, things and avatars."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from interplay.env.arrays import Float32Array, Int32Array
from interplay.env.playhouse.house.catalog import CATEGORIES, COLORS, SIZES
from interplay.env.playhouse.house.category import RGB, BodyPart, cylinder, ellipsoid
from interplay.env.playhouse.house.house_layout import House, PlacedThing
from interplay.env.playhouse.house.rooms import WALL_HEIGHT_M, WALL_THICKNESS_M, DoorPlan
from interplay.env.playhouse.render.raycast import PRIMITIVE_KINDS, ROOM, SHADOW

HOUSE_ID = -1  # id of walls, floors and background
AVATAR_IDS = (-2, -3)  # ids of the setter's and the solver's avatar
_NOT_TURNED = np.eye(3, dtype=np.float32).reshape(1, 9)

PAINT_COLORS: dict[str, RGB] = {
    **COLORS,
    "wood": (0.66, 0.47, 0.27),
    "black": (0.10, 0.10, 0.11),
    "grey": (0.55, 0.56, 0.58),
    "skin": (0.94, 0.78, 0.62),
    "slate": (0.26, 0.30, 0.40),
    "olive": (0.47, 0.45, 0.26),
    "pale": (0.68, 0.70, 0.75),
    "leaf": (0.07, 0.47, 0.10),
    "glass": (0.72, 0.88, 0.95),
    "glow": (1.00, 0.96, 0.70),
    "frame": (0.88, 0.86, 0.80),
}

# The origin of an avatar's body is on the floor, that of its head in the eye; both face +x.
_HEAD: tuple[BodyPart, ...] = (
    ellipsoid((-0.04, 0, 0.02), (0.15, 0.14, 0.17), "skin"),
    ellipsoid((-0.07, 0, 0.09), (0.145, 0.15, 0.13), "black"),
    ellipsoid((0.085, 0.055, 0.03), (0.03, 0.035, 0.035), "white"),
    ellipsoid((0.085, -0.055, 0.03), (0.03, 0.035, 0.035), "white"),
    ellipsoid((0.105, 0.055, 0.03), (0.018, 0.02, 0.02), "black"),
    ellipsoid((0.105, -0.055, 0.03), (0.018, 0.02, 0.02), "black"),
    ellipsoid((0.11, 0, -0.03), (0.035, 0.025, 0.03), "skin"),
)


def _body(clothes: str) -> tuple[BodyPart, ...]:
    return (
        cylinder((0, 0.09, 0.35), 0.08, 0.35, "black"),
        cylinder((0, -0.09, 0.35), 0.08, 0.35, "black"),
        ellipsoid((0, 0, 0.95), (0.16, 0.2, 0.38), clothes),
        ellipsoid((0.04, 0.22, 0.98), (0.065, 0.06, 0.25), clothes),
        ellipsoid((0.04, -0.22, 0.98), (0.065, 0.06, 0.25), clothes),
    )


class RenderPrimitives(NamedTuple):
    """Table of P primitives: rooms, then parts, then the shadows of S things."""

    kinds: Int32Array  # [P]
    owners: Int32Array  # [P], index of the body of each part: things, two per avatar, the house
    offsets: Float32Array  # [P, 3], in the owner's frame
    rotations: Float32Array  # [P, 9]
    halves: Float32Array  # [P, 3]
    radii: Float32Array  # [P], of bounding balls
    colors: Float32Array  # [P, 3], 0 - 255; a room's is its floor's
    names: NDArray[np.int16]  # [P], the id drawn into the id picture
    extents: Float32Array  # [S, 3], half-sizes of the bounding boxes of the things that cast shadows


class _Rows(NamedTuple):
    """Rows of the table, without owners and names."""

    kinds: Int32Array
    offsets: Float32Array
    rotations: Float32Array
    halves: Float32Array
    colors: Float32Array


def _part_rows(parts: Sequence[BodyPart], color: str, scale: float = 1.0) -> _Rows:
    """The parts of a thing of this color; `scale`: its size, compared with medium."""
    size = np.float32(scale)
    return _Rows(
        kinds=np.array([PRIMITIVE_KINDS[part.primitive] for part in parts], np.int32),
        offsets=np.array([part.offset for part in parts], np.float32).reshape(-1, 3) * size,
        rotations=np.array([part.rotation() for part in parts], np.float32).reshape(-1, 9),
        halves=np.array([part.half for part in parts], np.float32).reshape(-1, 3) * size,
        colors=_paints(tuple(part.paint for part in parts), color),
    )


@functools.lru_cache(maxsize=1024)
def _thing_rows(category: str, color: str, size: str) -> _Rows:
    return _part_rows(CATEGORIES[category].parts, color, SIZES[size])


@functools.cache
def _paints(paints: tuple[str, ...], main: str) -> Float32Array:
    """Colors [n, 3], 0 - 255, of parts with these paints on a thing of this color."""
    own, white = np.array(PAINT_COLORS[main]), main == "white"
    table = {
        "main": own,
        "dark": own * 0.55,
        "light": own * 0.8 if white else own * 0.5 + 0.5,
        "trim": np.array(PAINT_COLORS["pale" if white else "white"]),
    }
    rows = [table[paint] if paint in table else np.array(PAINT_COLORS[paint]) for paint in paints]
    return np.array(rows, np.float32).reshape(-1, 3) * np.float32(255.0)


# Body and head of the setter and the solver.
_AVATARS = tuple((_part_rows(_body(clothes), "white"), _part_rows(_HEAD, "white")) for clothes in ("slate", "olive"))


def build_primitives(house: House) -> RenderPrimitives:
    """Builds the primitives of a house and the two avatars."""
    things, home = house.things, len(house.things) + 4
    shadows = _shadows(things)
    blocks = [_rooms(house), _frames(house.doorways)]
    blocks += [_thing_rows(thing.category.name, thing.color, thing.size) for thing in things]
    blocks += [rows for avatar in _AVATARS for rows in avatar]
    counts = [len(block.kinds) for block in blocks] + [1] * len(things)
    indices = [thing.index for thing in things]
    owners = [home, home, *indices, *range(len(things), home), *indices]
    names = [HOUSE_ID, HOUSE_ID, *indices, *(name for name in AVATAR_IDS for _ in range(2)), *indices]
    kinds, offsets, rotations, halves, colors = (
        np.concatenate(column) for column in zip(*blocks, shadows, strict=True)
    )
    return RenderPrimitives(
        kinds=kinds,
        owners=np.repeat(np.array(owners, np.int32), counts),
        offsets=offsets,
        rotations=rotations,
        halves=halves,
        radii=np.sqrt((halves * halves).sum(axis=1)),
        colors=colors,
        names=np.repeat(np.array(names, np.int16), counts),
        extents=shadows.halves.copy(),
    )


def _upright(kind: int, boxes: Iterable[tuple[Sequence[float], Sequence[float]]], colors: Float32Array) -> _Rows:
    """Axis-aligned primitives from (center, half-sizes)."""
    table = np.array(list(boxes), np.float32).reshape(-1, 2, 3)
    count = len(table)
    kinds, rotations = np.full(count, kind, np.int32), np.repeat(_NOT_TURNED, count, axis=0)
    return _Rows(kinds, table[:, 0], rotations, table[:, 1], colors)


def _rooms(house: House) -> _Rows:
    tall = WALL_HEIGHT_M / 2
    boxes = [
        (
            ((room.low[0] + room.high[0]) / 2, (room.low[1] + room.high[1]) / 2, tall),
            ((room.high[0] - room.low[0]) / 2, (room.high[1] - room.low[1]) / 2, tall),
        )
        for room in house.rooms
    ]
    return _upright(ROOM, boxes, pale_colors([room.floor_color for room in house.rooms]))


def pale_colors(colors: Sequence[RGB]) -> Float32Array:
    """Colors [n, 3], 0 - 255, blended with light gray, so that things stand out from floors and walls."""
    return (np.array(colors, np.float32) * np.float32(0.6) + np.float32(0.34)) * np.float32(255.0)


def _frames(doors: Sequence[DoorPlan]) -> _Rows:
    """Linings of the doorways, which close the gap between two rooms so that no ray enters the walls."""
    boxes, paints = [], []
    for door in doors:
        wide, deep, tall = door.width / 2, WALL_THICKNESS_M, door.height / 2
        lintel = (WALL_HEIGHT_M - door.height) / 2
        sides = [(-wide - 0.05, tall, 0.05, tall), (wide + 0.05, tall, 0.05, tall)]
        sides += [(0.0, door.height + lintel, wide + 0.1, lintel), (0.0, -0.05, wide + 0.1, 0.05)]
        for along, height, half, half_height in sides:
            x, y = door.middle
            if door.axis == "x":
                boxes.append(((x, y + along, height), (deep, half, half_height)))
            else:
                boxes.append(((x + along, y, height), (half, deep, half_height)))
        paints += ["frame", "frame", "frame", "wood"]
    return _upright(PRIMITIVE_KINDS["box"], boxes, _paints(tuple(paints), "white"))


def _shadows(things: Sequence[PlacedThing]) -> _Rows:
    boxes = [((0.0, 0.0, 0.0), thing.half_extents) for thing in things]
    return _upright(SHADOW, boxes, np.zeros((len(things), 3), np.float32))
