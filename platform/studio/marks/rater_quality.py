"""What a researcher sees of raters: agreement of each pair, results of checks, pace."""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from interplay.episodes.episode import EpisodeMeta, Mark
from interplay.evaluation.agreement import WITHIN_SECONDS, RatedEpisode, RaterAgreement, agreement
from interplay.evaluation.estimates import Estimate
from interplay.evaluation.mark_matching import f1
from interplay.studio.marks.check_results import stored_track
from interplay.studio.marks.mark_choice import AGREED

MOST_EPISODES = 20  # of a pair of raters, the newest; chance takes a thousand matchings an episode


def rated_episodes(
    marks: Mapping[str, Sequence[Mark]], first: str, second: str, metas: Mapping[str, EpisodeMeta], rate: float
) -> list[RatedEpisode]:
    """The episodes that two raters marked, newest last. marks: by episode."""
    found = []
    for episode in sorted(marks):
        by_rater: dict[str, list[Mark]] = defaultdict(list)
        for mark in marks[episode]:
            by_rater[mark.rater].append(mark)
        if first in by_rater and second in by_rater:
            meta = metas[episode]
            ours, theirs = (stored_track(by_rater[rater], rate) for rater in (first, second))
            found.append(RatedEpisode(ours, theirs, meta.frames / rate, meta.frames_per_step / rate))
    return found[-MOST_EPISODES:]


def pairs_of_raters(marks: Mapping[str, Sequence[Mark]]) -> list[tuple[str, str]]:
    """The pairs of raters that have marked a common episode, adjudicated marks left out."""
    pairs = set()
    for each in marks.values():
        raters = sorted({mark.rater for mark in each if not mark.rater.startswith(AGREED)})
        pairs |= set(itertools.combinations(raters, 2))
    return sorted(pairs)


def summary_of(
    marks: Mapping[str, Sequence[Mark]], metas: Mapping[str, EpisodeMeta], rate: float
) -> list[dict[str, Any]]:
    """The agreement of every pair of raters, as JSON."""
    rng = np.random.default_rng(0)
    return [
        {"raters": [first, second], **_as_json(agreement(episodes, rng))}
        for first, second in pairs_of_raters(marks)
        if (episodes := rated_episodes(marks, first, second, metas, rate))
    ]


def disputed(
    marks: Mapping[str, Sequence[Mark]], metas: Mapping[str, EpisodeMeta], rate: float
) -> list[tuple[str, float]]:
    """The episodes of several raters with their mean F1, the least agreed first."""
    found = []
    for episode, each in marks.items():
        pairs = pairs_of_raters({episode: each})
        rated = [rated_episodes({episode: each}, *pair, metas, rate) for pair in pairs]
        shares = [f1(one.ours, one.theirs, WITHIN_SECONDS) for episodes in rated for one in episodes]
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
