"""The orderings that the paper reports, each compared with this run: confirmed, opposite, unclear or not run.

Only orderings are compared, not absolute numbers: the paper's house, its raters and its model sizes differ.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from interplay.evaluation import findings
from interplay.evaluation.findings import Comparison
from interplay.evaluation.headlines import percent, span, times
from interplay.evaluation.report_data import LEARNED, ProbeResults, ReportData

ANSWERS = 3  # a correct, a plausible wrong and an incoherent one


@dataclass(frozen=True)
class Ordering:
    """A claim of the paper, this run's numbers, and +1 (same), -1 (opposite), 0 (unclear) or None (not run)."""

    claim: str
    verdict: int | None
    seen: str


def orderings(data: ReportData) -> tuple[Ordering, ...]:
    """The paper's orderings that one run can confirm."""
    probes = data.probes
    return (
        _reward_rises(data),
        _comparison("Reinforcement beats cloning", findings.joint_comparison, probes),
        _every_task(probes),
        _sooner(probes),
        _answers(data.answer_rewards),
        _swap(data),
    )


def _reward_rises(data: ReportData) -> Ordering:
    claim = "The modeled return rises on held-out episodes"
    if data.reward_source != LEARNED:
        return Ordering(claim, None, f"the return is given by {data.reward_source}, not by a model")
    change = findings.heldout_change(data.reward_points)
    if change is None:
        return Ordering(claim, None, "")
    return Ordering(claim, change.verdict, f"{change.start:z.2f} → {change.end:z.2f}")


def _comparison(
    claim: str, compare: Callable[[ProbeResults], Comparison | None], probes: ProbeResults | None
) -> Ordering:
    found = compare(probes) if probes is not None else None
    if found is None:
        return Ordering(claim, None, "")
    assert probes is not None
    claim = f"{claim} on {' and '.join(probes.name(task) for task in found.tasks)}"
    shares = f"{percent(found.baseline.value)} → {percent(found.candidate.value)}"
    return Ordering(claim, found.verdict, f"{shares}, {times(found.ratio.value)}, p = {found.p_value:.2g}")


def _every_task(probes: ProbeResults | None) -> Ordering:
    claim = "Reinforcement beats cloning on every probe task"
    pairs = [(task, findings.compare(probes, (task,))) for task in probes.compared] if probes is not None else []
    comparisons = {task: found for task, found in pairs if found is not None}
    verdicts = {task: _one_of_several(found, len(comparisons)) for task, found in comparisons.items()}
    if probes is None or not verdicts:
        return Ordering(claim, None, "")
    named = {
        word: ", ".join(probes.name(task) for task, verdict in verdicts.items() if verdict == sign)
        for sign, word in ((1, "better"), (0, "not clear"), (-1, "worse"))
    }
    seen = "; ".join(f"{word}: {tasks}" for word, tasks in named.items() if tasks)
    return Ordering(claim, min(verdicts.values()), seen)


def _sooner(probes: ProbeResults | None) -> Ordering:
    claim = "Reinforcement also succeeds more often within half of the time limit"
    if probes is not None and probes.compared and probes.late.issuperset(probes.compared):
        return Ordering(claim, None, "no agent has reached the return that counts as success by then")
    return _comparison(claim, lambda results: findings.joint_comparison(findings.at_half_time(results)), probes)


def _one_of_several(found: Comparison, tasks: int) -> int:
    """The verdict of a task; a loss has Bonferroni's correction, because one of several may be below 0 by chance."""
    return 0 if found.verdict < 0 and found.p_value * tasks >= 0.05 else found.verdict


def _answers(rewards: Mapping[str, Sequence[float]]) -> Ordering:
    claim = "A right answer earns reward, a plausible wrong one less, an incoherent one least"
    means, steps = findings.answer_rewards(rewards), findings.answer_steps(rewards)
    if not steps:
        return Ordering(claim, None, "")
    right = next(iter(means.values()))
    opposite = any(step.high < 0 for step in steps)
    whole = len(means) == ANSWERS  # not in worlds without an answer that would be incoherent
    verdict = -1 if opposite else int(whole and right.low > 0 and all(step.low > 0 for step in steps))
    return Ordering(claim, verdict, ", ".join(f"{kind} {estimate.value:+z.2f}" for kind, estimate in means.items()))


def _swap(data: ReportData) -> Ordering:
    claim = "A swapped instruction lowers an episode's return"
    loss = findings.reward_model_figures(data.reward_model).swap_loss if data.reward_model is not None else None
    if loss is None:
        return Ordering(claim, None, "")
    verdict = 0 if not loss.excludes_zero else 1 if loss.value > 0 else -1
    return Ordering(claim, verdict, f"loses {loss.value:z.2f} ({span(loss)})")
