"""Resumable streams of episodes: each lane reads windows of one episode after another.

A lane's windows are consecutive. When its episode ends, it takes the next one from a shared, shuffled order. With
`stagger`, the first episode of each lane starts at a random row; otherwise lanes with episodes of equal length would
all be at the same row. They depend only on the snapshot, the seed and the order of calls, so a checkpoint needs only a
cursor of a few numbers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from interplay.env.world import World
from interplay.episodes.catalog_index import EpisodeFilter
from interplay.episodes.decoded_episode import DecodedEpisode, decode_for_role
from interplay.episodes.encoding import DamagedEpisode, UnreadableEpisodes
from interplay.episodes.episode_cache import EpisodeCache
from interplay.episodes.episode_order import order_of
from interplay.episodes.snapshot import Snapshot

CACHE_BYTES = 512 * 2**20


class LaneCursor(NamedTuple):
    """A lane's position: its episode's place in the order, and the next row to read."""

    position: int
    row: int


@dataclass(frozen=True)
class EpisodeWindow:
    """Rows `start` to `stop` (exclusive) of an episode; `position` identifies this pass over the episode."""

    episode: DecodedEpisode
    start: int
    stop: int
    position: int
    cut: bool = False  # starts mid-episode; the lane did not return the preceding rows
    rater: str | None = None  # rater whose marks to use; None: chosen by `position`


class EpisodeSource:
    """The episodes of a snapshot, decoded for `role`. Unreadable ones are logged, with this `consequence`.

    With `every_rater`, the raters that watched an episode without marking it are among its raters, too.
    """

    def __init__(
        self,
        snapshot: Snapshot,
        world: World | None,
        role: str,
        cache_bytes: int,
        *,
        every_rater: bool = False,
        consequence: str = "skipped",
    ) -> None:
        self.snapshot = snapshot
        self.unreadable = UnreadableEpisodes(consequence)
        self.role = role
        self._world, self._every_rater = world, every_rater
        self._cache = EpisodeCache(cache_bytes)

    def get(self, episode: str) -> DecodedEpisode | None:
        """Returns the episode with this id, or None if its file can't be read."""
        return self.unreadable.read(episode, partial(self._cache.get, episode, self._decode))

    def no_readable_episode(self) -> DamagedEpisode:
        """The error if all episodes of a reader are unreadable."""
        return DamagedEpisode(
            f"the files of all episodes of {self.snapshot.path} that are wanted here are unreadable; the log names "
            "them: restore them from a copy"
        )

    def _decode(self, episode: str) -> DecodedEpisode:
        marks = self.snapshot.marks([episode])
        raters = self.snapshot.raters([episode])[episode] if self._every_rater else ()
        read = self.snapshot.read(episode)
        return decode_for_role(read, self.role, marks=marks, raters=raters, world=self._world, cache=self._cache)


