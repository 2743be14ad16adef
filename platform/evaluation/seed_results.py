"""What the seeds of `interplay orderings` showed, and means over seeds."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from interplay.evaluation.estimates import CONFIDENCE, Estimate


@dataclass(frozen=True)
class SeedResults:
    """What one seed showed. Agents are named as in `evaluate`; shares are by kind of probe."""

    seed: int
    success: Mapping[str, Mapping[str, float]]  # by agent
    early: Mapping[str, Mapping[str, float]]  # success within half of the time limit
    listening: Mapping[str, Mapping[str, float]]  # success under own words minus that under other words
    probes: Mapping[str, int]  # number of probes
    chance: Mapping[str, float]  # best share without understanding the words
    heldout_returns: Sequence[tuple[int, float]]  # (update, mean modeled return) through reinforcement
    answers: Mapping[str, float]  # mean reward: correct, plausible wrong, incoherent
    budget: Mapping[str, int]  # what was recorded and trained
    # By the agent that was reinforced on it, what was last measured of a reward model on held-out episodes.
    reward_models: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    # By the agent that was reinforced on scripted rewards of some kinds of probes alone: these kinds.
    scripted_kinds: Mapping[str, Sequence[str]] = field(default_factory=dict)
    # Success of the clone and of the newest agent of every round, where there are two rounds, in their order.
    rounds: Mapping[str, Mapping[str, float]] = field(default_factory=dict)


def over_seeds(values: Sequence[float], among: int = 1) -> Estimate:
    """The mean over seeds with Student's 95% interval; infinite for a single seed.

    `among`: the number of such intervals that hold together at 95% (Bonferroni), where the lowest or highest of several
    is looked at.
    """
    n = len(values)
    mean = float(np.mean(values)) if n else math.nan
    if n < 2:
        return Estimate(mean, -math.inf, math.inf, n)
    half = student_t(n - 1, 1 - (1 - CONFIDENCE) / among) * float(np.std(values, ddof=1)) / math.sqrt(n)
    return Estimate(mean, mean - half, mean + half, n)


def student_t(freedom: int, confidence: float) -> float:
    """The value that |t| stays below with probability `confidence`, for Student's t of `freedom` degrees of freedom."""
    low, high = 0.0, 1.0
    while _within(high, freedom) < confidence:
        high *= 2
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if _within(middle, freedom) < confidence else (low, middle)
    return high


def _within(t: float, freedom: int) -> float:
    """The probability that |t| is below `t`: the finite sums 26.7.3 and 26.7.4 of Abramowitz and Stegun."""
    angle = math.atan(t / math.sqrt(freedom))
    term = math.cos(angle) if freedom % 2 else 1.0
    total = term if freedom > 1 else 0.0
    for k in range(freedom % 2 + 2, freedom, 2):
        term *= math.cos(angle) ** 2 * (k - 1) / k
        total += term
    total *= math.sin(angle)
    return 2 / math.pi * (angle + total) if freedom % 2 else total
