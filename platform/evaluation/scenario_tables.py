"""Tables and figures of the report about continuations of scenarios."""

from __future__ import annotations

from typing import Any

from interplay.evaluation import figures
from interplay.evaluation.headlines import span, with_interval
from interplay.evaluation.report_data import ScenarioResults
from interplay.evaluation.scenario_findings import (
    scenario_curves,
    scenario_differences,
    shares_by_kind,
    shares_by_scenario,
)


def render_scenarios(results: ScenarioResults) -> dict[str, Any]:
    """What the template shows: success by kind, candidate against baseline, curves, success by scenario."""
    agents = list(results.success_step)
    return {
        "legend": list(zip(agents, figures.COLORS, strict=False)),
        "kind_head": ("task", *agents, "scenarios"),
        "kind_rows": [
            (_title(group), *(with_interval(by_agent[agent]) for agent in agents), str(len(results.groups[group])))
            for group, by_agent in shares_by_kind(results).items()
        ],
        "candidate": results.candidate,
        "baseline": results.baseline,
        "difference_rows": [
            (_title(group), f"{100 * each.value:+.0f} points", span(each, points=True), str(each.n))
            for group, each in scenario_differences(results).items()
        ],
        "curves": [
            figures.success_curves(
                scenario_curves(results, group),
                _title(group),
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


def _title(group: str) -> str:
    return group.replace("_", " ").capitalize()
