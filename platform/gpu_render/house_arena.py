"""Houses that stay on a device, so that views of moments in play are drawn without sending their houses each time."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence

import numpy as np
import torch

from interplay.agent.inference_device import send
from interplay.env.arrays import Float32Array
from interplay.env.playhouse.render.raycast import SHADOW
from interplay.gpu_render.batched_views import draw_views
from interplay.gpu_render.house_scenes import HouseScenes, check_drawing
from interplay.gpu_render.packed_houses import (
    COLUMNS,
    FIRST_OPENING,
    HOUSE_COLUMNS,
    KIND,
    LAST_OPENING,
    OPENING_COLUMNS,
    HouseTable,
    PackedHouses,
)
from interplay.gpu_render.packed_views import HOUSE

SLOTS = 2048  # houses that are kept; at 150 primitives each, 40 MB
_SPARE = 1.25  # room in a slot, as a ratio of the largest house when the slots are made


class HouseArena:
    """Draws views of houses, and keeps the houses that were drawn last on its device."""

    def __init__(self, device: torch.device, slots: int = SLOTS) -> None:
        self._device = device
        self._count = slots
        self._slots: OrderedDict[int, int] = OrderedDict()  # by seed, the one drawn last at the end
        self._rows = self._doors = 0  # primitives and openings that fit into a slot
        self._houses: PackedHouses | None = None

    def draw(self, parts: Sequence[tuple[Float32Array, HouseScenes]]) -> torch.Tensor:
        """Draws the views of several unrolls, whose houses are of the same settings, in one pass.

        Args:
            parts: rows [n, S] and the scenes whose houses they number; the rows are not changed.

        Returns:
            uint8 [N, height, width, 3] on the device, for the N rows of all parts.

        Raises:
            ValueError: the device can't draw, or the views show more houses than there are slots.
        """
        form = parts[0][1]
        check_drawing(self._device, form.setting)
        shown = {
            scenes.keys[number]: scenes.houses[number]
            for rows, scenes in parts
            for number in np.unique(rows[:, HOUSE]).astype(int).tolist()
        }
        if len(shown) > self._count:
            raise ValueError(f"these views show {len(shown)} houses, and {self._count} fit: draw fewer at once")
        self._keep(shown)
        assert self._houses is not None
        views = np.concatenate([self._renumbered(rows, scenes) for rows, scenes in parts])
        most = max(len(table.primitives) for table in shown.values())
        things = (max(table.things for table in shown.values()),) * self._count
        arena = self._houses
        houses = PackedHouses(arena.primitives, arena.openings, arena.spans, things, most)
        return draw_views(houses, views, form.height, form.width, form.field_of_view, form.antialias)

    def _renumbered(self, rows: Float32Array, scenes: HouseScenes) -> Float32Array:
        """The rows with the slots of their houses."""
        slots = np.array([self._slots.get(seed, -1) for seed in scenes.keys], np.float32)
        renumbered = rows.copy()
        renumbered[:, HOUSE] = slots[rows[:, HOUSE].astype(int)]
        return renumbered

    def _keep(self, shown: dict[int, HouseTable]) -> None:
        """Gives every house a slot; those that were not drawn for longest give theirs up."""
        rows = max(len(table.primitives) for table in shown.values())
        doors = max(len(table.openings) for table in shown.values())
        if self._houses is None or rows > self._rows or doors > self._doors:
            self._allocate(max(rows, self._rows), max(doors, self._doors, 1))
        for seed in shown:
            if seed in self._slots:
                self._slots.move_to_end(seed)
        for seed, table in shown.items():
            if seed not in self._slots:
                full = len(self._slots) == self._count
                self._slots[seed] = self._slots.popitem(last=False)[1] if full else len(self._slots)
                self._write(self._slots[seed], table)

    def _allocate(self, rows: int, doors: int) -> None:
        self._slots.clear()
        self._rows, self._doors = int(_SPARE * rows), int(_SPARE * doors)
        self._houses = PackedHouses(
            primitives=torch.zeros(self._count * self._rows, COLUMNS, device=self._device),
            openings=torch.zeros(self._count * self._doors, OPENING_COLUMNS, device=self._device),
            spans=torch.zeros(self._count, HOUSE_COLUMNS, dtype=torch.int32, device=self._device),
            things=(0,) * self._count,
            most_primitives=self._rows,
        )

    def _write(self, slot: int, table: HouseTable) -> None:
        assert self._houses is not None
        first, first_opening = slot * self._rows, slot * self._doors
        primitives = table.primitives.copy()
        primitives[: table.rooms, FIRST_OPENING : LAST_OPENING + 1] += first_opening
        span = np.array([first, len(primitives), int((primitives[:, KIND] != SHADOW).sum())], np.int32)
        stop, last_opening = first + len(primitives), first_opening + len(table.openings)
        self._houses.primitives[first:stop] = send(torch.from_numpy(primitives), self._device)
        self._houses.openings[first_opening:last_opening] = send(torch.from_numpy(table.openings), self._device)
        self._houses.spans[slot] = send(torch.from_numpy(span), self._device)
