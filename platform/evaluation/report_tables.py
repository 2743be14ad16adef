"""Tables of the report, as rows of text, and the figures that belong to them."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from interplay.evaluation import figures
from interplay.evaluation.continuation_judgements import JudgedContinuations
from interplay.evaluation.estimates import Estimate
from interplay.evaluation.findings import Comparison, compare, reward_model_figures, steps_between_rounds
from interplay.evaluation.headlines import (
    decimals,
    decimals_with_interval,
    measured_mean,
    percent,
    points,
    span,
    with_interval,
)
from interplay.evaluation.listening import answer_shares, listening
from interplay.evaluation.live_judgements import LiveResults, by_setter
from interplay.evaluation.report_data import (
    ChanceLevel,
    FreePlayShares,
    Measures,
    ProbeResults,
    RoundRecord,
    ScenarioResults,
    title_of,
)
from interplay.evaluation.scenario_findings import (
    scenario_curves,
    scenario_differences,
    shares_by_kind,
    shares_by_scenario,
)

DASH = "–"
FREE_PLAY_COLUMNS: Mapping[str, Callable[[Any], str]] = {  # of `FreePlayShares`, in order, and how each is printed
    "requests": "{:,}".format,
    "silent_episodes": "{:,}".format,
    "parsed": with_interval,
    "understood": with_interval,
    "judged": "{:,}".format,
    "success": with_interval,
    "steps_to_success": decimals_with_interval,
    "spoken": decimals_with_interval,
}


class Table(NamedTuple):
    """The names of the columns, and the rows."""

    head: tuple[str, ...]
    rows: list[tuple[str, ...]]


def legend(agents: Iterable[str]) -> list[tuple[str, str]]:
    """Agents with their colors in figures."""
    return list(zip(agents, itertools.cycle(figures.COLORS), strict=False))


def difference_cells(difference: Estimate) -> tuple[str, str, str]:
    """A difference of shares, its interval, and the number of pairs behind it."""
    return points(difference), span(difference, points=True), str(difference.n)


def listening_rows(probes: ProbeResults) -> list[tuple[str, ...]]:
    """One row per task and agent: success under own and other words, their difference with its interval, pairs."""
    return [
        (
            probes.name(task),
            probes.name(agent),
            percent(found.own.value),
            percent(found.other.value),
            *difference_cells(found.difference),
        )
        for task, by_agent in listening(probes).items()
        for agent, found in by_agent.items()
    ]


def answer_rows(probes: ProbeResults) -> list[tuple[str, ...]]:
    """One row per kind of question and agent: shares right, wrong and silent, and right by the answer that is right."""
    return [
        (
            probes.name(task),
            probes.name(agent),
            *map(with_interval, (shares.right, shares.wrong, shares.silent)),
            ", ".join(f"{answer} {percent(share.value)} of {share.n}" for answer, share in shares.by_answer.items()),
        )
        for task, by_agent in answer_shares(probes).items()
        for agent, shares in by_agent.items()
    ]


def measure_table(measures: Mapping[str, Measures], chance: Mapping[str, ChanceLevel]) -> Table:
    """What tasks measure apart from success, as the return or the F1 of the blocks built: one row per kind of task and
    measure, with a cell per agent, two for the players without understanding, and the number of probes.

    Args:
        measures: by printed agent.
        chance: by kind of task; of kinds without `ChanceLevel.measures`, the two cells are dashes.
    """
    rows = []
    for kind in dict.fromkeys(kind for by_kind in measures.values() for kind in by_kind):
        played = [by_kind.get(kind, {}) for by_kind in measures.values()]
        guessed = chance[kind].measures if kind in chance else {}
        for name in dict.fromkeys(name for by_name in played for name in by_name):
            found = [by_name.get(name) for by_name in played]
            cells = ["not run" if each is None else _measured(each) for each in found]
            cells += [_measured(guessed[who][name]) if who in guessed else DASH for who in ("resting", "random")]
            n = next(str(int(each["n"])) for each in found if each is not None)
            rows.append((title_of(kind), name, *cells, n))
    return Table(("task", "measure", *measures, "at rest", "at random", "n"), rows)


def _measured(found: Mapping[str, float]) -> str:
    """A mean at the end with its interval, and the mean at the best step if it differs: "0.25 (0.10 to 0.40), best
    0.50"."""
    end, best = decimals(found["end"]), decimals(found["best"])
    return decimals_with_interval(measured_mean(found)) + (f", best {best}" if best != end else "")


def free_play_rows(by_agent: Mapping[str, FreePlayShares]) -> list[tuple[str, ...]]:
    """A row per agent that has played with a learned setter."""
    return [
        (agent, *(form(shares[name]) for name, form in FREE_PLAY_COLUMNS.items())) for agent, shares in by_agent.items()
    ]


def request_kind_table(kinds: Mapping[str, Mapping[str, Estimate]]) -> Table:
    """A row per kind of request; `kinds` has the shares of the kinds by column: agents, and the recorded requests.
    Kinds that a column lacks were asked for by none of its requests."""
    named = dict.fromkeys(kind for shares in kinds.values() for kind in shares)
    rows = [
        (title_of(kind), *(with_interval(shares[kind]) if kind in shares else "0%" for shares in kinds.values()))
        for kind in named
    ]
    return Table(("task", *kinds), rows)


