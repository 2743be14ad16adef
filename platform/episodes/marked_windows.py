"""Windows sampled around marks: most rows of an episode have no mark near them and teach a reward model nothing.

All marks are visited once per epoch in a shuffled order; each window has its mark at a random row after the first. The
windows depend only on the snapshot, the seed and the number of windows read before.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from interplay.env.world import World
from interplay.episodes.catalog_index import EpisodeFilter
from interplay.episodes.lane_reader import CACHE_BYTES, EpisodeOrder, EpisodeSource, EpisodeWindow
from interplay.episodes.snapshot import Snapshot


class MarkedWindowReader:
    """Windows of the marked episodes of a snapshot that satisfy `where`; consecutive windows are independent."""

    def __init__(
        self,
        snapshot: Snapshot,
        seed: int,
        *,
        world: World | None = None,
        role: str = "solver",
        where: EpisodeFilter | None = None,
        cache_bytes: int = CACHE_BYTES,
        rank: int = 0,
        world_size: int = 1,
    ) -> None:
        self._source = EpisodeSource(snapshot, world, role, cache_bytes)
        marks = snapshot.marks(snapshot.select(where or EpisodeFilter()))
        self._marks = sorted((mark.episode, mark.rater, mark.frame) for mark in marks)
        if not self._marks:
            raise ValueError(
                f"no episode of {snapshot.path} that is wanted has a mark; mark some first: interplay mark"
            )
        self._seed = seed
        self._order = EpisodeOrder(len(self._marks), seed, rank=rank, world_size=world_size)
        self._share = {"rank": rank, "world_size": world_size}
        self._taken = 0

    def next(self, lane: int, rows: int) -> list[EpisodeWindow]:
        """Returns `rows` rows: one window, or several if episodes are shorter."""
        windows: list[EpisodeWindow] = []
        while rows:
            windows.append(self._next_window(rows))
            rows -= windows[-1].stop - windows[-1].start
        return windows

    def state(self) -> dict[str, Any]:
        """The position in the order, JSON-able."""
        return {
            "snapshot": self._source.snapshot.hash,
            "seed": self._seed,
            "marks": len(self._marks),
            "taken": self._taken,
            **self._share,
        }

    def load_state(self, state: Mapping[str, Any]) -> None:
        """Continues exactly from the position in `state`.

        Raises:
            ValueError: `state` is of another snapshot or seed.
        """
        here = {**self.state(), "taken": state.get("taken")}
        if {"rank": 0, "world_size": 1, **state} != here:  # states from before marks were shared among ranks
            raise ValueError(
                f"this cursor is of other windows: it has {dict(state)}, this reader {here}; "
                "resume with the settings of the checkpoint"
            )
        self._taken = state["taken"]

    def _next_window(self, rows: int) -> EpisodeWindow:
        """Returns at most `rows` rows around the next mark of a readable episode."""
        for _ in range(len(self._marks)):
            position = self._order.position(self._taken)
            self._taken += 1
            name, rater, frame = self._marks[self._order.at(position)]
            if (episode := self._source.get(name)) is not None:
                marked = min(frame // episode.meta.frames_per_step + 1, episode.rows - 1)
                first = max(0, marked - rows + 1)
                last = max(first, min(marked - 1, episode.rows - rows))
                start = int(np.random.default_rng([self._seed, position]).integers(first, last + 1))
                return EpisodeWindow(episode, start, min(start + rows, episode.rows), position, cut=True, rater=rater)
        raise self._source.no_readable_episode(len(self._marks))
