"""Observations drawn from the recorded poses of an episode, row by row, when they are read.

A window of an unroll needs fifty rows of an episode of a thousand. Only these rows are drawn; a cache that all episodes
share keeps as many of them as fit.
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from interplay.env.world import RecordedScene, View, World
from interplay.episodes.episode import Episode
from interplay.episodes.episode_cache import EpisodeCache


class RecordedPoses(NamedTuple):
    """The data from which consecutive rows of an episode are drawn."""

    initial_state: bytes  # of the episode, as in `Start.state`
    poses: NDArray[np.float32]  # [rows, P], as in `World.show`
    role: str  # whose views they are


class RowDrawer:
    """Draws the views of one role in one episode in a world that other episodes share. The episode has poses."""

    def __init__(self, episode: Episode, role: str, world: World, cache: EpisodeCache | None) -> None:
        assert episode.poses is not None, "rows are drawn from poses"
        self._episode, self._poses = episode.meta.id, episode.poses
        self._start = episode.initial_state
        self._role, self._world, self._cache = role, world, cache or EpisodeCache(0)

    def __len__(self) -> int:
        return len(self._poses)

    @property
    def nbytes(self) -> int:
        """Memory of the poses and of the initial state."""
        return self._poses.nbytes + len(self._start)

    def poses(self, start: int, stop: int) -> RecordedPoses:
        """The data from which the rows from `start` to `stop` (exclusive) are drawn."""
        return RecordedPoses(self._start, self._poses[start:stop], self._role)

    def views(self, start: int, stop: int) -> list[View]:
        """The views of the rows from `start` to `stop` (exclusive); they hold no utterances."""
        found = {row: self._cache.find((self._episode, self._role, row)) for row in range(start, stop)}
        missing = [row for row, view in found.items() if view is None]
        if missing:
            poses = self._poses[missing[0] : missing[-1] + 1][[row - missing[0] for row in missing]]
            for row, view in zip(missing, self._scene().views(poses, self._role), strict=True):
                found[row] = view
                size = sum(part.nbytes for part in (view.image, view.vector) if part is not None)
                self._cache.keep((self._episode, self._role, row), view, size)
        return list(found.values())

    def _scene(self) -> RecordedScene:
        key = (self._episode, "scene")
        scene: RecordedScene | None = self._cache.find(key)
        if scene is None:
            scene = self._world.recorded_scene(self._start)
            self._cache.keep(key, scene, scene.nbytes)
        return scene

    def parts(self, part: Literal["image", "vector"], start: int, stop: int) -> list[NDArray[Any]]:
        """A part of the views of the rows from `start` to `stop` (exclusive).

        Raises:
            ValueError: the world shows it in another form than its spec promises.
        """
        arrays: list[NDArray[Any]] = [getattr(view, part) for view in self.views(start, stop)]
        for array in arrays:
            self._world.spec.check(part, array)
        return arrays


class DrawnRows:
    """The pictures or the vectors of all rows of an episode [N + 1, ...], drawn when they are read as a slice."""

    def __init__(self, drawer: RowDrawer, part: Literal["image", "vector"]) -> None:
        self._drawer, self._part = drawer, part

    def __len__(self) -> int:
        return len(self._drawer)

    def poses(self, start: int, stop: int) -> RecordedPoses:
        """The data from which the rows from `start` to `stop` (exclusive) are drawn, without drawing them."""
        return self._drawer.poses(start, stop)

    def __getitem__(self, rows: int | slice) -> NDArray[Any]:
        """One row [...], or consecutive ones [rows, ...]."""
        if isinstance(rows, slice):
            start, stop, _ = rows.indices(len(self))
            return np.stack(self._drawer.parts(self._part, start, stop))
        row = range(len(self))[rows]
        return self._drawer.parts(self._part, row, row + 1)[0]

    @property
    def nbytes(self) -> int:
        """Memory of the data from which the rows are drawn."""
        return self._drawer.nbytes
