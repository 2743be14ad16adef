"""Houses as tables on a device: everything that a picture shows except for poses and the camera."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from interplay.agent.inference_device import send
from interplay.env.arrays import Float32Array, Int32Array
from interplay.env.playhouse.house.house_layout import House
from interplay.env.playhouse.render.primitives import RenderPrimitives, build_primitives, pale_colors
from interplay.env.playhouse.render.raycast import SHADOW
from interplay.env.playhouse.render.room_shading import FLOOR_PATTERNS, WALL_PATTERNS
from interplay.env.playhouse.render.scene import doorway_openings

# Columns of a primitive's row. Whole numbers are exact as float32.
KIND, OWNER, NAME, OFFSET, ROTATION, HALVES, COLOR = 0, 1, 2, 3, 6, 15, 18
FLOOR, PAPER, WALL_COLOR, FIRST_OPENING, LAST_OPENING = 21, 22, 23, 26, 27  # of rooms only
COLUMNS = 32  # the last four are empty: a row fills whole cache lines

OPENING_COLUMNS = 5
HOUSE_COLUMNS = 3  # first row of the house in the table, its rows, and how many of them come before the shadows

# Owners that are not things, in column OWNER; heads are the even ones. A thing is its index.
HOME, SETTER_HEAD, SETTER_BODY, SOLVER_HEAD, SOLVER_BODY = -1, -2, -3, -4, -5


class HouseTable(NamedTuple):
    """One house as arrays, from which `pack_tables` makes the tables of many: 12 to 18 kB."""

    primitives: Float32Array  # [P, COLUMNS]: rooms, parts, shadows; openings are numbered from the house's first
    openings: Float32Array  # [O, OPENING_COLUMNS], doorways in the frame of their room's unit box
    rooms: int  # how many primitives are rooms
    things: int

    @property
    def nbytes(self) -> int:
        """Memory of the arrays."""
        return self.primitives.nbytes + self.openings.nbytes


@dataclass(frozen=True)
class PackedHouses:
    """H houses with P primitives and O openings in all, on one device."""

    primitives: Tensor  # float32 [P, COLUMNS], house after house: rooms, parts, shadows
    openings: Tensor  # float32 [O, OPENING_COLUMNS]
    spans: Tensor  # int32 [H, HOUSE_COLUMNS]
    things: tuple[int, ...]  # [H], things of each house
    most_primitives: int  # of one house

    @property
    def most_things(self) -> int:
        """Things of the house with the most, which gives the length of the rows of `pack_views`."""
        return max(self.things)


def pack_houses(houses: Sequence[House], device: torch.device | str) -> PackedHouses:
    """Packs the primitives, materials and doorways of these houses onto a device, about 17 kB a house.

    Raises:
        ValueError: no house.
    """
    return pack_tables([house_table(house) for house in houses], device)


def pack_tables(tables: Sequence[HouseTable], device: torch.device | str) -> PackedHouses:
    """As `pack_houses`, from results of `house_table`.

    Raises:
        ValueError: no house.
    """
    if not tables:
        raise ValueError("there is no house to pack: give at least one")
    rows, openings, spans = [], [], []
    first = first_opening = 0
    for table in tables:
        primitives, span = placed_table(table, first, first_opening)
        rows.append(primitives)
        openings.append(table.openings)
        spans.append(span)
        first, first_opening = first + len(primitives), first_opening + len(table.openings)
    # A house without doorways has no openings, and an empty tensor has no address.
    doorways = np.concatenate([*openings, np.zeros((1, OPENING_COLUMNS), np.float32)])
    return PackedHouses(
        primitives=send(torch.from_numpy(np.concatenate(rows)), torch.device(device)),
        openings=send(torch.from_numpy(doorways), torch.device(device)),
        spans=send(torch.from_numpy(np.array(spans, np.int32)), torch.device(device)),
        things=tuple(table.things for table in tables),
        most_primitives=max(count for _, count, _ in spans),
    )


def placed_table(table: HouseTable, first: int, first_opening: int) -> tuple[Float32Array, tuple[int, int, int]]:
    """The primitives of a house whose first one has the row `first` among those of several houses, and its row of
    spans; `first_opening` is that of its doorways."""
    primitives = table.primitives.copy()
    primitives[: table.rooms, FIRST_OPENING : LAST_OPENING + 1] += first_opening
    return primitives, (first, len(primitives), int((primitives[:, KIND] != SHADOW).sum()))


def house_table(house: House) -> HouseTable:
    """The primitives, materials and doorways of a house."""
    parts = build_primitives(house)
    openings, spans = doorway_openings(house, len(parts.kinds))
    rows = np.zeros((len(parts.kinds), COLUMNS), np.float32)
    rows[:, KIND], rows[:, OWNER], rows[:, NAME] = parts.kinds, _owners(parts, len(house.things)), parts.names
    rows[:, OFFSET:ROTATION], rows[:, ROTATION:HALVES] = parts.offsets, parts.rotations
    rows[:, HALVES:COLOR], rows[:, COLOR:FLOOR] = parts.halves, parts.colors
    rooms = rows[: len(house.rooms)]
    rooms[:, FLOOR] = [FLOOR_PATTERNS[room.floor] for room in house.rooms]
    rooms[:, PAPER] = [WALL_PATTERNS[room.walls] for room in house.rooms]
    rooms[:, WALL_COLOR:FIRST_OPENING] = pale_colors([room.wall_color for room in house.rooms])
    rooms[:, FIRST_OPENING : LAST_OPENING + 1] = spans[: len(rooms)]
    return HouseTable(rows, openings, len(house.rooms), len(house.things))


def _owners(parts: RenderPrimitives, things: int) -> Int32Array:
    codes = np.array([*range(things), SETTER_BODY, SETTER_HEAD, SOLVER_BODY, SOLVER_HEAD, HOME], np.int32)
    owners: Int32Array = codes[parts.owners]
    return owners
