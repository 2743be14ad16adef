"""The headline numbers of a report and their sentences; every sentence follows from an interval, none is fixed."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from interplay.core.counted import counted
from interplay.env.task import RETURN
from interplay.evaluation.estimates import Estimate
from interplay.evaluation.findings import (
    Comparison,
    answer_margins,
    answer_rewards,
    at_half_time,
    heldout_change,
    joint_comparison,
    reward_model_figures,
)
from interplay.evaluation.listening import joint_listening
from interplay.evaluation.report_data import (
    LEARNED,
    Measures,
    ProbeResults,
    ReportData,
    RewardModelResults,
    RewardPoint,
    title_of,
)


@dataclass(frozen=True)
class Headline:
    """A label, its number as text, and a sentence that explains it; `number` is None if the stage has not run."""

    label: str
    number: str | None
    sentence: str


def headlines(data: ReportData) -> tuple[Headline, ...]:
    """The headlines at the top of a report."""
    return (
        _success(data.probes),
        *_sooner(data.probes),
        _listening(data.probes),
        _heldout_return(data.reward_points, data.reward_source),
        *(
            (_reward_model(data.reward_model), _answers(data.answer_rewards))
            if data.reward_source == LEARNED or data.reward_model is not None
            else ()
        ),
        *_episodic_return(data),
    )


def percent(share: float) -> str:
    """Formats a share: 0.384 -> "38%"; a dash for nan."""
    return "–" if math.isnan(share) else f"{100 * share:.0f}%"


def span(estimate: Estimate, *, points: bool = False, share: bool = False, signed: bool = False) -> str:
    """Formats an interval: "1.52 to 2.31"; points: "+3 to +11"; share: "31% to 44%"; signed: "+0.15 to +0.23"; a dash
    for nan."""
    if math.isnan(estimate.low) or math.isnan(estimate.high):
        return "–"
    shown = "{:+z.0f}" if points else "{:.0f}%" if share else "{:+z.2f}" if signed else "{:z.2f}"
    scale = 100 if points or share else 1
    low, high = (
        ("∞" if end > 0 else "-∞") if math.isinf(end) else shown.format(scale * end)
        for end in (estimate.low, estimate.high)
    )
    return f"{low} to {high}"


def with_interval(share: Estimate) -> str:
    """Formats a share and its interval: "47% (40–54)"; the share alone without an interval, a dash for nan."""
    if math.isnan(share.value) or math.isnan(share.low):
        return percent(share.value)
    return f"{percent(share.value)} ({100 * share.low:.0f}–{100 * share.high:.0f})"


def points(difference: Estimate) -> str:
    """Formats a difference of shares: "+3 points"."""
    return f"{100 * difference.value:+z.0f} points"


def points_with_interval(difference: Estimate) -> str:
    """A difference of shares and its interval in words."""
    return f"difference {points(difference)}, 95% interval {span(difference, points=True)}"


def decimals(value: float) -> str:
    """Formats a number with two decimals; a dash for nan."""
    return "–" if math.isnan(value) else f"{value:z.2f}"


def decimals_with_interval(estimate: Estimate) -> str:
    """Formats a number and its interval with two decimals: "0.96 (0.93 to 0.98)"; the number alone without an interval,
    a dash for nan."""
    interval = "" if math.isnan(estimate.low) else f" ({span(estimate)})"
    return decimals(estimate.value) + interval


def measured_mean(found: Mapping[str, float]) -> Estimate:
    """The mean of a measure at the end of the probes, from an entry of `MeasureMeans`."""
    return Estimate(found["end"], found.get("low", math.nan), found.get("high", math.nan), int(found["n"]))


def times(ratio: float) -> str:
    """Formats a ratio: "2.00×"; "∞", or a dash for nan."""
    return "∞" if math.isinf(ratio) else "–" if math.isnan(ratio) else f"{ratio:.2f}×"


def _success(probes: ProbeResults | None) -> Headline:
    label = "Success on probe tasks"
    found = joint_comparison(probes) if probes is not None else None
    if probes is None or found is None:
        return Headline(label, None, "The two agents have not both been measured on probe tasks.")
    names = " and ".join(probes.name(task) for task in found.tasks)
    candidate, baseline = probes.name(probes.candidate), probes.name(probes.baseline)
    facts = (
        f"{candidate} solves {percent(found.candidate.value)} of {counted(found.candidate.n, f'{names} episode')}, "
        f"{baseline} {percent(found.baseline.value)} of the same"
    )
    often, interval = f", {times(found.ratio.value)} as often", f"95% interval of the ratio {span(found.ratio)}"
    if not math.isfinite(found.ratio.value) or math.isnan(found.ratio.low):  # as where the baseline solved none
        often, interval = "", points_with_interval(found.difference)
    verdicts = {0: _unclear(found), 1: f"{candidate} is better{often}", -1: f"{candidate} is worse{often}"}
    return Headline(
        label,
        f"{percent(found.baseline.value)} → {percent(found.candidate.value)}",
        f"{facts}: {verdicts[found.verdict]} ({interval}).",
    )


def _unclear(found: Comparison) -> str:
    """States that there is no clear difference, and why if the printed interval seems to show one."""
    if not found.too_few:
        return "no clear difference"
    return f"no clear difference, as too few episodes differ for the sign test (p = {found.p_value:.2g})"


def _sooner(probes: ProbeResults | None) -> tuple[Headline, ...]:
    """Success within half of the time limit; none if no task that both agents played can be done by then."""
    label = "Success in half the time"
    if probes is not None and probes.compared and probes.late.issuperset(probes.compared):
        return ()
    found = joint_comparison(at_half_time(probes)) if probes is not None else None
    if probes is None or found is None:
        return (Headline(label, None, "No success times of both agents."),)
    early, others = percent(found.candidate.value), percent(found.baseline.value)
    candidate, baseline = probes.name(probes.candidate), probes.name(probes.baseline)
    verdict = {0: _unclear(found), 1: f"{candidate} is sooner", -1: f"{candidate} is later"}[found.verdict]
    halves = sorted({probes.limit(task) // 2 for task in found.tasks})
    seconds = " or ".join(f"{steps * probes.seconds_per_step:.1f}" for steps in halves)
    sentence = (
        f"Within {seconds} s, half of the time limit, {candidate} has solved {early} and {baseline} {others}: "
        f"{verdict} ({points_with_interval(found.difference)})."
    )
    return (Headline(label, f"{others} → {early}", sentence),)


def _listening(probes: ProbeResults | None) -> Headline:
    label = "Success depends on the words"
    agents = (probes.candidate, probes.baseline) if probes is not None else ()
    played = [(agent, found) for agent in agents if probes and (found := joint_listening(probes, agent)) is not None]
    if probes is None or not played:
        return Headline(label, None, "No agent has been measured under other words.")
    agent, found = played[0]
    listens = "it listens" if found.listens else "no sign that it listens"
    return Headline(
        label,
        f"{percent(found.other.value)} → {percent(found.own.value)}",
        f"Under the words of another task {probes.name(agent)} solves {percent(found.other.value)} of "
        f"{counted(found.own.n, 'probe')}, under their own words {percent(found.own.value)}: {listens} "
        f"({points_with_interval(found.difference)}).",
    )


def _heldout_return(points: Sequence[RewardPoint], source: str) -> Headline:
    label = "Modeled return, held-out" if source == LEARNED else "Return, held-out"
    change = heldout_change(points)
    if change is None:
        return Headline(label, None, "Reinforcement has not recorded the return of held-out episodes.")
    verdict = {0: "did not clearly change", 1: "rose", -1: "fell"}[change.verdict]
    first, last = change.updates
    return Headline(
        label,
        f"{decimals(change.start)} → {decimals(change.end)}",
        f"Between updates {first} and {last} the return that {source} gives to held-out episodes {verdict} "
        f"(change {change.change.value:+z.2f}, 95% interval {span(change.change, signed=True)}).",
    )


def _episodic_return(data: ReportData) -> tuple[Headline, ...]:
    """The return that the world gives in a probe, if exactly one kind of task measures it."""
    found = {agent: by_kind for agent, measures in data.measures.items() if (by_kind := _returns(measures))}
    kinds = {kind for by_kind in found.values() for kind in by_kind}
    if len(kinds) != 1:
        return ()
    (kind,) = kinds
    chance = data.probes.chance.get(kind) if data.probes is not None else None
    random = chance.measures.get("random", {}).get(RETURN) if chance is not None else None
    played = {agent: by_kind[kind] for agent, by_kind in found.items()} | ({"at random": random} if random else {})
    means = {agent: measured_mean(each) for agent, each in played.items()}
    listed = ", ".join(f"{agent} {decimals_with_interval(each)}" for agent, each in means.items())
    played_by_each = counted(next(iter(means.values())).n, f"{title_of(kind)} episode")
    compared = (data.probes.baseline, data.probes.candidate) if data.probes is not None else ()
    return (
        Headline(
            "Return of an episode",
            " → ".join(decimals(each.value) for agent, each in means.items() if agent in compared) or None,
            f"Sum of the world's rewards, mean of {played_by_each} and 95% interval: {listed}.",
        ),
    )


def _returns(measures: Measures) -> dict[str, Mapping[str, float]]:
    return {kind: by_name[RETURN] for kind, by_name in measures.items() if RETURN in by_name}


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
        ""
        if math.isnan(found.auc.value)
        else f" Its return tells solved episodes from failed ones with AUC {decimals(found.auc.value)} (95% interval "
        f"{span(found.auc)})."
    )
    return Headline(
        label,
        percent(pairs.value),
        f"Of {int(results.pairs.sum()):,} held-out pairs of moments, {percent(pairs.value)} are ordered as the rater "
        f"marked them: {verdict} (95% interval {span(pairs, share=True)}).{truth}",
    )


def _answers(by_kind: Mapping[str, Sequence[float]]) -> Headline:
    label, rewards, margins = "Reward of an answer", answer_rewards(by_kind), answer_margins(by_kind)
    if not margins:
        return Headline(label, None, "No answers have been scored.")
    best = next(iter(rewards))
    if all(margin.low > 0 for margin in margins.values()):
        verdict = f"The {best} one earns most."
    elif any(margin.high < 0 for margin in margins.values()):
        verdict = f"The order is not as expected: {best} does not come first."
    else:
        verdict = "There is no clear order."
    listed = ", ".join(f"{kind} {estimate.value:+z.2f}" for kind, estimate in rewards.items())
    margins_text = " and ".join(
        f"{margin.value:+z.2f} above {kind} (95% interval {span(margin, signed=True)})"
        for kind, margin in margins.items()
    )
    return Headline(
        label,
        " / ".join(f"{estimate.value:+z.2f}" for estimate in rewards.values()),
        f"Mean reward after each kind of answer: {listed}; on the same questions {best} lies {margins_text}. {verdict}",
    )
