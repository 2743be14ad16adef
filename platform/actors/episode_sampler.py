"""The order in which recorded setters are replayed: a seeded permutation of the snapshot per epoch."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from interplay.episodes.encoding import DamagedEpisode, UnknownFormat
from interplay.episodes.episode import Episode
from interplay.episodes.episode_cache import EpisodeCache
from interplay.episodes.snapshot import Snapshot

log = logging.getLogger(__name__)

DEFAULT_CACHE_BYTES = 256 * 2**20


class EpisodeSampler:
    """Samples episodes without end, each once per epoch, in an order determined by the seed and the epoch.

    The samplers of ranks 0 to `world_size` - 1 with one seed together sample each episode once per epoch. What a replay
    needs of an episode (initial state, actions, metadata) stays in memory up to `cache_bytes`; the files of others are
    read again. Files that can't be read are logged and skipped.
    """

    def __init__(
        self,
        snapshot: Snapshot,
        ids: Sequence[str],
        seed: int,
        *,
        rank: int = 0,
        world_size: int = 1,
        cache_bytes: int = DEFAULT_CACHE_BYTES,
    ) -> None:
        if not ids:
            raise ValueError(f"snapshot {snapshot.path} has no episode to replay a setter from; record some first")
        self._snapshot = snapshot
        self._ids = list(ids)
        self._seed = seed
        self._rank, self._world_size = rank, world_size
        self._drawn = 0
        self._cache = EpisodeCache(cache_bytes)
        self._unreadable: set[str] = set()
        self._order = (-1, np.zeros(0, np.int64))  # epoch, permutation

    def sample(self) -> Episode:
        """Returns the next readable episode, without its pictures and poses.

        Raises:
            DamagedEpisode: none of the episodes can be read.
        """
        for _ in range(len(self._ids)):
            drawn = self._next()
            try:
                return self.get(drawn)
            except (DamagedEpisode, UnknownFormat) as error:
                if drawn not in self._unreadable:
                    log.warning("skipped: %s", error)
                    self._unreadable.add(drawn)
        raise DamagedEpisode(f"none of {len(self._ids)} episodes of {self._snapshot.path} could be read")

    def get(self, episode: str) -> Episode:
        """An episode by its id, without its pictures and poses."""
        return self._cache.get(episode, self._read)

    def _read(self, episode: str) -> Episode:
        return replace(self._snapshot.read(episode), poses=None, images={}, vectors={})

    def state(self) -> dict[str, Any]:
        """The resumable state."""
        return {"drawn": self._drawn, "episodes": len(self._ids)}

    def load_state(self, state: dict[str, Any]) -> None:
        """Restores a result of `state`."""
        if state["episodes"] != len(self._ids):
            raise ValueError(f"the walk was through {state['episodes']} episodes, the snapshot has {len(self._ids)}")
        self._drawn = state["drawn"]

    def _next(self) -> str:
        epoch, place = divmod(self._rank + self._drawn * self._world_size, len(self._ids))
        if self._order[0] != epoch:
            self._order = epoch, np.random.default_rng([self._seed, epoch]).permutation(len(self._ids))
        self._drawn += 1
        return self._ids[int(self._order[1][place])]
