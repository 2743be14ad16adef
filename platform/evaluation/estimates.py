"""Shares, differences and ratios of success with their uncertainty, in plain numpy.

Comparisons are paired: both agents are run on the same episodes (same house, same task, same seed), so resampling
draws whole episodes and keeps what the two agents share. Every interval is two-sided at `confidence`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import ArrayLike, NDArray

from interplay.env.arrays import Float64Array

Draws = NDArray[np.int64]

CONFIDENCE = 0.95
RESAMPLES = 4000


@dataclass(frozen=True)
class Estimate:
    """A number, its interval, and how many episodes (or pairs of episodes) it rests on."""

    value: float
    low: float
    high: float
    n: int

    def excludes(self, value: float) -> bool:
        """Does the whole interval lie on one side of `value`?"""
        return self.low > value or self.high < value


@dataclass(frozen=True)
class SuccessCurve:
    """The share of episodes that have succeeded by each moment, with its interval; all float64 [steps + 1]."""

    seconds: Float64Array
    share: Float64Array
    low: Float64Array
    high: Float64Array
    n: int

    def by(self, seconds: float) -> float:
        """The share that has succeeded within `seconds` of the start."""
        return float(self.share[np.searchsorted(self.seconds, seconds + 1e-9, side="right") - 1])


def wilson_bounds(
    successes: ArrayLike, trials: int, confidence: float = CONFIDENCE
) -> tuple[Float64Array, Float64Array]:
    """Wilson's score interval of a share (Wilson 1927, eq. 1), elementwise over `successes`; (0, 1) for no trials."""
    wins = np.asarray(successes, np.float64)
    if np.any(wins < 0) or np.any(wins > trials):
        raise ValueError(f"successes must lie between 0 and the {trials} trials, got {successes!r}")
    if trials == 0:
        return np.zeros_like(wins), np.ones_like(wins)
    z = NormalDist().inv_cdf(0.5 + confidence / 2)
    share = wins / trials
    middle = share + z * z / (2 * trials)
    half = z * np.sqrt(share * (1 - share) / trials + z * z / (4 * trials * trials))
    scale = 1 + z * z / trials
    return np.clip((middle - half) / scale, 0, share), np.clip((middle + half) / scale, share, 1)


def wilson(successes: int, trials: int, confidence: float = CONFIDENCE) -> Estimate:
    """A success share with Wilson's interval; value nan for no trials."""
    low, high = wilson_bounds(successes, trials, confidence)
    return Estimate(successes / trials if trials else math.nan, float(low), float(high), trials)


def success_share(outcomes: ArrayLike, confidence: float = CONFIDENCE) -> Estimate:
    """The share of true values in `outcomes` [n], with Wilson's interval."""
    wins = np.asarray(outcomes, bool)
    return wilson(int(wins.sum()), len(wins), confidence)


def paired_difference(
    candidate: ArrayLike,
    baseline: ArrayLike,
    rng: np.random.Generator,
    *,
    strata: ArrayLike | None = None,
    resamples: int = RESAMPLES,
    confidence: float = CONFIDENCE,
) -> Estimate:
    """Mean of `candidate` minus mean of `baseline` over the same episodes, with a percentile bootstrap interval.

    Args:
        candidate, baseline: outcomes or returns [n]; entry i of both is the same episode.
        strata: [n] labels, the probe tasks for instance; a resample keeps each label's number of episodes.
    """
    ours, theirs = _paired(candidate, baseline)
    gaps = (ours - theirs)[_draws(len(ours), strata, resamples, rng)].mean(axis=1)
    return _percentile(float((ours - theirs).mean()), gaps, len(ours), confidence)


