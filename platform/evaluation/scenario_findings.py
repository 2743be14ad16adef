"""Findings about continuations of scenarios: success by scenario, by kind, and against time.

The continuations of one scenario are alike, so every interval over several scenarios is over whole scenarios.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from interplay.env.arrays import Float64Array
from interplay.evaluation.continuation_player import ContinuationResult
from interplay.evaluation.estimates import (
    RESAMPLES,
    Estimate,
    SuccessCurve,
    bootstrap_tail,
    repeated_share,
    student_difference,
    success_share,
    wilson_bounds,
)
from interplay.evaluation.report_data import ScenarioResults

logger = logging.getLogger(__name__)

SCENARIO_BOOTSTRAP_SEED = 20221124  # fixed, so that reports of the same results have the same numbers


def on_same_scenarios(by_agent: Mapping[str, Sequence[ContinuationResult]]) -> dict[str, Sequence[ContinuationResult]]:
    """The results of the first agent that has any, and of those that continued the same scenarios with the same time
    limit and holding time; others are named in a warning.

    Results of older versions do not state the digest of their scenario; their instruction is compared.
    """
    continued = {agent: results for agent, results in by_agent.items() if results}
    first = next(iter(continued), "")
    for agent in list(continued)[1:]:
        ours, theirs = continued[first], continued[agent]
        stated = all(each.scenario_digest for each in (*ours, *theirs))
        if _scenarios_of(ours, stated) != _scenarios_of(theirs, stated):
            logger.warning(
                "%s continued other scenarios than %s, or with other limits, so the report does not compare it",
                *(agent, first),
            )
            del continued[agent]
    return continued


def _scenarios_of(results: Iterable[ContinuationResult], digests: bool) -> set[tuple[str, str, str, int, int, str]]:
    return {
        (each.scenario, each.kind, each.instruction, each.limit, each.hold, each.scenario_digest if digests else "")
        for each in results
    }


def steps_by_scenario(results: Iterable[ContinuationResult]) -> dict[str, Float64Array]:
    """The step of success of each continuation by scenario, nan without success; [continuations] each."""
    steps: dict[str, list[float]] = {}
    for result in sorted(results, key=lambda each: each.continuation):
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
    tail = bootstrap_tail(len(reached))
    share, alike = by_scenario.mean(0), np.ptp(by_scenario, axis=0) == 0
    bounds = np.quantile(by_scenario[draws].mean(1), [tail, 1 - tail], axis=0)
    low, high = np.where(alike, wilson_bounds(share * len(reached), len(reached)), bounds)  # see `repeated_share`
    seconds = (moments * results.seconds_per_step).astype(np.float64)
    return SuccessCurve(seconds, share, low, high, len(reached))
