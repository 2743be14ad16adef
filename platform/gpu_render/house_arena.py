"""Houses that stay on a device, so that views of moments in play are drawn without sending their houses each time."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence

import numpy as np
import torch

from interplay.agent.inference_device import send
from interplay.env.arrays import Float32Array
from interplay.gpu_render.batched_views import check_drawing, draw_views
from interplay.gpu_render.house_scenes import HouseScenes
from interplay.gpu_render.packed_houses import (
    COLUMNS,
    HOUSE_COLUMNS,
    OPENING_COLUMNS,
    HouseTable,
    PackedHouses,
    placed_table,
)
from interplay.gpu_render.packed_views import HOUSE

SLOTS = 256  # houses that are kept at first: 6 MB, where the largest has 147 primitives
MOST_SLOTS = 16384  # 390 MB of such; more only if one call shows more houses
_SPARE = 1.25  # room in a slot, as a ratio of the largest house when the slots are made


class HouseArena:
    """Draws views of houses, and keeps the houses that were drawn last on its device."""

    def __init__(self, device: torch.device, slots: int = SLOTS, most: int = MOST_SLOTS) -> None:
        """
        Args:
            slots: houses that it keeps at first; twice as many where these do not suffice, until there are `most`.
        """
        self._device = device
        self._count, self._most = slots, most
        self._slots: OrderedDict[int, int] = OrderedDict()  # by seed, the one drawn last at the end
        self._rows = self._doors = 0  # primitives and openings that fit into a slot
        self._houses: PackedHouses | None = None

    def draw(self, views: Sequence[tuple[Float32Array, HouseScenes]]) -> torch.Tensor:
        """Draws the views of several actors, whose houses are of the same settings, in one pass.

        Args:
            views: rows [n, S], which are not changed, and the scenes whose houses they number.

        Returns:
            uint8 [N, height, width, 3] on the device, for the N rows of all actors.

        Raises:
            ModuleNotFoundError, ValueError: the device can't draw.
        """
        form = views[0][1]
        check_drawing(self._device, f"or set {form.setting}=actor")
        shown = {key: table for rows, scenes in views for key, table in scenes.parts(rows).items()}
        self._keep(shown)
        assert self._houses is not None
        arena, tables = self._houses, shown.values()
        things = (max(table.things for table in tables),) * self._count
        most = max(len(table.primitives) for table in tables)
        houses = PackedHouses(arena.primitives, arena.openings, arena.spans, things, most)
        renumbered = np.concatenate([self._renumbered(rows, scenes) for rows, scenes in views])
        return draw_views(houses, renumbered, form.height, form.width, form.field_of_view, form.antialias)

    def _renumbered(self, rows: Float32Array, scenes: HouseScenes) -> Float32Array:
        """The rows with the slots of their houses."""
        slots = np.array([self._slots.get(key, -1) for key in scenes.keys], np.float32)
        renumbered = rows.copy()
        renumbered[:, HOUSE] = slots[rows[:, HOUSE].astype(int)]
        return renumbered

    def _keep(self, shown: Mapping[int, HouseTable]) -> None:
        """Gives every house a slot; those that were not drawn for longest give theirs up."""
        rows = max(len(table.primitives) for table in shown.values())
        doors = max(1, *(len(table.openings) for table in shown.values()))
        new = [key for key in shown if key not in self._slots]
        count = self._count
        while count < len(shown) or (count < self._most and len(self._slots) + len(new) > count):
            count *= 2
        if self._houses is None or rows > self._rows or doors > self._doors or count > self._count:
            self._allocate(count, max(rows, self._rows), max(doors, self._doors))
        for key in shown:
            if key in self._slots:
                self._slots.move_to_end(key)
        for key, table in shown.items():
            if key not in self._slots:
                full = len(self._slots) == self._count
                self._slots[key] = self._slots.popitem(last=False)[1] if full else len(self._slots)
                self._write(self._slots[key], table)

    def _allocate(self, count: int, rows: int, doors: int) -> None:
        """Makes slots, all of them free."""
        if rows > self._rows or doors > self._doors:
            rows, doors = int(_SPARE * rows), int(_SPARE * doors)
        self._slots.clear()
        self._count, self._rows, self._doors = count, rows, doors
        self._houses = PackedHouses(
            primitives=torch.zeros(count * rows, COLUMNS, device=self._device),
            openings=torch.zeros(count * doors, OPENING_COLUMNS, device=self._device),
            spans=torch.zeros(count, HOUSE_COLUMNS, dtype=torch.int32, device=self._device),
            things=(0,) * count,
            most_primitives=rows,
        )

    def _write(self, slot: int, table: HouseTable) -> None:
        assert self._houses is not None
        first, first_opening = slot * self._rows, slot * self._doors
        primitives, span = placed_table(table, first, first_opening)
        stop, last_opening = first + len(primitives), first_opening + len(table.openings)
        openings = table.openings.copy()  # of another process, whose arrays are read-only
        self._houses.primitives[first:stop] = send(torch.from_numpy(primitives), self._device)
        self._houses.openings[first_opening:last_opening] = send(torch.from_numpy(openings), self._device)
        self._houses.spans[slot] = send(torch.from_numpy(np.array(span, np.int32)), self._device)
