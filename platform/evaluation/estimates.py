"""Shares, differences and ratios of success with their confidence intervals, in plain numpy.

Comparisons are paired: both agents play the same episodes (same house, same task, same seed), so a bootstrap resample
draws whole episodes and keeps the correlation between the agents. Every interval is two-sided at `CONFIDENCE`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from statistics import NormalDist

import numpy as np
from numpy.typing import ArrayLike, NDArray

from interplay.env.arrays import Float64Array

CONFIDENCE = 0.95
RESAMPLES = 4000
SAME = 1e-9  # values that differ by less, as by rounding, are equal

Statistic = Callable[[Float64Array, Float64Array], Float64Array]


@dataclass(frozen=True)
class Estimate:
    """A value, its confidence interval, and the number of episodes (or pairs of episodes) behind it.

    Without an interval, as for a mean of one episode, `low` and `high` are nan.
    """

    value: float
    low: float
    high: float
    n: int

    @property
    def excludes_zero(self) -> bool:
        """True if the whole interval lies on one side of 0."""
        return self.low > 0 or self.high < 0


@dataclass(frozen=True)
class SuccessCurve:
    """The share of episodes that have succeeded by each time, with its interval; all float64 [steps + 1]."""

    seconds: Float64Array
    share: Float64Array
    low: Float64Array
    high: Float64Array
    n: int


def wilson_bounds(successes: ArrayLike, trials: int) -> tuple[Float64Array, Float64Array]:
    """Wilson's score interval of a share (Wilson 1927, eq. 1), elementwise over `successes`; (0, 1) for no trials."""
    wins = np.asarray(successes, np.float64)
    if np.any(wins < 0) or np.any(wins > trials):
        raise ValueError(f"successes must lie between 0 and the {trials} trials, got {successes!r}")
    if trials == 0:
        return np.zeros_like(wins), np.ones_like(wins)
    z = NormalDist().inv_cdf(0.5 + CONFIDENCE / 2)
    share = wins / trials
    middle = share + z * z / (2 * trials)
    half = z * np.sqrt(share * (1 - share) / trials + z * z / (4 * trials * trials))
    scale = 1 + z * z / trials
    return np.clip((middle - half) / scale, 0, share), np.clip((middle + half) / scale, share, 1)


def wilson(successes: int, trials: int) -> Estimate:
    """A success share with Wilson's interval; value nan for no trials."""
    low, high = wilson_bounds(successes, trials)
    return Estimate(successes / trials if trials else math.nan, float(low), float(high), trials)


def success_share(outcomes: ArrayLike) -> Estimate:
    """The share of true values in `outcomes` [n], with Wilson's interval."""
    wins = np.asarray(outcomes, bool)
    return wilson(int(wins.sum()), len(wins))


def mean_difference(candidate: Float64Array, baseline: Float64Array) -> Float64Array:
    """Mean of `candidate` minus mean of `baseline`, both [..., n]."""
    return np.asarray((candidate - baseline).mean(axis=-1))


