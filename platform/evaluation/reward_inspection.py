"""Inspection of a reward model on held-out episodes: where it agrees with raters and the truth, and how confidently.

Pure functions of plain values; `interplay.stages.inspect_reward_stage` collects these from a run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from interplay.env.arrays import Float64Array
from interplay.evaluation.estimates import CONFIDENCE, Estimate, auc, pooled_share, sign_test, student_mean
from interplay.evaluation.findings import BOOTSTRAP_SEED, on_same_episodes
from interplay.evaluation.report_data import RewardPoint

GAP_EDGES = (1, 2, 4, 8, 16, 32)  # steps: the first gap of each group of pairs; the last group has no end
CONFIDENCE_BINS = 8  # of the calibration, with equally many pairs each


@dataclass(frozen=True)
class InspectedEpisode:
    """A held-out episode: the pairs of moments that its rater ordered, and its return. One entry per pair."""

    kind: str  # of its first task
    gaps: NDArray[np.int64]  # [pairs], steps between the two moments
    margins: Float64Array  # [pairs], the model's rise of utility in the rater's direction: above 0 agrees
    modeled_return: float
    succeeded: bool | None  # in truth; None where it is unknown
    swapped_return: float | None = None  # under another episode's instruction; None where there is no other


@dataclass(frozen=True)
class KindOfEpisode:
    """The reward model on the episodes of one kind of task."""

    episodes: int
    solved: int | None  # of those whose success is known; None if that of none is
    pairs: Estimate  # share of pairs ordered as the rater marked them
    auc: Estimate  # of the return against true success; NaN if all or none were solved
    swap_loss: Estimate | None  # loss of return under another episode's instruction


@dataclass(frozen=True)
class ConfidenceBin:
    """Pairs of similar confidence."""

    confidence: float  # mean predicted probability that the later or earlier moment, whichever is likelier, is better
    right: float  # share of these pairs ordered as the rater marked them
    low: float  # of the interval of `right` over episodes
    high: float
    pairs: int


@dataclass(frozen=True)
class Parting:
    """Over-optimization: the true success of held-out episodes has fallen while their modeled return has not."""

    best_update: int  # the measurement of the highest true success
    update: int  # the first one after it with a true success that is lower, and a modeled return that is not
    success: tuple[float, float]  # at the two updates
    modeled: tuple[float, float]


def pairs_by_gap(episodes: Sequence[InspectedEpisode]) -> dict[str, Estimate]:
    """The share of pairs ordered as the rater marked them, by the steps between the moments: "1", "2 to 3", ...

    Groups without pairs are left out.
    """
    found = {}
    for first, following in zip(GAP_EDGES, (*GAP_EDGES[1:], None), strict=True):
        chosen = [
            each.margins[(each.gaps >= first) & (following is None or each.gaps < following)] for each in episodes
        ]
        if sum(map(len, chosen)):
            last = first if following is None else following - 1
            name = f"{first} and more" if following is None else str(first) if last == first else f"{first} to {last}"
            found[name] = _share_right(chosen)
    return found


def by_kind(episodes: Sequence[InspectedEpisode]) -> dict[str, KindOfEpisode]:
    """The reward model by the kind of task of an episode, in order of their names."""
    found = {}
    for kind in sorted({each.kind for each in episodes}):
        own = [each for each in episodes if each.kind == kind]
        known = [each for each in own if each.succeeded is not None]
        solved = [bool(each.succeeded) for each in known]
        swapped = np.array([(e.modeled_return, e.swapped_return) for e in own if e.swapped_return is not None])
        found[kind] = KindOfEpisode(
            episodes=len(own),
            solved=sum(solved) if known else None,
            pairs=_share_right([each.margins for each in own]),
            auc=auc([each.modeled_return for each in known], solved, np.random.default_rng(BOOTSTRAP_SEED)),
            swap_loss=student_mean(swapped[:, 0] - swapped[:, 1]) if len(swapped) else None,
        )
    return found


def calibration(episodes: Sequence[InspectedEpisode]) -> list[ConfidenceBin]:
    """Groups pairs by the model's confidence, from 0.5 to 1, with equally many pairs in each.

    The Bradley-Terry model of a pair is P(j better than i) = sigmoid(U_j - U_i), so its confidence in the order that it
    finds likelier is sigmoid(|U_j - U_i|), and the share of right orders should equal it.
    """
    margins = np.concatenate([each.margins for each in episodes]) if episodes else np.zeros(0)
    of_episode = np.repeat(np.arange(len(episodes)), [len(each.margins) for each in episodes])
    ordered = np.argsort(np.abs(margins), kind="stable")
    bins = []
    for part in np.array_split(ordered, min(CONFIDENCE_BINS, len(ordered)) or 1):
        if len(part):
            confidence = float(np.mean(1 / (1 + np.exp(-np.abs(margins[part])))))
            right = _share_right([margins[part[of_episode[part] == each]] for each in np.unique(of_episode[part])])
            bins.append(ConfidenceBin(confidence, right.value, right.low, right.high, len(part)))
    return bins


def calibration_error(bins: Sequence[ConfidenceBin]) -> float:
    """The expected calibration error: the mean distance of confidence and share of right orders, over pairs."""
    pairs = sum(each.pairs for each in bins)
    return sum(each.pairs * abs(each.confidence - each.right) for each in bins) / pairs if pairs else float("nan")


def parting(points: Sequence[RewardPoint]) -> Parting | None:
    """Where the modeled return of held-out episodes and their true success diverge; None if they do not.

    Every measurement plays the same episodes with the same random numbers, so two of them are compared episode by
    episode: true success has fallen if the exact sign test is significant, and the modeled return has not if its mean
    is not lower. One of many measurements is the best by chance alone and others lie below it, so the test is corrected
    for the number of pairs of measurements (Bonferroni). Episodes whose true success is unknown (NaN) are left out.
    """
    known = on_same_episodes([point for point in points if np.isfinite(point.success).any()])
    if len(known) < 2:
        return None
    success, pairs = [float(np.nanmean(point.success)) for point in known], len(known) * (len(known) - 1) // 2
    best = max(range(len(known)), key=lambda place: (success[place], -place))
    for place in range(best + 1, len(known)):
        judged = np.isfinite(known[place].success) & np.isfinite(known[best].success)
        now, before = known[place].success[judged], known[best].success[judged]
        fell = judged.any() and now.mean() < before.mean() and sign_test(now, before) * pairs < 1 - CONFIDENCE
        modeled = float(known[best].heldout.mean()), float(known[place].heldout.mean())
        if fell and modeled[1] >= modeled[0]:
            return Parting(known[best].update, known[place].update, (success[best], success[place]), modeled)
    return None


def inspection_results(
    episodes: Sequence[InspectedEpisode], points: Sequence[RewardPoint], answers: Mapping[str, Estimate]
) -> dict[str, Any]:
    """All numbers of an inspection, as `reward-inspection.json` has them."""
    bins = calibration(episodes)
    return {
        "episodes": len(episodes),
        "pairs_by_gap": pairs_by_gap(episodes),
        "kinds": by_kind(episodes),
        "calibration": bins,
        "calibration_error": calibration_error(bins),
        "answers": answers,
        "parting": parting(points),
        "heldout": [
            {
                "update": point.update,
                "modeled_return": float(point.heldout.mean()),
                "true_success": float(np.nanmean(point.success)) if np.isfinite(point.success).any() else None,
            }
            for point in points
            if len(point.heldout)
        ],
    }


def _share_right(margins: Sequence[Float64Array]) -> Estimate:
    """The share of margins above 0, ties counting half, with an interval over episodes."""
    right = [float((each > 0).sum() + 0.5 * (each == 0).sum()) for each in margins]
    return pooled_share(right, [len(each) for each in margins], np.random.default_rng(BOOTSTRAP_SEED))
