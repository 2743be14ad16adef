"""Figures of the results page over seeds, in the order in which the paper shows its own."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from interplay.evaluation import figures
from interplay.evaluation.estimates import Estimate, student_mean, wilson
from interplay.evaluation.seed_results import SeedResults

BC_RL = "bc_rl"
# Agents that are drawn as bars, in this order; the tables of the page have all of them.
AGENTS = ("bc", "bc_long", "bc_marks", "cloning_only", BC_RL, "true_progress")
Shares = Mapping[str, Mapping[str, float]]  # by agent and kind of probe
Shown = Mapping[str, Mapping[str, Estimate]]  # by group of bars, and by name of a bar


def results_figures(seeds: Sequence[SeedResults]) -> Mapping[str, figures.SvgFigure]:
    """Figures by the name of their file; one for which no seed has data is left out."""
    chance = {kind: level.value for kind, level in _by_kind([seed.chance for seed in seeds]).items()}
    found = {}
    if any(len(seed.heldout_returns) > 1 for seed in seeds):
        found["returns"] = figures.seed_curves(
            {f"seed {seed.seed}": seed.heldout_returns for seed in seeds},
            "Modeled return of held-out episodes",
            ("updates of reinforcement", "return of an episode"),
            "One line for each seed.",
        )
    rewards = _by_kind([seed.answers for seed in seeds])
    if rewards:
        found["answers"] = figures.reward_bars(rewards, "Reward of an answer", _over(seeds, {"": rewards}))
    for name, title, shares, guessing in (
        ("success", "Success on probes", lambda seed: seed.success, chance),
        ("early", "Success within half of the time limit", lambda seed: seed.early, {}),
    ):
        drawn = _bars(seeds, shares, wilson)
        if drawn:
            dashes = " Dashes: chance." if guessing else ""
            found[name] = figures.grouped_bars(drawn, guessing, title, _spread(seeds, drawn) + dashes, legend=True)
    apart = _minus_bc_rl(seeds)
    if apart:
        found["differences"] = figures.differences(
            apart,
            "Each agent against BC+RL",
            "success minus that of BC+RL, mean over the kinds of probes",
            f"{_spread(seeds, {'': apart})} Green and red: the interval excludes 0.",
        )
    heard = _bars(seeds, lambda seed: seed.listening, None)
    if heard:
        title = "Listening: success under own words minus under other words"
        found["listening"] = figures.grouped_bars(
            heard, {}, title, _spread(seeds, heard), lowest=-0.5, legend=True, axis="difference of success"
        )
    return found


def _spread(seeds: Sequence[SeedResults], drawn: Shown) -> str:
    """What bars of probes show, and over how much."""
    probes = ", ".join(f"{count} {kind}" for kind, count in seeds[0].probes.items())
    if len(seeds) == 1:
        return (
            f"Probes: {probes}. One seed: 95% intervals are over its probes (of shares: Wilson's; listening has none)."
        )
    return f"Probes of a seed: {probes}. {_over(seeds, drawn)}"


def _over(seeds: Sequence[SeedResults], drawn: Shown) -> str:
    """The number of seeds behind means, and the names that fewer seeds have."""
    if len(seeds) == 1:
        return "One seed, without intervals."
    fewer = {name: found.n for bars in drawn.values() for name, found in bars.items() if found.n < len(seeds)}
    names = "".join(f" {name}: {count} of them." for name, count in fewer.items())
    return f"Mean of {len(seeds)} seeds, with Student's 95% interval over seeds.{names}"


def _bars(
    seeds: Sequence[SeedResults], chosen: Callable[[SeedResults], Shares], within: Callable[[int, int], Estimate] | None
) -> dict[str, dict[str, Estimate]]:
    """Estimates by kind of probe and agent; `within` gives the interval of a single seed, from successes and probes."""
    bars: dict[str, dict[str, Estimate]] = {}
    for kind in dict.fromkeys(kind for seed in seeds for kind in seed.probes):
        probes = seeds[0].probes[kind]
        for agent in AGENTS:
            shares = [chosen(seed).get(agent, {}) for seed in seeds]
            values = [share[kind] for share in shares if kind in share]
            if len(seeds) == 1 and values and within is not None:
                bars.setdefault(kind, {})[agent] = within(round(values[0] * probes), probes)
            elif values:
                bars.setdefault(kind, {})[agent] = _mean(values)
    return bars


def _minus_bc_rl(seeds: Sequence[SeedResults]) -> dict[str, Estimate]:
    """By agent, its mean success over kinds minus that of BC+RL in the same seed."""
    found = {}
    for agent in dict.fromkeys(agent for seed in seeds for agent in seed.success if agent != BC_RL):
        both = [seed for seed in seeds if {agent, BC_RL} <= set(seed.success)]
        values = [
            float(np.mean([seed.success[agent][k] - seed.success[BC_RL][k] for k in seed.probes])) for seed in both
        ]
        if len(seeds) == 1 and both:
            error = 1.96 * math.sqrt(_variance(both[0], agent) + _variance(both[0], BC_RL))
            found[agent] = Estimate(values[0], values[0] - error, values[0] + error, 1)
        elif both:
            found[agent] = _mean(values)
    return found


def _variance(seed: SeedResults, agent: str) -> float:
    """Of an agent's mean success over kinds, from the number of probes of one seed; two agents count as independent."""
    terms = [seed.success[agent][kind] * (1 - seed.success[agent][kind]) / count for kind, count in seed.probes.items()]
    return sum(terms) / len(terms) ** 2


def _mean(values: Sequence[float]) -> Estimate:
    """The mean over seeds; without an interval for a single one."""
    return student_mean(values) if len(values) > 1 else Estimate(values[0], values[0], values[0], 1)


def _by_kind(rows: Sequence[Mapping[str, float]]) -> dict[str, Estimate]:
    kinds = dict.fromkeys(kind for row in rows for kind in row)
    return {kind: _mean([row[kind] for row in rows if kind in row]) for kind in kinds}
