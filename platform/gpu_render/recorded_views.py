"""Views of recorded episodes as rows of numbers, from which the learner's GPU draws the pictures of a batch.

    dataset actor                        learner
    poses -> RecordedViews -> rows ----> HouseScenes.draw -> pictures
                              houses --^

The actor reads poses and draws nothing; a row of a batch is 0.4 to 0.6 kB instead of a picture.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from interplay.env.arrays import Float32Array
from interplay.env.playhouse.house.config import PlayhouseConfig
from interplay.env.playhouse.house.house_layout import House, make_house
from interplay.env.playhouse.physics import saved_state
from interplay.env.playhouse.physics.simulation import Moment, furnished
from interplay.env.playhouse.truth.observe import ROLES
from interplay.episodes.drawn_rows import RecordedPoses
from interplay.gpu_render.house_scenes import HouseNumbers, HouseScenes
from interplay.gpu_render.packed_houses import HouseTable, house_table
from interplay.gpu_render.packed_views import player_rows, row_length

_KEPT_HOUSES = 1024  # of the houses read last, 26 kB each


class _KnownHouse(NamedTuple):
    house: House
    table: HouseTable
    start: Moment  # for the furniture, which poses omit


class RecordedViews:
    """Makes rows of views for one unroll after another: `begin`, `rows` for each window, `scenes`. An
    `actors.row_writer.ViewWriter`."""

    def __init__(self, config: PlayhouseConfig) -> None:
        """`config`: of the recorded world, and the format of the pictures."""
        self._config = config
        self._numbers = HouseNumbers(config, "dataset.drawn_by")
        self._known = lru_cache(_KEPT_HOUSES)(self._make)

    @property
    def length(self) -> int:
        """S: numbers in a row, the same for all houses of these settings."""
        return row_length(self._config.most_things)

    def begin(self) -> None:
        """Begins a new unroll."""
        self._numbers.begin()

    def rows(self, recorded: RecordedPoses) -> Float32Array:
        """The rows [n, S] of what the role saw at these n moments.

        Raises:
            ValueError: the episode was recorded in another world or under other settings.
        """
        seed = saved_state.from_bytes(recorded.initial_state, self._config).seed
        known = self._known(seed)
        number = self._numbers.number(seed, known.table)
        poses = saved_state.read_drawn_poses(recorded.poses, known.start, known.house, self._config)
        positions, quaternions, avatars = poses
        return player_rows(self._config, number, positions, quaternions, avatars, ROLES.index(recorded.role))

    def scenes(self) -> HouseScenes:
        """The houses of the unroll's rows."""
        return self._numbers.scenes()

    def _make(self, seed: int) -> _KnownHouse:
        house = make_house(self._config, seed)
        return _KnownHouse(house, house_table(house), furnished(house))
