"""Views of lanes that play, drawn by a GPU: by that of this process, or elsewhere from rows of numbers.

UndrawnPlayhouse.moment -> LiveViews -> rows, houses -> inference server, reward model, learner: draw pictures
                               '------> HouseArena -> pictures, where this process has the GPU
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from interplay.agent.inference_device import InferenceDevice, fetch
from interplay.agent.observation import Arrays
from interplay.agent.unroll import LaneScenes
from interplay.env.arrays import Float32Array
from interplay.env.playhouse.truth.observe import ROLES
from interplay.env.playhouse.world import Playhouse
from interplay.env.world import View
from interplay.gpu_render.house_arena import HouseArena
from interplay.gpu_render.house_scenes import HouseNumbers
from interplay.gpu_render.packed_houses import HouseTable, house_table
from interplay.gpu_render.packed_views import player_rows, row_length


class UndrawnPlayhouse(Playhouse):
    """A Playhouse whose views lack their pictures, which are drawn from its house and its moment."""

    def view(self, role: str) -> View:
        return self.words(role)


class LiveViews:
    """What one role sees now in several worlds; an `agent.inputs.LaneViews`."""

    def __init__(self, worlds: Sequence[UndrawnPlayhouse], role: str, on: InferenceDevice | None = None) -> None:
        """
        Args:
            worlds: of the same settings.
            on: where it draws pictures; None to give rows, from which others draw them.
        """
        self._worlds, self._player, self._on = worlds, ROLES.index(role), on
        self._config = worlds[0].config
        self._numbers = HouseNumbers(self._config, "reinforce.actor.drawn_by")
        self._tables: dict[int, tuple[int, HouseTable]] = {}  # by lane: seed of its house
        self._arena = None if on is None else HouseArena(on.device)

    @property
    def length(self) -> int:
        """S: numbers in a row; 0 where it draws pictures."""
        return row_length(self._config.most_things) if self._on is None else 0

    def begin(self) -> None:
        """Begins a new unroll."""
        self._numbers.begin()

    def write(self, observations: Arrays) -> None:
        """Writes the pictures `image` [1, lanes, H, W, 3] of what is seen now, or the rows `view` [1, lanes, S].

        Raises:
            ModuleNotFoundError, ValueError: as `HouseArena.draw`, where it draws.
        """
        rows = self._rows()
        if self._on is None or self._arena is None:
            observations["view"][0] = rows
            return
        with self._on.running():
            drawn = fetch({"image": self._arena.draw([(rows, self._numbers.scenes())])})
        observations["image"][0] = drawn["image"]

    def scenes(self) -> list[LaneScenes]:
        """The scenes that the unroll's rows refer to; empty where it draws pictures."""
        return [] if self._on is not None else [LaneScenes(len(self._worlds), self._numbers.scenes())]

    def _rows(self) -> Float32Array:
        """The rows [lanes, S] of the current moments."""
        moments = [world.moment() for world in self._worlds]
        things = max(len(moment.positions) for moment in moments)
        positions = np.zeros((len(moments), things, 3), np.float32)
        quaternions = np.zeros((len(moments), things, 4), np.float32)
        for lane, moment in enumerate(moments):
            positions[lane, : len(moment.positions)] = moment.positions
            quaternions[lane, : len(moment.positions)] = moment.quaternions
        avatars = np.stack([moment.avatars for moment in moments])
        numbers = np.array([self._numbers.number(*self.house_of(lane)) for lane in range(len(moments))])
        return player_rows(self._config, numbers, positions, quaternions, avatars, self._player)

    def house_of(self, lane: int) -> tuple[int, HouseTable]:
        """Seed and table of the house in which a lane is."""
        house = self._worlds[lane].house
        known = self._tables.get(lane)
        if known is None or known[0] != house.seed:
            known = self._tables[lane] = house.seed, house_table(house)
        return known
