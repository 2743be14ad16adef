"""Tables of render primitives: all parts of a house's rooms, doorways, things and avatars."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from interplay.env.arrays import Float32Array, Int32Array
from interplay.env.playhouse.house.catalog import CATEGORIES, COLORS
from interplay.env.playhouse.house.category import RGB, BodyPart, cylinder, ellipsoid
from interplay.env.playhouse.house.house_layout import House, PlacedThing
from interplay.env.playhouse.house.rooms import WALL_HEIGHT_M, WALL_THICKNESS_M, DoorPlan
from interplay.env.playhouse.render.raycast import PRIMITIVE_KINDS, ROOM, SHADOW

HOUSE_ID = -1  # id of walls, floors and background
AVATAR_IDS = (-2, -3)  # ids of the setter's and the solver's avatar

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


@dataclass(frozen=True)
class _Shape:
    """Parts of one category at medium size as arrays; `paints` are resolved per thing."""

    kinds: Int32Array
    offsets: Float32Array
    rotations: Float32Array
    halves: Float32Array
    paints: tuple[str, ...]


def _shape(parts: Sequence[BodyPart]) -> _Shape:
    return _Shape(
        kinds=np.array([PRIMITIVE_KINDS[part.primitive] for part in parts], np.int32),
        offsets=np.array([part.offset for part in parts], np.float32).reshape(-1, 3),
        rotations=np.array([part.rotation() for part in parts], np.float32).reshape(-1, 9),
        halves=np.array([part.half for part in parts], np.float32).reshape(-1, 3),
        paints=tuple(part.paint for part in parts),
    )


@functools.cache
def _category_shape(name: str) -> _Shape:
    return _shape(CATEGORIES[name].parts)


_AVATAR_SHAPES = tuple((_shape(_body(clothes)), _shape(_HEAD)) for clothes in ("slate", "olive"))  # body and head


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


def build_primitives(house: House) -> RenderPrimitives:
    """Builds the primitives of a house and the two avatars."""
    things = len(house.things)
    home = things + 4
    rows = [_rooms(house, home), _frames(house.doorways, home)]
    rows += [_rows(_category_shape(t.category.name), t.color, t.scale, t.index, t.index) for t in house.things]
    for role, shapes in enumerate(_AVATAR_SHAPES):
        name, first = AVATAR_IDS[role], things + 2 * role
        rows += [_rows(shape, "white", 1.0, first + number, name) for number, shape in enumerate(shapes)]
    rows.append(_shadows(house.things))
    kinds, owners, offsets, rotations, halves, colors, names = (
        np.concatenate(column) for column in zip(*rows, strict=True)
    )
    radii, extents = np.sqrt((halves * halves).sum(axis=1)), halves[len(kinds) - things :].copy()
    return RenderPrimitives(kinds, owners, offsets, rotations, halves, radii, colors, names, extents)


_Rows = tuple[Int32Array, Int32Array, Float32Array, Float32Array, Float32Array, Float32Array, NDArray[np.int16]]


def _rows(shape: _Shape, color: str, scale: float, owner: int, name: int) -> _Rows:
    count, size = len(shape.kinds), np.float32(scale)
    return (
        shape.kinds,
        np.full(count, owner, np.int32),
        shape.offsets * size,
        shape.rotations,
        shape.halves * size,
        _paints(shape.paints, color),
        np.full(count, name, np.int16),
    )


def _upright(
    kind: int, boxes: Iterable[tuple[Sequence[float], Sequence[float]]], owner: int, colors: Float32Array
) -> _Rows:
    """Axis-aligned primitives of the house itself from (center, half-sizes)."""
    table = np.array(list(boxes), np.float32).reshape(-1, 2, 3)
    count = len(table)
    return (
        np.full(count, kind, np.int32),
        np.full(count, owner, np.int32),
        table[:, 0],
        np.tile(np.eye(3, dtype=np.float32).reshape(9), (count, 1)),
        table[:, 1],
        colors,
        np.full(count, HOUSE_ID, np.int16),
    )


def _rooms(house: House, owner: int) -> _Rows:
    tall = WALL_HEIGHT_M / 2
    boxes = [
        (
            ((room.low[0] + room.high[0]) / 2, (room.low[1] + room.high[1]) / 2, tall),
            ((room.high[0] - room.low[0]) / 2, (room.high[1] - room.low[1]) / 2, tall),
        )
        for room in house.rooms
    ]
    return _upright(ROOM, boxes, owner, pale_colors([room.floor_color for room in house.rooms]))


def pale_colors(colors: Sequence[RGB]) -> Float32Array:
    """Colors [n, 3], 0 - 255, blended with light grey, so that things stand out from floors and walls."""
    return (np.array(colors, np.float32) * np.float32(0.6) + np.float32(0.34)) * np.float32(255.0)


def _frames(doors: Sequence[DoorPlan], owner: int) -> _Rows:
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
    return _upright(PRIMITIVE_KINDS["box"], boxes, owner, _paints(tuple(paints), "white"))


def _shadows(things: Sequence[PlacedThing]) -> _Rows:
    rows = _upright(
        SHADOW, [((0.0, 0.0, 0.0), t.half_extents) for t in things], 0, np.zeros((len(things), 3), np.float32)
    )
    indices = np.array([t.index for t in things])
    return (rows[0], indices.astype(np.int32), *rows[2:6], indices.astype(np.int16))
