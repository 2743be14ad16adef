"""The order in which recorded setters are replayed: a seeded permutation of the snapshot per epoch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from interplay.episodes.encoding import DamagedEpisode, UnreadableEpisodes
from interplay.episodes.episode import Episode
from interplay.episodes.episode_cache import EpisodeCache
from interplay.episodes.episode_order import EpisodeOrder
from interplay.episodes.snapshot import Snapshot

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
        self._order = EpisodeOrder(len(ids), seed, rank=rank, world_size=world_size)
        self._drawn = 0
        self._cache = EpisodeCache(cache_bytes)
        self._unreadable = UnreadableEpisodes()

    def sample(self) -> Episode:
        """Returns the next readable episode, without its pictures and poses.

        Raises:
            DamagedEpisode: no episode can be read.
        """
        drawn = self._order.draw(self._drawn, lambda index: self.find(self._ids[index]))
        if drawn is None:
            raise DamagedEpisode(
                f"no episode of {self._snapshot.path} to replay a setter from can be read; the log names them: restore "
                "their files from a copy"
            )
        episode, k = drawn
        self._drawn = k + 1
        return episode

    def get(self, episode: str) -> Episode:
        """An episode by its id, without its pictures and poses."""
        return self._cache.get(episode, self._read)

    def find(self, episode: str) -> Episode | None:
        """As `get`; None if the episode can't be read, which is logged."""
        return self._unreadable.read(episode, partial(self.get, episode))

    def _read(self, episode: str) -> Episode:
        return replace(self._snapshot.read(episode), poses=None, images={}, vectors={})

    def state(self) -> dict[str, Any]:
        """The resumable state."""
        return {"drawn": self._drawn, "episodes": len(self._ids)}

    def load_state(self, state: dict[str, Any]) -> None:
        """Restores a result of `state`.

        Raises:
            ValueError: it is of another number of episodes.
        """
        if state["episodes"] != len(self._ids):
            raise ValueError(f"the state is of {state['episodes']} episodes, the snapshot has {len(self._ids)}")
        self._drawn = state["drawn"]