def mean_ratio(candidate: Float64Array, baseline: Float64Array) -> Float64Array:
    """Mean of `candidate` over mean of `baseline`, both [..., n]; infinite over a baseline of zero, nan for 0 / 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.divide(candidate.mean(axis=-1), baseline.mean(axis=-1)))


def paired_bootstrap(
    candidate: ArrayLike,
    baseline: ArrayLike,
    rng: np.random.Generator,
    *,
    statistic: Statistic = mean_difference,
    strata: ArrayLike | None = None,
    fewest: int | None = None,
) -> Estimate:
    """Compares two agents over the same episodes, with a percentile bootstrap interval over resampled episodes.

    The percentiles are those of `bootstrap_tail`.

    Args:
        candidate, baseline: outcomes or returns [n]; entry i of both is the same episode.
        statistic: `mean_difference`, `mean_ratio` or `_area`, of two arrays [..., n] over their last axis. If it is
            nan, so is the interval; a resample where it is nan (0 / 0) counts as a ratio of 1, no difference seen. One
            episode shows no spread, so that its interval is nan, too.
        strata: [n] labels, for example the probe tasks; a resample keeps each label's number of episodes.
        fewest: the number of episodes of the group that determines the spread; None: it is that of all, n.
    """
    ours, theirs = _paired(candidate, baseline)
    value = float(statistic(ours, theirs))
    if math.isnan(value) or len(ours) == 1:
        return Estimate(value, math.nan, math.nan, len(ours))
    draws = _draws(len(ours), strata, rng)
    samples = statistic(ours[draws], theirs[draws])
    samples = np.where(np.isnan(samples), 1.0, samples)
    groups = 1 if strata is None or fewest is not None else len(np.unique(np.asarray(strata)))
    tail = bootstrap_tail(fewest or len(ours), groups)
    # "inverted_cdf" picks an observed value: interpolating between infinite ratios is undefined
    low, high = np.quantile(samples, [tail, 1 - tail], method="inverted_cdf")
    return Estimate(value, float(low), float(high), len(ours))


@cache
def bootstrap_tail(n: int, strata: int = 1) -> float:
    """The share of the resamples of n episodes that lies below a percentile interval, and the share above it.

    A resample of few episodes varies too little, and its percentiles lack the long tails of Student's t, so plain
    percentiles give an interval that is too narrow. This is the expanded percentile interval of Hesterberg (2015, "What
    Teachers Should Know About the Bootstrap", arXiv 1411.5279): the percentiles at which the interval of a mean has the
    width of Student's. The share is 0.025 for many episodes and 0.009 for ten. Below five, the interval reaches from
    the lowest to the highest resample and is still too narrow.

    Args:
        strata: the number of labels that are resampled on their own.
    """
    freedom = max(n - strata, 1)  # with a single episode of each label, all resamples are equal
    return NormalDist().cdf(-math.sqrt(n / freedom) * student_t(freedom, CONFIDENCE))


def share_difference(
    candidate: ArrayLike, baseline: ArrayLike, rng: np.random.Generator, *, strata: ArrayLike | None = None
) -> Estimate:
    """The mean difference of paired outcomes (true or false), [n] each, with a paired bootstrap interval.

    If all resamples have the same difference, as when both agents solve everything or nothing, the bootstrap has no
    spread. The interval then extends to both sides by Wilson's interval of 0 of n, and is cut at -1 and 1.
    """
    found = paired_bootstrap(candidate, baseline, rng, strata=strata)
    if found.low != found.high:  # as those of one episode, which are nan
        return found
    reach = float(wilson_bounds(0, found.n)[1])
    return replace(found, low=max(found.value - reach, -1.0), high=min(found.value + reach, 1.0))


def share_ratio(
    candidate: ArrayLike, baseline: ArrayLike, rng: np.random.Generator, *, strata: ArrayLike | None
) -> Estimate:
    """The ratio of the means of paired outcomes, [n] each, with a paired bootstrap interval; nan where all resamples
    have the same finite ratio, which shows no spread."""
    found = paired_bootstrap(candidate, baseline, rng, statistic=mean_ratio, strata=strata)
    return replace(found, low=math.nan, high=math.nan) if found.low == found.high < math.inf else found


def sign_test(candidate: ArrayLike, baseline: ArrayLike) -> float:
    """Two-sided exact p-value that paired outcomes [n] differ: a fair coin over the pairs that disagree (McNemar).

    A bootstrap over very few pairs can give a narrow interval; this test does not.
    """
    ours, theirs = _paired(candidate, baseline)
    gains, losses = int(np.sum(ours > theirs)), int(np.sum(ours < theirs))
    flips = gains + losses
    tail = sum(math.comb(flips, k) for k in range(min(gains, losses) + 1))
    return min(1.0, 2 * tail / (1 << flips))


def mean(values: ArrayLike, rng: np.random.Generator) -> Estimate:
    """The mean of `values` [n] with a percentile bootstrap interval; nan where all values are equal, which show no
    spread."""
    found = paired_bootstrap(values, np.zeros(len(np.asarray(values))), rng)
    return replace(found, low=math.nan, high=math.nan) if np.ptp(np.asarray(values)) < SAME else found


def student_mean(values: ArrayLike, among: int = 1, within: tuple[float, float] = (-math.inf, math.inf)) -> Estimate:
    """The mean of `values` [n], for example over seeds, with Student's 95% interval.

    A single value, and values that are all equal, show no spread: their interval is nan.

    Args:
        among: the number of such intervals that hold together at 95% (Bonferroni), where the lowest or highest of
            several is looked at.
        within: the lowest and the highest possible mean, at which the interval is cut.
    """
    found = np.asarray(values, np.float64)
    n, mean = len(found), float(found.mean()) if len(found) else math.nan
    if n < 2 or np.ptp(found) < SAME:
        return Estimate(mean, math.nan, math.nan, n)
    half = student_t(n - 1, 1 - (1 - CONFIDENCE) / among) * float(found.std(ddof=1)) / math.sqrt(n)
    return Estimate(mean, max(mean - half, within[0]), min(mean + half, within[1]), n)


def student_t(freedom: int, confidence: float) -> float:
    """The value that |t| stays below with probability `confidence`, for Student's t of `freedom` degrees of freedom."""
    low, high = 0.0, 1.0
    while _probability_within(high, freedom) < confidence:
        high *= 2
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if _probability_within(middle, freedom) < confidence else (low, middle)
    return high


def student_difference(candidate: ArrayLike, baseline: ArrayLike) -> Estimate:
    """The mean difference of paired shares [n] with Student's interval over the pairs, cut at -1 and 1.

    For few pairs, for example of people, for which a bootstrap's interval is too narrow.
    """
    ours, theirs = _paired(candidate, baseline)
    return student_mean(ours - theirs, within=(-1.0, 1.0))


def grouped_difference(
    candidate: Mapping[str, Sequence[float]], baseline: Mapping[str, Sequence[float]]
) -> Estimate | None:
    """`student_difference` of the means of the groups that both have, for example of people; None below two."""
    both = sorted(candidate.keys() & baseline.keys())
    if len(both) < 2:
        return None
    ours, theirs = ([np.mean(values[group]) for group in both] for values in (candidate, baseline))
    return student_difference(ours, theirs)


def pooled_share(right: ArrayLike, total: ArrayLike, rng: np.random.Generator) -> Estimate:
    """sum(right) / sum(total), where entry i counts the judgments of episode i; resamples whole episodes.

    Judgments within an episode are correlated, so resampling single judgments would give too narrow an interval. If all
    episodes have the same share, as a single one does, the bootstrap would see no spread; the interval is then Wilson's
    over the episodes. n is their number.
    """
    wins, trials = _paired(right, total)
    if trials.sum() == 0:
        return Estimate(math.nan, 0.0, 1.0, 0)
    kept = trials > 0
    if (equal := _equal_shares(wins[kept] / trials[kept])) is not None:
        return equal
    return paired_bootstrap(wins[kept], trials[kept], rng, statistic=mean_ratio)


def pooled_mean(amounts: ArrayLike, counts: ArrayLike, rng: np.random.Generator) -> Estimate:
    """sum(amounts) / sum(counts), where entry i has the sum and the number of values of episode i; resamples whole
    episodes.

    Values within an episode are correlated, as in `pooled_share`. If all resamples have the same mean, as for a single
    episode, the interval is nan; so is the mean without any value. n counts the episodes that have a value.
    """
    sums, numbers = _paired(amounts, counts)
    kept = (sums != 0) | (numbers > 0)
    if not numbers.any():
        return Estimate(math.nan, math.nan, math.nan, 0)
    found = paired_bootstrap(sums[kept], numbers[kept], rng, statistic=mean_ratio)
    return replace(found, low=math.nan, high=math.nan) if found.high - found.low < SAME else found


def repeated_share(successes: ArrayLike, repeats: int, rng: np.random.Generator) -> Estimate:
    """The share of successes where each of n episodes was played `repeats` times; n counts the episodes.

    Repeats of one episode are correlated, so the bootstrap resamples episodes. If all episodes have the same share, as
    where all or none of the plays succeed, it would see no spread at all; the interval is then Wilson's over the
    episodes.

    Args:
        successes: [n], the number of successes of each episode, 0 .. repeats.
    """
    wins = np.asarray(successes, np.float64)
    if not len(wins) or wins.min() < 0 or wins.max() > repeats:
        raise ValueError(f"successes must count 0 to {repeats} repeats of at least one episode, got {successes!r}")
    if (equal := _equal_shares(wins / repeats)) is not None:
        return equal
    return paired_bootstrap(wins / repeats, np.zeros(len(wins)), rng)


def success_curve(success_step: ArrayLike, steps: int, seconds_per_step: float) -> SuccessCurve:
    """The share of episodes that succeeded at or before each step 0 .. steps, with Wilson's interval at each.

    Args:
        success_step: [n], the step of the first success; nan (or None) for failed episodes.
    """
    reached = np.asarray(success_step, np.float64)
    counts = np.array([np.count_nonzero(reached <= step) for step in range(steps + 1)], np.float64)
    low, high = wilson_bounds(counts, len(reached))
    share = counts / len(reached) if len(reached) else np.full(steps + 1, math.nan)
    return SuccessCurve(np.arange(steps + 1, dtype=np.float64) * seconds_per_step, share, low, high, len(reached))


def auc(scores: ArrayLike, outcomes: ArrayLike, rng: np.random.Generator) -> Estimate:
    """Area under the ROC curve: the probability that a random success scores above a random failure.

    Ties count half. The interval is a percentile bootstrap over episodes, which keeps the numbers of successes and of
    failures. Where all resamples have the same area, as if the scores separate the two, it is Wilson's over as many
    episodes as the smaller group has. All nan without successes or without failures. n is the number of episodes.
    """
    values, wins = np.asarray(scores, np.float64), np.asarray(outcomes, bool)
    if values.shape != wins.shape:
        raise ValueError(f"auc compares one score with one outcome, got shapes {values.shape} and {wins.shape}")
    if wins.all() or not wins.any():
        return Estimate(math.nan, math.nan, math.nan, len(wins))
    fewer = min(int(wins.sum()), int((~wins).sum()))
    found = paired_bootstrap(values, wins, rng, statistic=_area, strata=wins, fewest=fewer)
    if found.low != found.high:
        return found
    low, high = wilson_bounds(found.value * fewer, fewer)
    return replace(found, low=float(low), high=float(high))


def _area(scores: Float64Array, wins: Float64Array) -> Float64Array:
    """Mann-Whitney's U / mn of scores and outcomes (1 or 0), both [..., n], over the last axis; ties count half."""
    _, places = np.unique(scores, return_inverse=True)
    rows, won = places.reshape(-1, scores.shape[-1]), wins.reshape(-1, scores.shape[-1]) > 0
    width = int(rows.max()) + 1
    cells = rows + width * np.arange(len(rows))[:, None]
    above, below = (np.bincount(cells[of], minlength=width * len(rows)).reshape(-1, width) for of in (won, ~won))
    passed = (above * (np.cumsum(below, axis=1) - below / 2)).sum(axis=1)
    return np.asarray((passed / (above.sum(axis=1) * below.sum(axis=1))).reshape(scores.shape[:-1]))


def _probability_within(t: float, freedom: int) -> float:
    """The probability that |t| is below `t`: the finite sums 26.7.3 and 26.7.4 of Abramowitz and Stegun."""
    angle = math.atan(t / math.sqrt(freedom))
    term = math.cos(angle) if freedom % 2 else 1.0
    total = term if freedom > 1 else 0.0
    for k in range(freedom % 2 + 2, freedom, 2):
        term *= math.cos(angle) ** 2 * (k - 1) / k
        total += term
    total *= math.sin(angle)
    return 2 / math.pi * (angle + total) if freedom % 2 else total


def _equal_shares(shares: Float64Array) -> Estimate | None:
    """The mean of the shares of episodes [n] with Wilson's interval over them; None unless they are all equal."""
    share, n = float(shares[0]), len(shares)
    if np.any(shares != share):
        return None
    low, high = wilson_bounds(share * n, n)
    return Estimate(share, float(low), float(high), n)


def _paired(candidate: ArrayLike, baseline: ArrayLike) -> tuple[Float64Array, Float64Array]:
    ours, theirs = np.asarray(candidate, np.float64), np.asarray(baseline, np.float64)
    if ours.shape != theirs.shape or ours.ndim != 1 or len(ours) == 0:
        raise ValueError(
            f"a paired comparison needs two equally long lists of at least one episode, got shapes "
            f"{ours.shape} and {theirs.shape}; run both agents on the same episodes"
        )
    return ours, theirs


def _draws(n: int, strata: ArrayLike | None, rng: np.random.Generator) -> NDArray[np.int64]:
    """Indices of resampled episodes, int64 [RESAMPLES, n]."""
    if strata is None:
        return rng.integers(0, n, (RESAMPLES, n))
    labels = np.asarray(strata)
    if labels.shape != (n,):
        raise ValueError(f"strata must label each of the {n} episodes, got shape {labels.shape}")
    groups = [np.flatnonzero(labels == label) for label in np.unique(labels)]
    return np.concatenate([group[rng.integers(0, len(group), (RESAMPLES, len(group)))] for group in groups], axis=1)
