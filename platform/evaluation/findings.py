"""The numbers of a report, computed from a run's results, with confidence intervals and verdicts."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from interplay.evaluation.estimates import (
    Estimate,
    SuccessCurve,
    auc,
    pooled_share,
    share_difference,
    share_ratio,
    sign_test,
    student_mean,
    success_curve,
    success_share,
)
from interplay.evaluation.report_data import ProbeResults, RewardModelResults, RewardPoint

BOOTSTRAP_SEED = 20221121  # fixed, so that reports of the same results have the same numbers


@dataclass(frozen=True)
class Comparison:
    """Candidate against baseline on the same episodes of some tasks."""

    tasks: tuple[str, ...]
    baseline: Estimate
    candidate: Estimate
    difference: Estimate
    ratio: Estimate
    p_value: float  # of the exact sign test

    @property
    def verdict(self) -> int:
        """+1 if the candidate is better, -1 if worse; 0 unless the interval and the sign test show a difference."""
        if not self.difference.excludes_zero or self.p_value >= 0.05:
            return 0
        return 1 if self.difference.value > 0 else -1

    @property
    def too_few(self) -> bool:
        """True if the interval excludes 0 but too few episodes differ for the sign test."""
        return self.difference.excludes_zero and self.verdict == 0


@dataclass(frozen=True)
class MeanChange:
    """A mean at the start and at the end, over the same episodes."""

    updates: tuple[int, int]
    start: float
    end: float
    change: Estimate  # with Student's interval over episodes
    p_value: float  # of the exact sign test, which decides where all episodes change equally: `change` has no interval

    @property
    def verdict(self) -> int:
        """+1 if it rose clearly, -1 if it fell clearly, else 0."""
        clear = self.p_value < 0.05 if math.isnan(self.change.low) else self.change.excludes_zero
        return int(np.sign(self.change.value)) if clear else 0


@dataclass(frozen=True)
class RewardModelFigures:
    """Agreement of the reward model with raters and with ground-truth success."""

    pair_accuracy: Estimate
    auc: Estimate  # of the return against true success, with a bootstrap interval over episodes
    swap_loss: Estimate | None  # loss of return under the instruction of another episode; None without one that differs


def compare(probes: ProbeResults, tasks: tuple[str, ...]) -> Comparison | None:
    """Compares the two agents over `tasks`, episode by episode; None if they have none of these tasks in common."""
    tasks = tuple(task for task in tasks if task in probes.compared)
    if not tasks:
        return None
    ours, labels = probes.pooled(probes.candidate, tasks)
    theirs, _ = probes.pooled(probes.baseline, tasks)
    if not len(ours):
        return None
    wins, others = np.isfinite(ours), np.isfinite(theirs)
    return Comparison(
        tasks,
        baseline=success_share(others),
        candidate=success_share(wins),
        difference=share_difference(wins, others, np.random.default_rng(BOOTSTRAP_SEED), strata=labels),
        ratio=share_ratio(wins, others, np.random.default_rng(BOOTSTRAP_SEED), strata=labels),
        p_value=sign_test(wins, others),
    )


def steps_between_rounds(probes: ProbeResults) -> dict[str, Comparison]:
    """Each agent of `probes` but the first against the one before it, over the tasks that both played."""
    found = {
        later: compare(replace(probes, baseline=earlier, candidate=later), probes.tasks)
        for earlier, later in pairwise(probes.success_step)
    }
    return {agent: each for agent, each in found.items() if each is not None}


def at_half_time(probes: ProbeResults) -> ProbeResults:
    """The results with every success after half of the time limit removed; without the tasks of `probes.late`."""
    cut = {
        agent: {
            task: np.where(np.asarray(steps) <= probes.limit(task) // 2, steps, np.nan)
            for task, steps in tasks.items()
            if task not in probes.late
        }
        for agent, tasks in probes.success_step.items()
    }
    limits = {task: limit // 2 for task, limit in probes.limits.items()}
    return replace(probes, success_step=cut, steps=probes.steps // 2, limits=limits)


def joint_comparison(probes: ProbeResults) -> Comparison | None:
    """The comparison over the joint movement tasks, or over all common tasks if none of those was played."""
    return compare(probes, probes.joint) or compare(probes, probes.compared)


def shares(probes: ProbeResults) -> dict[str, dict[str, Estimate]]:
    """Success share by task, then by agent."""
    return probes.by_task(probes.success_step, lambda steps: success_share(np.isfinite(steps)))


def curves(probes: ProbeResults, tasks: tuple[str, ...]) -> dict[str, SuccessCurve]:
    """Success against time by agent, over the tasks of `tasks` that the agent played."""
    found = {}
    for agent, by_task in probes.success_step.items():
        reached, _ = probes.pooled(agent, [task for task in tasks if task in by_task])
        if len(reached):
            found[agent] = success_curve(reached, max(map(probes.limit, tasks)), probes.seconds_per_step)
    return found


def reward_model_figures(results: RewardModelResults) -> RewardModelFigures:
    """Pair accuracy, AUC of return against success, and the loss of return under a swapped instruction."""
    both, known = results.under_both, ~np.isnan(results.success)
    return RewardModelFigures(
        pair_accuracy=pooled_share(results.pairs_right, results.pairs, np.random.default_rng(BOOTSTRAP_SEED)),
        auc=auc(results.returns[known], results.success[known], np.random.default_rng(BOOTSTRAP_SEED)),
        swap_loss=None if both is None else student_mean(both[0] - both[1]),
    )


def heldout_change(points: Sequence[RewardPoint]) -> MeanChange | None:
    """Change of the modeled return of held-out episodes, first to last; None with fewer than two measurements.

    Every measurement plays the same episodes with the same random numbers, so they are compared pair by pair. If
    episodes were deleted during the training, it is the change since the first measurement without these.
    """
    kept = on_same_episodes([point for point in points if len(point.heldout) > 1])
    if len(kept) < 2:
        return None
    first, last = kept[0], kept[-1]
    return MeanChange(
        (first.update, last.update),
        float(np.mean(first.heldout)),
        float(np.mean(last.heldout)),
        student_mean(last.heldout - first.heldout),
        sign_test(last.heldout, first.heldout),
    )


def on_same_episodes(points: Sequence[RewardPoint]) -> list[RewardPoint]:
    """The measurements with as many held-out episodes as the last one; earlier ones have more if some were deleted."""
    return [point for point in points if len(point.heldout) == len(points[-1].heldout)]


def answer_rewards(rewards: Mapping[str, Sequence[float]]) -> dict[str, Estimate]:
    """Mean reward after each kind of answer, with Student's interval; kinds without answers are left out."""
    return {kind: student_mean(earned) for kind, earned in rewards.items() if len(earned)}


def answer_margins(rewards: Mapping[str, Sequence[float]]) -> dict[str, Estimate]:
    """Mean reward of the first kind of answer minus that of each other kind, on the same questions."""
    kinds = list(answer_rewards(rewards))
    return {kind: student_mean(np.subtract(rewards[kinds[0]], rewards[kind])) for kind in kinds[1:]}


def answer_steps(rewards: Mapping[str, Sequence[float]]) -> list[Estimate]:
    """Mean reward of each kind of answer minus that of the next one, on the same questions."""
    earned = [rewards[kind] for kind in answer_rewards(rewards)]
    return [student_mean(np.subtract(better, worse)) for better, worse in pairwise(earned)]
