"""The results of one seed of `interplay orderings`, read from the files of its run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from interplay.evaluation.metric_curves import read_curves
from interplay.evaluation.probes import ProbeResult, grouped_by_kind, late_returns
from interplay.evaluation.seed_results import SeedResults, probe_settings
from interplay.stages import evaluate_stage
from interplay.stages.baselines import FOLDER, baseline_config, baseline_of, trained_baselines
from interplay.stages.config import Config
from interplay.stages.probe_files import OTHER_WORDS, chance_of, read_results
from interplay.stages.returns_ledger import RETURNS, reward_points
from interplay.stages.reward_evaluation import CORRECT, INCOHERENT, PLAUSIBLE, answer_rewards, heldout_of
from interplay.stages.round_results import rounds_on_probes
from interplay.stages.run import Run, closes_worlds
from interplay.stages.stage_config import LEARNED_REWARDS


@closes_worlds
def seed_results(run: Run) -> SeedResults:
    """The results of an evaluated run."""
    folder = run.stage(evaluate_stage.STAGE)
    own = {name: read_results(folder, name) for name in evaluate_stage.stages_of(run)}
    late = late_returns(result for results in own.values() for result in results)
    other = {name: read_results(folder, name, OTHER_WORDS) for name in own}
    every = reward_points(run.stage("reinforce").path / RETURNS)
    modeled = run.config.reinforce.reward in LEARNED_REWARDS
    points = [point for point in every if modeled and len(point.heldout)]
    found = heldout_of(run)
    answers = answer_rewards(run, found) if found is not None else {}
    return SeedResults(
        seed=run.seed,
        success={name: _shares(results, early=False) for name, results in own.items()},
        early={
            name: _shares([each for each in results if each.kind not in late], early=True)
            for name, results in own.items()
        },
        listening={name: _listening(results, other[name]) for name, results in own.items()},
        probes={kind: len(rows) for kind, rows in grouped_by_kind(next(iter(own.values()))).items()},
        chance={kind: level.best_guess for kind, level in chance_of(folder, next(iter(own.values()))).items()},
        heldout_returns=[(point.update, float(point.heldout.mean())) for point in points],
        answers={kind: float(np.mean(answers[kind])) for kind in (CORRECT, PLAUSIBLE, INCOHERENT) if answers.get(kind)},
        budget=budget_of(run.config),
        reward_models=_reward_models(run),
        scripted_kinds=_scripted_kinds(run),
        rounds=_rounds(run),
        probe_settings=probe_settings(run.config.evaluate.seed, run.config.evaluate.greedy, next(iter(own.values()))),
    )


def _rounds(run: Run) -> Mapping[str, Mapping[str, float]]:
    found = rounds_on_probes(run, run.make_world().spec)
    agents = found.success_step if found is not None else {}
    return {
        agent: {kind: float(np.mean(np.isfinite(steps))) for kind, steps in kinds.items()}
        for agent, kinds in agents.items()
    }


def _reward_models(run: Run) -> Mapping[str, Mapping[str, float]]:
    """The last held-out measurements of the run's reward model, and of those of its baselines."""
    folders = {"bc_rl": run.stage("reward").path}
    for name in trained_baselines(run):
        if "reward" in baseline_of(run.config, name).stages:
            folders[name] = run.root / FOLDER / name / "reward"
    return {name: found for name, folder in folders.items() if (found := _last_measured(folder))}


def _scripted_kinds(run: Run) -> Mapping[str, Sequence[str]]:
    """The kinds of tasks that baselines with a scripted reward were reinforced on, where these are not all kinds."""
    settings = {name: baseline_config(run.config, name).reinforce for name in trained_baselines(run)}
    return {
        name: each.actor.kinds
        for name, each in settings.items()
        if each.actor.kinds and each.reward not in LEARNED_REWARDS
    }


def _last_measured(folder: Path) -> dict[str, float]:
    curves = read_curves(folder / "metrics.jsonl")
    return {name: float(curve.values[-1]) for name, curve in curves.items() if name.startswith("heldout_")}


def budget_of(config: Config) -> Mapping[str, int]:
    """The numbers of episodes and updates of a seed, by name."""
    return {
        "demonstrations": config.collect.episodes,
        "episodes of the clone to mark": config.collect_agent.episodes,
        "updates of cloning": config.clone.training.updates,
        "updates of the reward model": config.reward.training.updates,
        "updates of reinforcement": config.reinforce.training.updates * config.reinforce.updates_per_batch,
        "unrolls of reinforcement": config.reinforce.training.updates,
        "environment steps of reinforcement": config.reinforce.training.updates
        * config.reinforce.actor.lanes
        * config.reinforce.actor.steps,
    }


def _shares(results: Sequence[ProbeResult], *, early: bool) -> Mapping[str, float]:
    """Success by kind; with `early`, within half of the time limit."""
    return {
        kind: float(np.mean([row.solved_early if early else row.solved for row in rows]))
        for kind, rows in grouped_by_kind(results).items()
    }


def _listening(results: Sequence[ProbeResult], other: Sequence[ProbeResult]) -> Mapping[str, float]:
    """Success under own words minus success under other words, on the probes that were played under both."""
    under_own = {(r.kind, r.index): r.solved for r in results}
    return {
        kind: float(np.mean([under_own[r.kind, r.index] - float(r.solved) for r in rows]))
        for kind, rows in grouped_by_kind(other).items()
    }
