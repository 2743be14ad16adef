"""What the seeds of `interplay orderings` showed, and means over seeds."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from interplay.evaluation.estimates import Estimate

# Student's t, two-sided 95%, for 1, 2, ... degrees of freedom; the last one counts beyond, where it is a little wide.
STUDENT_T = (12.71, 4.30, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26)


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


def over_seeds(values: Sequence[float]) -> Estimate:
    """The mean over seeds with Student's 95% interval; infinite for a single seed."""
    n = len(values)
    mean = float(np.mean(values)) if n else math.nan
    if n < 2:
        return Estimate(mean, -math.inf, math.inf, n)
    t = STUDENT_T[min(n - 2, len(STUDENT_T) - 1)]
    half = t * float(np.std(values, ddof=1)) / math.sqrt(n)
    return Estimate(mean, mean - half, mean + half, n)
