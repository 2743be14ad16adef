"""Draws windows around marks: most of what a reward model could read shows no mark, and says nothing to it.

Windows come in a shuffled order of all marks, epoch after epoch, each with its mark somewhere after its first row. What
is drawn depends only on the snapshot, the seed and how many were drawn before.
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
    """Windows of the marked episodes of a snapshot that satisfy `where`; each stands for itself, whatever the lane."""

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
        """So many rows: one window, or several where episodes are shorter than that."""
        windows: list[EpisodeWindow] = []
        while rows:
            windows.append(self._next_window(rows))
            rows -= windows[-1].stop - windows[-1].start
        return windows

    def state(self) -> dict[str, Any]:
        """Where it stands, JSON-able."""
        return {
            "snapshot": self._source.snapshot.hash,
            "seed": self._seed,
            "marks": len(self._marks),
            "taken": self._taken,
            **self._share,
        }

    def load_state(self, state: Mapping[str, Any]) -> None:
        """Goes on exactly where the reader stood that gave `state`.

        Raises:
            ValueError: it read another snapshot, or with another seed.
        """
        here = {**self.state(), "taken": state.get("taken")}
        if {"rank": 0, "world_size": 1, **state} != here:  # as before readers could share their marks
            raise ValueError(
                f"this cursor is of other windows: it has {dict(state)}, this reader {here}; "
                "resume with the settings of the checkpoint"
            )
        self._taken = state["taken"]

    def _next_window(self, rows: int) -> EpisodeWindow:
        """At most `rows` rows around the next mark of a readable episode."""
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