class LaneReader:
    """`lanes` streams over the episodes of a snapshot that satisfy `where`, decoded for `role`.

    Unreadable files are logged, skipped and listed in `source.unreadable`. Each lane holds its current episode, without
    drawn pictures; `cache_bytes` limits the memory for caching decoded episodes and drawn rows.
    """

    def __init__(
        self,
        snapshot: Snapshot,
        lanes: int,
        seed: int,
        *,
        rank: int = 0,
        world_size: int = 1,
        world: World | None = None,
        role: str = "solver",
        where: EpisodeFilter | None = None,
        mix: Mapping[str, float] | None = None,
        cache_bytes: int = CACHE_BYTES,
        stagger: bool = False,
    ) -> None:
        every_rater = where is not None and where.rated is True
        self.source = EpisodeSource(snapshot, world, role, cache_bytes, every_rater=every_rater)
        self._stagger = stagger
        self._ids = snapshot.select(where or EpisodeFilter())
        self._order = order_of(snapshot, self._ids, mix or {}, seed, rank=rank, world_size=world_size)
        self._identity: dict[str, Any] = {
            "snapshot": snapshot.hash,
            "episodes": len(self._ids),
            "seed": seed,
            "rank": rank,
            "world_size": world_size,
        }
        self._taken = 0  # number of this rank's episodes assigned to lanes so far (the next k)
        self._lanes: list[LaneCursor | None] = [None] * lanes  # None: not started
        self._episodes: list[DecodedEpisode | None] = [None] * lanes

    def next(self, lane: int, rows: int) -> list[EpisodeWindow]:
        """Returns the next `rows` rows of a lane, as windows of one or more episodes."""
        windows: list[EpisodeWindow] = []
        missing = rows
        while missing > 0:
            starts = self._lanes[lane] is None
            episode, cursor = self._current(lane)
            stop = min(episode.rows, cursor.row + missing)
            windows.append(EpisodeWindow(episode, cursor.row, stop, cursor.position, cut=starts and cursor.row > 0))
            missing -= stop - cursor.row
            self._lanes[lane] = LaneCursor(cursor.position, stop)
        return windows

    def state(self) -> dict[str, Any]:
        """The positions of all lanes, JSON-serializable."""
        lanes = tuple(None if lane is None else lane._asdict() for lane in self._lanes)
        return {**self._identity, "taken": self._taken, "lanes": lanes}

    def load_state(self, state: Mapping[str, Any]) -> None:
        """Continues exactly from the positions in `state`.

        Raises:
            ValueError: `state` comes from another snapshot, seed, rank or number of lanes.
        """
        lanes = tuple(None if lane is None else LaneCursor(**lane) for lane in state["lanes"])
        if {**state, **self._identity} != state or len(lanes) != len(self._lanes):
            raise ValueError(
                f"the checkpoint has positions in another stream of episodes: {_described(state)}; here it is "
                f"{_described(self.state())}. Resume with the settings of the checkpoint, and with the files that "
                "store/snapshots/ had when it was saved"
            )
        self._taken = state["taken"]
        self._lanes = list(lanes)
        self._episodes = [None] * len(lanes)

    def _current(self, lane: int) -> tuple[DecodedEpisode, LaneCursor]:
        """Returns a lane's episode and its next row, after moving to the next episode if needed."""
        cursor, episode = self._lanes[lane], self._episodes[lane]
        if cursor is not None and episode is None:
            # After a resume; still None if its file was damaged in the meantime.
            episode = self._decoded(cursor.position)
        if cursor is None or episode is None or cursor.row >= episode.rows:
            first = cursor is None
            episode, cursor = self._next_episode()
            if first and self._stagger:
                cursor = LaneCursor(cursor.position, self._first_row(lane, episode))
            self._lanes[lane] = cursor
        self._episodes[lane] = episode
        return episode, cursor

    def neighbors(self, position: int) -> Iterator[DecodedEpisode]:
        """Readable episodes near a position in the order, those before it first: most of them are decoded already."""
        for item in self._order.near(position):
            if (near := self.source.get(self._ids[item])) is not None:
                yield near

    def _first_row(self, lane: int, episode: DecodedEpisode) -> int:
        """The row at which the first episode of a lane starts; it has at least one step left."""
        drawn = np.random.default_rng([self._identity["seed"], self._identity["rank"], lane])
        return int(drawn.integers(max(1, episode.rows - 1)))

    def _next_episode(self) -> tuple[DecodedEpisode, LaneCursor]:
        """Returns the next readable episode in the order, at its first row."""
        drawn = self._order.draw(self._taken, lambda index: self.source.get(self._ids[index]))
        if drawn is None:
            raise self.source.no_readable_episode()
        episode, k = drawn
        self._taken = k + 1
        return episode, LaneCursor(self._order.position(k), 0)

    def _decoded(self, position: int) -> DecodedEpisode | None:
        """The episode at a position, or None if its file can't be read."""
        return self.source.get(self._ids[self._order.at(position)])


def _described(state: Mapping[str, Any]) -> str:
    return (
        f"snapshot {state['snapshot'][:12]}, {state['episodes']} episodes, seed {state['seed']}, "
        f"rank {state['rank']} of {state['world_size']}, {len(state['lanes'])} lanes"
    )