def round_table(records: Sequence[RoundRecord], probes: ProbeResults | None) -> Table:
    """The rounds side by side: a column for each agent, in the order of the rounds, and a row for each property.

    The columns of an agent before the first round have no values about reward models.

    Args:
        records: the rounds, the first one first.
        probes: the agents of the rounds under `RoundRecord.name`, and any before the first round; None if they have
            not played the same probes.
    """
    named = {record.name: record for record in records}
    agents = [*([name for name in probes.success_step if name not in named] if probes else []), *named]
    columns = [_round_cells(named.get(agent)) for agent in agents]
    rows = [(name, *(column.get(name, DASH) for column in columns)) for name in _round_cells(records[0])]
    if probes is not None:
        steps = steps_between_rounds(probes)
        rows += [
            ("success, all probes", *(_success(probes, agent) for agent in agents)),
            ("against the agent before it", *(_step(steps.get(agent)) for agent in agents)),
        ]
    return Table(("", *agents), rows)


def _round_cells(record: RoundRecord | None) -> dict[str, str]:
    """The properties of a round by their names; none for an agent before the first round."""
    if record is None:
        return {}
    model = None if record.reward_model is None else reward_model_figures(record.reward_model)
    return {
        "improves": record.improves or DASH,
        "updates of reinforcement": f"{record.updates:,}",
        "episodes of the reward model": ", ".join(f"{n:,} {kind}" for kind, n in record.episodes.items()) or DASH,
        "data mix": ", ".join(f"{kind} {percent(share)}" for kind, share in record.mix.items()) or "all alike",
        "marks": f"{record.marks:,}",
        "pairs ordered as the rater marked them": DASH if model is None else with_interval(model.pair_accuracy),
        "AUC of return against true success": DASH if model is None else decimals_with_interval(model.auc),
    }


def _success(probes: ProbeResults, agent: str) -> str:
    alone = compare(replace(probes, baseline=agent, candidate=agent), probes.tasks)
    return DASH if alone is None else with_interval(alone.candidate)


def _step(found: Comparison | None) -> str:
    if found is None:
        return DASH
    return f"{points(found.difference)} ({span(found.difference, points=True)}), p = {found.p_value:.2g}"


def render_scenarios(results: ScenarioResults) -> dict[str, Any]:
    """What the template shows about scenarios: success by kind, candidate against baseline, curves, success by
    scenario."""
    agents = list(results.success_step)
    return {
        "legend": legend(agents),
        "kind_head": ("task", *agents, "scenarios"),
        "kind_rows": [
            (title_of(group), *(with_interval(by_agent[agent]) for agent in agents), str(len(results.groups[group])))
            for group, by_agent in shares_by_kind(results).items()
        ],
        "candidate": results.candidate,
        "baseline": results.baseline,
        "difference_rows": [
            (title_of(group), *difference_cells(each)) for group, each in scenario_differences(results).items()
        ],
        "curves": [
            figures.success_curves(
                scenario_curves(results, group),
                title_of(group),
                f"{len(names)} scenarios; bands: bootstrapped 95% interval over scenarios.",
            )
            for group, names in results.groups.items()
        ],
        "scenario_head": ("scenario", "instruction", *agents),
        "scenario_rows": [
            (name, results.instructions[name], *(with_interval(by_agent[agent]) for agent in agents))
            for name, by_agent in shares_by_scenario(results).items()
        ],
    }


def render_judged(results: JudgedContinuations) -> dict[str, Any]:
    """What the template shows about continuations that people judged: a row for each agent, one for each pair of
    agents, and how far people agree with each other and with the tests of the tasks."""
    judges, tests = results.agreement_of_judges(), results.agreement_with_tests()
    return {
        "legend": legend(results.verdicts),
        "rows": [
            (agent, with_interval(results.share(agent)), *map(str, results.counts(agent))) for agent in results.verdicts
        ],
        "difference_rows": _difference_rows(results.verdicts, results.difference),
        "judges": results.judges,
        "of_judges": with_interval(judges) if judges is not None else None,
        "with_tests": with_interval(tests) if tests is not None else None,
        "outdated": results.outdated,
    }


def render_live(results: LiveResults) -> dict[str, Any]:
    """What the template shows about live evaluations: a row for each agent, one for each pair of agents, and success
    against time."""
    return {
        "legend": legend(results.requests),
        "rows": [_live_row(results, agent) for agent in results.requests],
        "difference_rows": _difference_rows(results.requests, results.difference),
        "curve": figures.success_curves(
            results.curves(),
            "Requests done",
            "Seconds from the request to the verdict; bands: Wilson's 95% intervals over requests, as if independent.",
        ),
    }


def _difference_rows(agents: Iterable[str], difference: Callable[[str, str], Estimate | None]) -> list[tuple[str, ...]]:
    """A row for each pair of agents that can be compared."""
    pairs = [(f"{one} − {other}", difference(one, other)) for one, other in itertools.combinations(agents, 2)]
    return [(name, *difference_cells(found)) for name, found in pairs if found is not None]


def _live_row(results: LiveResults, agent: str) -> tuple[str, ...]:
    rows = results.requests[agent]
    times = [row.seconds for row in rows if row.done]
    median = f"{float(np.median(times)):.0f} s" if times else percent(math.nan)
    return agent, with_interval(results.share(agent)), str(len(rows)), str(len(by_setter(rows))), median
