"""What a researcher sees of raters: agreement of each pair, results of checks, pace."""

from __future__ import annotations

import itertools
import logging
import math
import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from interplay.episodes.encoding import DamagedEpisode, UnknownFormat
from interplay.episodes.episode import EpisodeMeta, Mark
from interplay.episodes.store import EpisodeStore
from interplay.evaluation.agreement import WITHIN_SECONDS, RatedEpisode, RaterAgreement, agreement
from interplay.evaluation.estimates import Estimate
from interplay.evaluation.mark_matching import f1_scores, seconds_by_sign
from interplay.studio.marks.check_results import stored_track
from interplay.studio.marks.mark_choice import AGREED

logger = logging.getLogger(__name__)

MOST_EPISODES = 20  # of a pair of raters, the newest; chance takes a thousand matchings an episode


class FrameCounts(NamedTuple):
    """What the comparison of raters needs of an episode's metadata."""

    frames: int
    frames_per_step: int


Metas = Mapping[str, EpisodeMeta] | Mapping[str, FrameCounts]
RatedMarks = Mapping[str, Sequence[Mark]]  # of one episode, by rater; empty for one that watched it without marking


def rated_marks(store: EpisodeStore, episodes: Collection[str]) -> dict[str, dict[str, list[Mark]]]:
    """By episode the marks of each rater that watched it, also of raters that saw nothing to mark."""
    found: dict[str, dict[str, list[Mark]]] = {}
    for episode, raters in store.raters(episodes).items():
        found[episode] = {rater: [] for rater in raters}
    for mark in store.marks(episodes):
        found.setdefault(mark.episode, {}).setdefault(mark.rater, []).append(mark)
    return found


def rated_episodes(
    rated: Mapping[str, RatedMarks], first: str, second: str, metas: Metas, rate: float
) -> list[RatedEpisode]:
    """The episodes that two raters watched, newest last."""
    common = [episode for episode in sorted(rated) if first in rated[episode] and second in rated[episode]]
    found = []
    for episode in common[-MOST_EPISODES:]:
        meta, by_rater = metas[episode], rated[episode]
        ours, theirs = (stored_track(by_rater[rater], rate) for rater in (first, second))
        found.append(RatedEpisode(ours, theirs, meta.frames / rate, meta.frames_per_step / rate))
    return found


def pairs_of_raters(rated: Mapping[str, RatedMarks]) -> list[tuple[str, str]]:
    """The pairs of raters that have watched a common episode, adjudications left out."""
    pairs = set()
    for each in rated.values():
        pairs |= set(itertools.combinations(_compared(each), 2))
    return sorted(pairs)


def summary_of(rated: Mapping[str, RatedMarks], metas: Metas, rate: float) -> list[dict[str, Any]]:
    """The agreement of every pair of raters, as JSON."""
    return PairSummaries().of(rated, metas, rate)


class PairSummaries:
    """The agreement of every pair of raters; only pairs whose marks have changed since the last call are compared
    again, with the same result as if all were."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, str], tuple[Any, Any, dict[str, Any]]] = {}

    def of(self, rated: Mapping[str, RatedMarks], metas: Metas, rate: float) -> list[dict[str, Any]]:
        """The agreement of every pair of raters, as JSON."""
        rng = np.random.default_rng(0)
        before, self._known = self._known, {}
        for pair in pairs_of_raters(rated):
            episodes = rated_episodes(rated, *pair, metas, rate)
            compared = rng.bit_generator.state, [each.content for each in episodes]
            known = before.get(pair)
            if known is not None and known[0] == compared:
                rng.bit_generator.state = known[1]
                self._known[pair] = known
            else:
                found = {"raters": list(pair), **_as_json(agreement(episodes, rng))}
                self._known[pair] = compared, rng.bit_generator.state, found
        return [found for _, _, found in self._known.values()]


class RaterQuality:
    """What a researcher sees of the raters of a store; computed again once something in the store has changed.

    Args:
        read_meta: the metadata of an episode, which are never changed.
        rate: frames a second.
    """

    def __init__(self, store: EpisodeStore, read_meta: Callable[[str], EpisodeMeta], rate: float) -> None:
        self._store = store
        self._read_meta = read_meta
        self._rate = rate
        self._computing = threading.Lock()
        self._version: tuple[int, int] | None = None
        self._rated: dict[str, dict[str, list[Mark]]] = {}
        self._counts: dict[str, FrameCounts] = {}
        self._summaries = PairSummaries()
        self._pairs: list[dict[str, Any]] | None = None
        self._disputed: list[tuple[str, float]] | None = None

    def pairs(self) -> list[dict[str, Any]]:
        """The agreement of every pair of raters, as JSON."""
        with self._computing:
            self._update()
            if self._pairs is None:
                self._pairs = self._summaries.of(self._rated, self._counts, self._rate)
            return self._pairs

    def disputed(self) -> list[tuple[str, float]]:
        """The episodes of several raters with their mean F1, the least agreed first."""
        with self._computing:
            self._update()
            if self._disputed is None:
                self._disputed = disputed(self._rated, self._rate)
            return self._disputed

    def _update(self) -> None:
        """Reads what raters marked, if it has changed; recordings that can't be read are left out."""
        version = self._store.version()  # before the marks, which may change while they are read
        if version == self._version:
            return
        self._pairs = self._disputed = None
        rated = rated_marks(self._store, self._store.ids())
        for episode in list(rated):
            try:
                if episode not in self._counts:
                    meta = self._read_meta(episode)
                    self._counts[episode] = FrameCounts(meta.frames, meta.frames_per_step)
            except (DamagedEpisode, UnknownFormat) as error:
                logger.error("left out: %s", error)
                del rated[episode]
        self._rated, self._version = rated, version


def disputed(rated: Mapping[str, RatedMarks], rate: float) -> list[tuple[str, float]]:
    """The episodes of several raters with their mean F1, the least agreed first."""
    found = []
    for episode, each in rated.items():
        raters = _compared(each)
        tracks = seconds_by_sign([stored_track(each[rater], rate) for rater in raters])
        first, second = np.triu_indices(len(raters), k=1)
        if len(first):
            shares = f1_scores(tracks[:, first], tracks[:, second], WITHIN_SECONDS)
            found.append((episode, float(shares.mean())))
    return sorted(found, key=lambda pair: pair[1])


def _compared(each: RatedMarks) -> list[str]:
    """The raters of an episode, adjudications left out."""
    return sorted(rater for rater in each if not rater.startswith(AGREED))


def _as_json(found: RaterAgreement) -> dict[str, Any]:
    return {
        "episodes": found.f1.n,
        "f1": _estimate(found.f1),
        "chance": round(found.chance, 3),
        "corrected": _estimate(found.corrected),
        "curve": [[round(value, 3) for value in point] for point in found.curve],
        "same_sign": _estimate(found.same_sign),
        "lateness": _estimate(found.lateness),
        "alpha": None if math.isnan(found.alpha) else round(found.alpha, 3),
        "ordered_alike": _estimate(found.ordered_alike),
    }


def _estimate(found: Estimate) -> list[float | None] | None:
    """[value, low, high], low and high None where there is no interval; None without data."""
    values = [None if math.isnan(value) else round(value, 3) for value in (found.value, found.low, found.high)]
    return None if values[0] is None else values
