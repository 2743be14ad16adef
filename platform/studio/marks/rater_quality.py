"""What a researcher sees of raters: agreement of each pair, results of checks, pace."""

from __future__ import annotations

import itertools
import math
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np

from interplay.episodes.episode import EpisodeMeta, Mark
from interplay.episodes.store import EpisodeStore
from interplay.evaluation.agreement import WITHIN_SECONDS, RatedEpisode, RaterAgreement, agreement
from interplay.evaluation.estimates import Estimate
from interplay.evaluation.mark_matching import f1
from interplay.studio.marks.check_results import stored_track
from interplay.studio.marks.mark_choice import AGREED

MOST_EPISODES = 20  # of a pair of raters, the newest; chance takes a thousand matchings an episode


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
    rated: Mapping[str, RatedMarks], first: str, second: str, metas: Mapping[str, EpisodeMeta], rate: float
) -> list[RatedEpisode]:
    """The episodes that two raters watched, newest last."""
    found = []
    for episode in sorted(rated):
        by_rater = rated[episode]
        if first in by_rater and second in by_rater:
            meta = metas[episode]
            ours, theirs = (stored_track(by_rater[rater], rate) for rater in (first, second))
            found.append(RatedEpisode(ours, theirs, meta.frames / rate, meta.frames_per_step / rate))
    return found[-MOST_EPISODES:]


def pairs_of_raters(rated: Mapping[str, RatedMarks]) -> list[tuple[str, str]]:
    """The pairs of raters that have watched a common episode, adjudications left out."""
    pairs = set()
    for each in rated.values():
        raters = sorted(rater for rater in each if not rater.startswith(AGREED))
        pairs |= set(itertools.combinations(raters, 2))
    return sorted(pairs)


def summary_of(rated: Mapping[str, RatedMarks], metas: Mapping[str, EpisodeMeta], rate: float) -> list[dict[str, Any]]:
    """The agreement of every pair of raters, as JSON."""
    rng = np.random.default_rng(0)
    return [
        {"raters": [first, second], **_as_json(agreement(episodes, rng))}
        for first, second in pairs_of_raters(rated)
        if (episodes := rated_episodes(rated, first, second, metas, rate))
    ]


def disputed(rated: Mapping[str, RatedMarks], metas: Mapping[str, EpisodeMeta], rate: float) -> list[tuple[str, float]]:
    """The episodes of several raters with their mean F1, the least agreed first."""
    found = []
    for episode, each in rated.items():
        pairs = pairs_of_raters({episode: each})
        compared = [one for pair in pairs for one in rated_episodes({episode: each}, *pair, metas, rate)]
        shares = [f1(one.ours, one.theirs, WITHIN_SECONDS) for one in compared]
        if shares:
            found.append((episode, float(np.mean(shares))))
    return sorted(found, key=lambda pair: pair[1])


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
