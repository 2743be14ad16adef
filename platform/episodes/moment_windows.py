"""Resumable windows around moments of episodes: around marks, around what a player says, or after an instruction.

Most rows of an episode have no mark near them and teach a reward model nothing. A solver speaks in one step of many, so
that words get a small share of a clone's arithmetic. Its movements depend on the instruction most in the first
steps after it; later the thing that is meant is in front of the solver. All moments are visited once per epoch in a
shuffled order; each window begins at a random one of the rows that its moment allows. The windows depend only on the
snapshot, the seed and the number of windows read before.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from interplay.core.typed_name import typed_name
from interplay.episodes.catalog_index import EpisodeFilter
from interplay.episodes.decoded_episode import DecodedEpisode
from interplay.episodes.episode_order import order_of
from interplay.episodes.lane_reader import EpisodeSource, EpisodeWindow
from interplay.episodes.snapshot import Snapshot


class EpisodeMoment(NamedTuple):
    """A step of an episode, by its frame; `rater` is empty if it is not a mark."""

    episode: str
    rater: str
    frame: int


class EpisodeMoments(NamedTuple):
    """Moments to read windows around."""

    found: list[EpisodeMoment]
    rows_after: int  # from the row at which a moment's step begins to the row that its window shows after its first one
    identity: dict[str, Any]  # fields of a reader's state, in addition to snapshot and seed; JSON-able


def marked_moments(snapshot: Snapshot, where: EpisodeFilter | None = None) -> EpisodeMoments:
    """The marks of the episodes of a snapshot that satisfy `where`; each window has the marks of its rater.

    Raises:
        ValueError: these episodes have no mark.
    """
    marks = snapshot.marks(snapshot.select(where or EpisodeFilter()))
    if not marks:
        typed = f"interplay mark {typed_name(snapshot.path.parents[2])}"
        raise ValueError(f"none of the wanted episodes of {snapshot.path} has a mark; mark some first: {typed}")
    found = [EpisodeMoment(mark.episode, mark.rater, mark.frame) for mark in marks]
    return EpisodeMoments(found, 1, {"marks": len(found)})  # placed at the first row that shows the cause of a mark


def spoken_moments(
    snapshot: Snapshot, role: str, where: EpisodeFilter | None = None, *, section: str = "dataset"
) -> EpisodeMoments:
    """The utterances of a role in the episodes of a snapshot that satisfy `where`.

    The beginnings of all these files are read at once. An unreadable file has no utterances; if it became so between
    two runs, the order of the others changes. `section` is that of the settings which the error names.

    Raises:
        ValueError: the role says nothing in these episodes.
    """
    metas = snapshot.metas(where or EpisodeFilter())
    found = [EpisodeMoment(meta.id, "", said.frame) for meta in metas for said in meta.utterances if said.role == role]
    if not found:
        raise ValueError(
            f"the {role} says nothing in {snapshot.path}, so there are no windows around utterances: "
            f"set {section}.around_utterances=0"
        )
    return EpisodeMoments(found, 0, {"spoken by": role})


def instruction_moments(
    snapshot: Snapshot, role: str, steps: int, where: EpisodeFilter | None = None, *, section: str = "dataset"
) -> EpisodeMoments:
    """Utterances of the other roles in the episodes of a snapshot that satisfy `where`, except those after which `role`
    speaks before the next one: instructions, and not questions.

    Windows of `steps` steps begin in one of the `steps` steps from the utterance on. Files are read
    as by `spoken_moments`, and `section` is the same.

    Raises:
        ValueError: these episodes have no such utterance.
    """
    found = []
    for meta in snapshot.metas(where or EpisodeFilter()):
        said = sorted(meta.utterances, key=lambda each: each.frame)
        for this, after in zip(said, [*said[1:], None], strict=True):
            if this.role != role and (after is None or after.role != role):
                found.append(EpisodeMoment(meta.id, "", this.frame))
    if not found:
        raise ValueError(
            f"{snapshot.path} has no instruction to the {role}, so there are no windows after instructions: "
            f"set {section}.around_instructions=0"
        )
    return EpisodeMoments(found, steps, {"instructions to": role})


class MomentReader:
    """Windows around moments of a source's episodes; consecutive windows are independent, whatever their lane."""

    def __init__(
        self,
        source: EpisodeSource,
        moments: EpisodeMoments,
        seed: int,
        *,
        mix: Mapping[str, float] | None = None,
        rank: int = 0,
        world_size: int = 1,
    ) -> None:
        """`mix`: of the windows, by the kind of their episode."""
        self.source = source
        self._moments = sorted(moments.found)
        self._rows_after = moments.rows_after
        self._identity = {"snapshot": source.snapshot.hash, "seed": seed, **moments.identity}
        self._seed = seed
        episodes = [moment.episode for moment in self._moments]
        self._order = order_of(source.snapshot, episodes, mix or {}, seed, rank=rank, world_size=world_size)
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
        return {**self._identity, "taken": self._taken, **self._share}

    def load_state(self, state: Mapping[str, Any]) -> None:
        """Continues exactly from the position in `state`.

        Raises:
            ValueError: `state` is of another snapshot or seed.
        """
        here = {**self.state(), "taken": state.get("taken")}
        if {"rank": 0, "world_size": 1, **state} != here:  # states from before marks were shared among ranks
            raise ValueError(
                f"the checkpoint has a position in other windows: {dict(state)}, and this reader has {here}; "
                "resume with the settings of the checkpoint"
            )
        self._taken = state["taken"]

    def neighbors(self, position: int) -> Iterator[DecodedEpisode]:
        """Readable episodes of the moments near a position in the order, those before it first."""
        for item in self._order.near(position):
            if (near := self.source.get(self._moments[item].episode)) is not None:
                yield near

    def _next_window(self, rows: int) -> EpisodeWindow:
        """Returns at most `rows` rows around the next moment of a readable episode."""
        drawn = self._order.draw(self._taken, lambda index: self.source.get(self._moments[index].episode))
        if drawn is None:
            raise self.source.no_readable_episode()
        episode, k = drawn
        self._taken = k + 1
        position = self._order.position(k)
        moment = self._moments[self._order.at(position)]
        shown = min(moment.frame // episode.meta.frames_per_step + self._rows_after, episode.rows - 1)
        first = max(0, shown - rows + 1)
        last = max(first, min(shown - 1, episode.rows - rows))
        start = first
        if last > first:  # making a generator takes as long as writing the window
            start = int(np.random.default_rng([self._seed, position]).integers(first, last + 1))
        stop = min(start + rows, episode.rows)
        return EpisodeWindow(episode, start, stop, position, cut=True, rater=moment.rater or None)
