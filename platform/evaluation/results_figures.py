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
        drawn = _bars(seeds, shares)
        if drawn:
            dashes = " Dashes: chance." if guessing else ""
            found[name] = figures.grouped_bars(drawn, guessing, title, _spread(seeds, drawn) + dashes, legend=True)
    apart = _minus_bc_rl(seeds)
    if apart:
        found["differences"] = figures.differences(
            apart,
            "Each agent against BC+RL",
            "success minus that of BC+RL, mean over the kinds of probes",
            f"{_spread(seeds, {'': apart})}{' Agents count as independent.' if len(seeds) == 1 else ''} Green and red: "
            "the interval excludes 0, as one of 20 does by chance.",
        )
    heard = _bars(seeds, lambda seed: seed.listening, lowest=-1.0)
    if heard:
        title = "Listening: success under own words minus under other words"
        found["listening"] = figures.grouped_bars(
            heard, {}, title, _spread(seeds, heard), lowest=-0.5, legend=True, axis="difference of success"
        )
    return found


def _spread(seeds: Sequence[SeedResults], drawn: Shown) -> str:
    """The part of a caption that states the probes, and what the intervals are over."""
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
    seeds: Sequence[SeedResults], chosen: Callable[[SeedResults], Shares], lowest: float = 0.0
) -> dict[str, dict[str, Estimate]]:
    """Estimates by kind of probe and agent. A share of a single seed has Wilson's interval over its probes.

    lowest: the lowest possible value; -1 of differences of shares, which have no interval over probes.
    """
    bars: dict[str, dict[str, Estimate]] = {}
    for kind in dict.fromkeys(kind for seed in seeds for kind in seed.probes):
        probes = seeds[0].probes[kind]
        for agent in AGENTS:
            shares = [chosen(seed).get(agent, {}) for seed in seeds]
            values = [share[kind] for share in shares if kind in share]
            if len(seeds) == 1 and values and not lowest:
                bars.setdefault(kind, {})[agent] = wilson(round(values[0] * probes), probes)
            elif values:
                bars.setdefault(kind, {})[agent] = student_mean(values, within=(lowest, 1.0))
    return bars


def _minus_bc_rl(seeds: Sequence[SeedResults]) -> dict[str, Estimate]:
    """The mean success of each agent over kinds, minus that of BC+RL in the same seed."""
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
            found[agent] = student_mean(values)
    return found


def _variance(seed: SeedResults, agent: str) -> float:
    """The variance of an agent's mean success over kinds, from the probes of one seed; agents count as independent.

    One success and one failure are added (Agresti and Caffo 2000), because a share of 0 or 1 has an error, too.
    """
    shares = {kind: (seed.success[agent][kind] * count + 1) / (count + 2) for kind, count in seed.probes.items()}
    terms = [share * (1 - share) / (seed.probes[kind] + 2) for kind, share in shares.items()]
    return sum(terms) / len(terms) ** 2


def _by_kind(rows: Sequence[Mapping[str, float]]) -> dict[str, Estimate]:
    kinds = dict.fromkeys(kind for row in rows for kind in row)
    return {kind: student_mean([row[kind] for row in rows if kind in row]) for kind in kinds}
