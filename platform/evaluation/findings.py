"""What a run found, computed from its results: numbers, their intervals, and the sentences that follow from them.

No sentence is written beforehand: each says better, worse or no clear difference as its interval does.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from interplay.evaluation.estimates import (
    Estimate,
    SuccessCurve,
    auc,
    mean,
    paired_difference,
    paired_ratio,
    pooled_share,
    sign_test,
    success_curve,
    success_share,
)
from interplay.evaluation.report_data import ProbeResults, ReportData, RewardModelResults, RewardPoint

SEED = 20221121  # of the bootstrap, so that a report of the same results says the same numbers


@dataclass(frozen=True)
class Headline:
    """A big number, what it is, and a sentence that puts it into words; `number` is None for what was not run."""

    label: str
    number: str | None
    sentence: str


@dataclass(frozen=True)
class Comparison:
    """Candidate against baseline over the same episodes of some tasks."""

    tasks: tuple[str, ...]
    baseline: Estimate
    candidate: Estimate
    difference: Estimate
    ratio: Estimate
    p_value: float  # of the exact sign test

    @property
    def verdict(self) -> int:
        """+1 the candidate is better, -1 worse, 0 no clear difference: both the interval and the test must say so."""
        if not self.difference.excludes(0) or self.p_value >= 0.05:
            return 0
        return 1 if self.difference.value > 0 else -1

    @property
    def too_few(self) -> bool:
        """Does the interval look certain, and the test say that this few differing episodes prove nothing?"""
        return self.difference.excludes(0) and self.verdict == 0


@dataclass(frozen=True)
class MeanChange:
    """A mean at the beginning and at the end, over different episodes; `error` is one standard error of the change."""

    updates: tuple[int, int]
    start: float
    end: float
    error: float

    @property
    def verdict(self) -> int:
        """+1 it rose, -1 it fell, by more than two standard errors; else 0."""
        if abs(self.end - self.start) <= 2 * self.error:
            return 0
        return 1 if self.end > self.start else -1


@dataclass(frozen=True)
class RewardModelFigures:
    """Agreement of the reward model with raters and with the truth."""

    pair_accuracy: Estimate
    auc: float
    swap_loss: Estimate  # return lost when the instruction is another episode's


def compare(probes: ProbeResults, tasks: tuple[str, ...]) -> Comparison | None:
    """The two agents over `tasks`, episode by episode; None where the two did not both play one of these tasks."""
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
        difference=paired_difference(wins, others, np.random.default_rng(SEED), strata=labels),
        ratio=paired_ratio(wins, others, np.random.default_rng(SEED), strata=labels),
        p_value=sign_test(wins, others),
    )


def at_half_time(probes: ProbeResults) -> ProbeResults:
    """The same results as if the episodes had ended at half of their time limit."""
    cut = {
        agent: {
            task: np.where(np.asarray(steps) <= probes.limit(task) // 2, steps, np.nan) for task, steps in tasks.items()
        }
        for agent, tasks in probes.success_step.items()
    }
    limits = {task: limit // 2 for task, limit in probes.limits.items()}
    return replace(probes, success_step=cut, steps=probes.steps // 2, limits=limits)


def joint_comparison(probes: ProbeResults) -> Comparison | None:
    """The comparison over the joint movement tasks; over all common tasks where none of those was played."""
    return compare(probes, probes.joint) or compare(probes, probes.compared)


def shares(probes: ProbeResults) -> dict[str, dict[str, Estimate]]:
    """Success by task, then by agent."""
    return {
        task: {
            agent: success_share(np.isfinite(tasks[task]))
            for agent, tasks in probes.success_step.items()
            if task in tasks
        }
        for task in probes.tasks
    }


def curves(probes: ProbeResults, tasks: tuple[str, ...]) -> dict[str, SuccessCurve]:
    """Success against time by agent, over those of `tasks` that the agent played."""
    found = {}
    for agent, played in probes.success_step.items():
        reached, _ = probes.pooled(agent, [task for task in tasks if task in played])
        if len(reached):
            found[agent] = success_curve(reached, max(map(probes.limit, tasks)), probes.seconds_per_step)
    return found


def reward_model_figures(results: RewardModelResults) -> RewardModelFigures:
    """Pair accuracy, AUC of return against success, and the return that a swapped instruction loses."""
    return RewardModelFigures(
        pair_accuracy=pooled_share(results.pairs_right, results.pairs, np.random.default_rng(SEED)),
        auc=auc(results.returns, results.success),
        swap_loss=paired_difference(results.returns, results.swapped_returns, np.random.default_rng(SEED)),
    )


def heldout_change(points: Sequence[RewardPoint]) -> MeanChange | None:
    """Modelled return of held-out episodes, first against last; None with fewer than two recorded moments."""
    kept = [point for point in points if len(point.heldout) > 1]
    if len(kept) < 2:
        return None
    first, last = kept[0], kept[-1]
    variances = [float(np.var(point.heldout, ddof=1)) / len(point.heldout) for point in (first, last)]
    return MeanChange(
        (first.update, last.update),
        float(np.mean(first.heldout)),
        float(np.mean(last.heldout)),
        math.sqrt(sum(variances)),
    )


def answer_rewards(material: ReportData) -> dict[str, Estimate]:
    """Mean reward after each kind of answer."""
    return {
        kind: mean(rewards, np.random.default_rng(SEED))
        for kind, rewards in material.answer_rewards.items()
        if len(rewards)
    }


def answer_margins(rewards: Mapping[str, Sequence[float]]) -> dict[str, Estimate]:
    """By how much the first kind of answer earns more than each other kind, to the same questions."""
    kinds = [kind for kind, earned in rewards.items() if len(earned)]
    return {
        kind: mean(np.subtract(rewards[kinds[0]], rewards[kind]), np.random.default_rng(SEED)) for kind in kinds[1:]
    }


def headlines(material: ReportData) -> tuple[Headline, ...]:
    """What stands at the top of a report."""
    return (
        _success(material.probes),
        _sooner(material.probes),
        _modeled_reward(material.reward_points),
        _reward_model(material.reward_model),
        _answers(answer_rewards(material), answer_margins(material.answer_rewards)),
    )


def percent(share: float) -> str:
    """0.384 -> "38%"; a dash for nan."""
    return "–" if math.isnan(share) else f"{100 * share:.0f}%"


def span(estimate: Estimate, *, points: bool = False, share: bool = False) -> str:
    """An interval in words: "1.52 to 2.31"; in percentage points "+3 to +11"; as a share "31% to 44%"; nan: a dash."""
    if math.isnan(estimate.low) or math.isnan(estimate.high):
        return "–"
    shown = "{:+.0f}" if points else "{:.0f}%" if share else "{:.2f}"
    scale = 100 if points or share else 1
    low, high = ("∞" if math.isinf(end) else shown.format(scale * end) for end in (estimate.low, estimate.high))
    return f"{low} to {high}"


def times(ratio: float) -> str:
    """A ratio as people say it: "2.0×"."""
    return "∞" if math.isinf(ratio) else "–" if math.isnan(ratio) else f"{ratio:.2f}×"


def _success(probes: ProbeResults | None) -> Headline:
    label = "Success on probe tasks"
    found = joint_comparison(probes) if probes is not None else None
    if probes is None or found is None:
        return Headline(label, None, "The two agents have not both been measured on probe tasks.")
    names = " and ".join(probes.name(task) for task in found.tasks)
    candidate, baseline = probes.name(probes.candidate), probes.name(probes.baseline)
    facts = (
        f"{candidate} solves {percent(found.candidate.value)} of {found.candidate.n} {names} episodes, "
        f"{baseline} {percent(found.baseline.value)} of the same"
    )
    verdict = {
        0: _unclear(found),
        1: f"{candidate} is better, {times(found.ratio.value)} as often",
        -1: f"{candidate} is worse, {times(found.ratio.value)} as often",
    }[found.verdict]
    return Headline(
        label,
        f"{percent(found.baseline.value)} → {percent(found.candidate.value)}",
        f"{facts}: {verdict} (95% interval of the ratio {span(found.ratio)}).",
    )


def _unclear(found: Comparison) -> str:
    """That there is no clear difference; and why, where the interval that is printed beside it seems to show one."""
    if not found.too_few:
        return "no clear difference"
    return f"no clear difference, as too few episodes differ for the sign test (p = {found.p_value:.2g})"


def _sooner(probes: ProbeResults | None) -> Headline:
    label = "Success in half the time"
    found = joint_comparison(at_half_time(probes)) if probes is not None else None
    if probes is None or found is None:
        return Headline(label, None, "No success times of both agents.")
    early, others = percent(found.candidate.value), percent(found.baseline.value)
    candidate, baseline = probes.name(probes.candidate), probes.name(probes.baseline)
    verdict = {0: _unclear(found), 1: f"{candidate} is sooner", -1: f"{candidate} is later"}[found.verdict]
    halves = sorted({probes.limit(task) // 2 for task in found.tasks})
    seconds = " or ".join(f"{steps * probes.seconds_per_step:.1f}" for steps in halves)
    return Headline(
        label,
        f"{others} → {early}",
        f"Within {seconds} s, half of the time limit, {candidate} has solved "
        f"{early} and {baseline} {others}: {verdict} (difference {100 * found.difference.value:+.0f} points, "
        f"95% interval {span(found.difference, points=True)}).",
    )


def _modeled_reward(points: Sequence[RewardPoint]) -> Headline:
    label = "Modelled return, held-out"
    change = heldout_change(points)
    if change is None:
        return Headline(label, None, "Reinforcement has not recorded the modeled return of held-out episodes.")
    verdict = {0: "moved within its error", 1: "rose", -1: "fell"}[change.verdict]
    first, last = change.updates
    return Headline(
        label,
        f"{change.start:.2f} → {change.end:.2f}",
        f"Between updates {first} and {last} the return that the reward model gives to held-out episodes {verdict} "
        f"(change {change.end - change.start:+.2f}, two standard errors {2 * change.error:.2f}).",
    )


def _reward_model(results: RewardModelResults | None) -> Headline:
    label = "Reward model agrees with raters"
    if results is None or not results.pairs.sum():
        return Headline(label, None, "No reward model has been evaluated.")
    found = reward_model_figures(results)
    pairs = found.pair_accuracy
    verdict = (
        "better than chance" if pairs.low > 0.5 else "worse than chance" if pairs.high < 0.5 else "no clear signal"
    )
    truth = (
        "" if math.isnan(found.auc) else f" Its return tells solved episodes from failed ones with AUC {found.auc:.2f}."
    )
    return Headline(
        label,
        percent(pairs.value),
        f"Of {int(results.pairs.sum())} held-out pairs of moments, {percent(pairs.value)} are ordered as the rater "
        f"marked them: {verdict} (95% interval {span(pairs, share=True)}).{truth}",
    )


def _answers(rewards: Mapping[str, Estimate], margins: Mapping[str, Estimate]) -> Headline:
    label = "Reward of an answer"
    if not margins:
        return Headline(label, None, "No answers have been scored.")
    best = next(iter(rewards))
    if all(margin.low > 0 for margin in margins.values()):
        verdict = f"It is the {best} one that earns most."
    elif any(margin.high < 0 for margin in margins.values()):
        verdict = f"The order is not as expected: {best} does not come first."
    else:
        verdict = "The intervals hold 0: no clear order."
    listed = ", ".join(f"{kind} {estimate.value:+.2f}" for kind, estimate in rewards.items())
    apart = " and ".join(
        f"{margin.value:+.2f} above {kind} (95% interval {margin.low:+.2f} to {margin.high:+.2f})"
        for kind, margin in margins.items()
    )
    return Headline(
        label,
        " / ".join(f"{estimate.value:+.2f}" for estimate in rewards.values()),
        f"Mean reward after each kind of answer: {listed}; on the same questions {best} lies {apart}. {verdict}",
    )
