"""The houses that the views of an unroll show, by number, and the format of their pictures."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor

from interplay.env.arrays import Float32Array
from interplay.env.playhouse.house.config import PlayhouseConfig
from interplay.gpu_render.batched_views import check_drawing, draw_views
from interplay.gpu_render.packed_houses import HouseTable, pack_tables
from interplay.gpu_render.packed_views import HOUSE


@dataclass(frozen=True)
class HouseScenes:
    """Houses by their number in rows of views, and the format of the pictures; `agent.unroll.Scenes`."""

    keys: tuple[int, ...]  # seeds of the houses, by number
    houses: tuple[HouseTable | None, ...]  # by number; None where no row to be drawn shows the house
    height: int
    width: int
    field_of_view: float  # vertical, degrees
    antialias: bool
    setting: str  # that chose what draws, for errors

    @property
    def nbytes(self) -> int:
        """Memory of the houses."""
        return sum(house.nbytes for house in self.houses if house is not None)

    def draw(self, views: Float32Array, device: torch.device) -> Tensor:
        """The pictures uint8 [N, height, width, 3] of rows [N, S], on the device; see `draw_views`.

        Raises:
            ModuleNotFoundError: triton is not installed.
            ValueError: the device is not a GPU.
        """
        check_drawing(device, f"or set {self.setting}=actor")
        houses = [house for house in self.houses if house is not None]
        assert len(houses) == len(self.houses), "the scenes of an unroll have all of its houses"
        return draw_views(
            pack_tables(houses, device), views, self.height, self.width, self.field_of_view, self.antialias
        )

    def parts(self, views: Float32Array) -> dict[int, HouseTable]:
        """The houses that rows [N, S] show, by seed."""
        numbers = np.unique(views[:, HOUSE]).astype(int).tolist()
        return {self.keys[number]: table for number in numbers if (table := self.houses[number]) is not None}

    def with_parts(self, parts: Mapping[int, HouseTable]) -> HouseScenes:
        """The scenes with these houses alone."""
        return replace(self, houses=tuple(parts.get(key) for key in self.keys))


class HouseNumbers:
    """Numbers the houses of one unroll after another, in the order in which their views come."""

    def __init__(self, config: PlayhouseConfig, setting: str) -> None:
        self._config, self._setting = config, setting
        self._numbers: dict[int, int] = {}  # by seed
        self._tables: list[HouseTable] = []  # by number
        self._scenes: HouseScenes | None = None

    def begin(self) -> None:
        """Begins a new unroll."""
        self._numbers, self._tables, self._scenes = {}, [], None

    def number(self, seed: int, table: HouseTable) -> int:
        """The number of a house."""
        if seed not in self._numbers:
            self._numbers[seed], self._scenes = len(self._tables), None
            self._tables.append(table)
        return self._numbers[seed]

    def scenes(self) -> HouseScenes:
        """The houses that have a number; the same object until there is another one."""
        if self._scenes is None:
            config = self._config
            form = (*config.image, config.field_of_view, config.antialias)
            self._scenes = HouseScenes(tuple(self._numbers), tuple(self._tables), *form, self._setting)
        return self._scenes