def paired_ratio(
    candidate: ArrayLike,
    baseline: ArrayLike,
    rng: np.random.Generator,
    *,
    strata: ArrayLike | None = None,
    resamples: int = RESAMPLES,
    confidence: float = CONFIDENCE,
) -> Estimate:
    """Mean of `candidate` over mean of `baseline`, over the same episodes, with a percentile bootstrap interval.

    Arguments as in `paired_difference`. A baseline of zero gives infinity. Zero over zero counts as 1 in a resample (no
    difference seen); where that is all there is, the value and its interval are nan.
    """
    ours, theirs = _paired(candidate, baseline)
    if not ours.any() and not theirs.any():
        return Estimate(math.nan, math.nan, math.nan, len(ours))
    draws = _draws(len(ours), strata, resamples, rng)
    top, bottom = ours[draws].mean(axis=1), theirs[draws].mean(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = np.where((top == 0) & (bottom == 0), 1.0, top / bottom)
        value = float(np.divide(ours.mean(), theirs.mean()))
    return _percentile(value, ratios, len(ours), confidence)


def sign_test(candidate: ArrayLike, baseline: ArrayLike) -> float:
    """Two-sided exact p-value that paired outcomes [n] differ: a fair coin over the pairs that disagree (McNemar).

    A bootstrap of very few pairs can look certain; this can not.
    """
    ours, theirs = _paired(candidate, baseline)
    gains, losses = int(np.sum(ours > theirs)), int(np.sum(ours < theirs))
    flips = gains + losses
    tail = sum(math.comb(flips, k) for k in range(min(gains, losses) + 1))
    return min(1.0, 2 * tail / (1 << flips))


def mean(values: ArrayLike, rng: np.random.Generator, *, confidence: float = CONFIDENCE) -> Estimate:
    """The mean of `values` [n] with a percentile bootstrap interval."""
    return paired_difference(values, np.zeros(len(np.asarray(values))), rng, confidence=confidence)


def pooled_share(
    right: ArrayLike, total: ArrayLike, rng: np.random.Generator, *, confidence: float = CONFIDENCE
) -> Estimate:
    """sum(right) / sum(total) where entry i counts episode i's judgments, resampling whole episodes.

    Judgments within an episode depend on each other, so an interval that counted them singly would be too narrow.
    n is the number of episodes.
    """
    wins, trials = _paired(right, total)
    if trials.sum() == 0:
        return Estimate(math.nan, 0.0, 1.0, 0)
    kept = trials > 0
    return paired_ratio(wins[kept], trials[kept], rng, confidence=confidence)


def success_curve(
    success_step: ArrayLike, steps: int, seconds_per_step: float, confidence: float = CONFIDENCE
) -> SuccessCurve:
    """The share of episodes that succeeded at or before each step 0 .. steps, with Wilson's interval at each.

    Args:
        success_step: [n], the step of the first success; nan (or None) where there was none.
    """
    reached = np.asarray(success_step, np.float64)
    counts = np.array([np.count_nonzero(reached <= step) for step in range(steps + 1)], np.float64)
    low, high = wilson_bounds(counts, len(reached), confidence)
    share = counts / len(reached) if len(reached) else np.full(steps + 1, math.nan)
    return SuccessCurve(np.arange(steps + 1, dtype=np.float64) * seconds_per_step, share, low, high, len(reached))


def auc(scores: ArrayLike, outcomes: ArrayLike) -> float:
    """The chance that a random success scores above a random failure, ties counting half (Mann-Whitney U / mn).

    Nan where there are no successes or no failures.
    """
    values, wins = np.asarray(scores, np.float64), np.asarray(outcomes, bool)
    if values.shape != wins.shape:
        raise ValueError(f"auc compares one score with one outcome, got shapes {values.shape} and {wins.shape}")
    if wins.all() or not wins.any():
        return math.nan
    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    ends = np.cumsum(counts)
    ranks = (ends - (counts - 1) / 2)[place]  # the mean rank of the values that tie
    positives = int(wins.sum())
    above = float(ranks[wins].sum()) - positives * (positives + 1) / 2
    return above / (positives * (len(values) - positives))


def _paired(candidate: ArrayLike, baseline: ArrayLike) -> tuple[Float64Array, Float64Array]:
    ours, theirs = np.asarray(candidate, np.float64), np.asarray(baseline, np.float64)
    if ours.shape != theirs.shape or ours.ndim != 1 or len(ours) == 0:
        raise ValueError(
            f"a paired comparison needs two equally long lists of at least one episode, got shapes "
            f"{ours.shape} and {theirs.shape}; run both agents on the same episodes"
        )
    return ours, theirs


def _draws(n: int, strata: ArrayLike | None, resamples: int, rng: np.random.Generator) -> Draws:
    """Indices of resampled episodes, int64 [resamples, n]."""
    if strata is None:
        return rng.integers(0, n, (resamples, n))
    labels = np.asarray(strata)
    if labels.shape != (n,):
        raise ValueError(f"strata must label each of the {n} episodes, got shape {labels.shape}")
    groups = [np.flatnonzero(labels == label) for label in np.unique(labels)]
    return np.concatenate([group[rng.integers(0, len(group), (resamples, len(group)))] for group in groups], axis=1)


def _percentile(value: float, samples: Float64Array, n: int, confidence: float) -> Estimate:
    tail = (1 - confidence) / 2
    # an observed value, never a mix of two: infinite ratios have no middle
    low, high = np.quantile(samples, [tail, 1 - tail], method="inverted_cdf")
    return Estimate(value, float(low), float(high), n)
