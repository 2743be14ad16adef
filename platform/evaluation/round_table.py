"""Table of the report that shows the rounds of a run side by side: their agents, reward models and data."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from interplay.evaluation.findings import Comparison, compare, reward_model_figures
from interplay.evaluation.headlines import percent, span, with_interval
from interplay.evaluation.report_data import ProbeResults, RoundRecord

DASH = "–"


@dataclass(frozen=True)
class RoundTable:
    """A column for each agent, in the order of the rounds, and a row for each property."""

    head: tuple[str, ...]
    rows: list[tuple[str, ...]]


def steps_between_rounds(probes: ProbeResults) -> dict[str, Comparison]:
    """Each agent of `probes` but the first against the one before it, over the tasks that both played."""
    agents = list(probes.success_step)
    found = {
        later: compare(replace(probes, baseline=earlier, candidate=later), probes.tasks)
        for earlier, later in pairwise(agents)
    }
    return {agent: each for agent, each in found.items() if each is not None}


def round_table(records: Sequence[RoundRecord], probes: ProbeResults | None) -> RoundTable:
    """The rounds side by side; the columns of an agent before the first round say nothing about reward models.

    Args:
        records: the rounds, the first one first.
        probes: the agents of the rounds under `RoundRecord.name`, and any before the first round; None if they have
            not played the same probes.
    """
    named = {record.name: record for record in records}
    agents = [*([name for name in probes.success_step if name not in named] if probes else []), *named]
    shown = [named.get(agent) for agent in agents]
    steps = steps_between_rounds(probes) if probes is not None else {}
    rows = [
        ("improves", *(record.improves or DASH if record else DASH for record in shown)),
        ("updates of reinforcement", *(f"{record.updates:,}" if record else DASH for record in shown)),
        ("episodes of the reward model", *(_counts(record.episodes) if record else DASH for record in shown)),
        ("data mix", *(_mix(record) if record else DASH for record in shown)),
        ("marks", *(f"{record.marks:,}" if record else DASH for record in shown)),
        ("pairs ordered as the rater marked them", *(_model(record)[0] for record in shown)),
        ("AUC of return against true success", *(_model(record)[1] for record in shown)),
    ]
    if probes is not None:
        rows += [
            ("success, all probes", *(_success(probes, agent) for agent in agents)),
            ("against the agent before it", *(_step(steps.get(agent)) for agent in agents)),
        ]
    return RoundTable(("", *agents), rows)


def _counts(episodes: Mapping[str, int]) -> str:
    return ", ".join(f"{count:,} {kind}" for kind, count in episodes.items()) or DASH


def _mix(record: RoundRecord) -> str:
    return ", ".join(f"{kind} {percent(share)}" for kind, share in record.mix.items()) or "all alike"


def _model(record: RoundRecord | None) -> tuple[str, str]:
    """Pair accuracy and AUC as text."""
    if record is None or record.reward_model is None:
        return DASH, DASH
    found = reward_model_figures(record.reward_model)
    return with_interval(found.pair_accuracy), DASH if math.isnan(found.auc) else f"{found.auc:.2f}"


def _success(probes: ProbeResults, agent: str) -> str:
    alone = compare(replace(probes, baseline=agent, candidate=agent), probes.tasks)
    return DASH if alone is None else with_interval(alone.candidate)


def _step(found: Comparison | None) -> str:
    if found is None:
        return DASH
    return (
        f"{100 * found.difference.value:+.0f} points ({span(found.difference, points=True)}), p = {found.p_value:.2g}"
    )
