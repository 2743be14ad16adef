"""Findings about continuations of scenarios: success by scenario, by kind, and against time.

The continuations of one scenario are alike, so every interval over several scenarios is over whole scenarios.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

import numpy as np

from interplay.env.arrays import Float64Array
from interplay.evaluation.continuation_player import ContinuationResult
from interplay.evaluation.estimates import (
    CONFIDENCE,
    RESAMPLES,
    Estimate,
    SuccessCurve,
    repeated_share,
    student_difference,
    success_share,
    wilson_bounds,
)
from interplay.evaluation.report_data import ScenarioResults

SCENARIO_BOOTSTRAP_SEED = 20221124  # fixed, so that reports of the same results have the same numbers


def steps_by_scenario(results: Iterable[ContinuationResult], scenarios: Collection[str]) -> dict[str, Float64Array]:
    """The step of success of each continuation of these scenarios, nan without success; [continuations] each."""
    steps: dict[str, list[float]] = {}
    for result in sorted(results, key=lambda each: each.continuation):
        if result.scenario in scenarios:
            reached = np.nan if result.success_step is None else float(result.success_step)
            steps.setdefault(result.scenario, []).append(reached)
    return {scenario: np.array(reached) for scenario, reached in steps.items()}


def shares_by_scenario(results: ScenarioResults) -> dict[str, dict[str, Estimate]]:
    """The share of successful continuations by scenario, then by agent, with Wilson's interval."""
    return {
        scenario: {agent: success_share(np.isfinite(steps[scenario])) for agent, steps in results.success_step.items()}
        for scenario in results.kinds
    }


def shares_by_kind(results: ScenarioResults) -> dict[str, dict[str, Estimate]]:
    """The mean share over the scenarios of each kind, and of all, by agent; n counts the scenarios."""
    found: dict[str, dict[str, Estimate]] = {}
    for group in results.groups:
        rows = {agent: np.isfinite(results.rows(agent, group)) for agent in results.success_step}
        found[group] = {
            agent: repeated_share(done.sum(1), done.shape[1], np.random.default_rng(SCENARIO_BOOTSTRAP_SEED))
            for agent, done in rows.items()
        }
    return found


def scenario_differences(results: ScenarioResults) -> dict[str, Estimate]:
    """Candidate minus baseline by kind, with Student's interval over scenarios; empty unless both continued."""
    if not {results.candidate, results.baseline} <= set(results.success_step):
        return {}
    found = {}
    for group in results.groups:
        ours, theirs = (
            np.isfinite(results.rows(agent, group)).mean(1) for agent in (results.candidate, results.baseline)
        )
        found[group] = student_difference(ours, theirs)
    return found


def scenario_curves(results: ScenarioResults, group: str) -> dict[str, SuccessCurve]:
    """Success against time by agent: the mean over scenarios, with a bootstrap band over scenarios."""
    return {agent: _curve(results, results.rows(agent, group)) for agent in results.success_step}


def _curve(results: ScenarioResults, reached: Float64Array) -> SuccessCurve:
    moments = np.arange(results.steps + 1)
    by_scenario = (reached[:, :, None] <= moments).mean(1)  # [scenarios, steps + 1]
    draws = np.random.default_rng(SCENARIO_BOOTSTRAP_SEED).integers(0, len(reached), (RESAMPLES // 4, len(reached)))
    tail = (1 - CONFIDENCE) / 2
    share, alike = by_scenario.mean(0), np.ptp(by_scenario, axis=0) == 0
    bounds = np.quantile(by_scenario[draws].mean(1), [tail, 1 - tail], axis=0)
    low, high = np.where(alike, wilson_bounds(share * len(reached), len(reached)), bounds)  # see `repeated_share`
    seconds = (moments * results.seconds_per_step).astype(np.float64)
    return SuccessCurve(seconds, share, low, high, len(reached))
