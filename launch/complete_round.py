"""Runs the stages of a round, and its baselines, and writes the report."""

from __future__ import annotations

import logging
from collections import ChainMap
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from interplay.core.settings_validation import did_you_mean
from interplay.env.warm_up import warm_up
from interplay.evaluation.probes import probe_kinds
from interplay.launch.concurrent_baselines import ConcurrentBaselines
from interplay.launch.marks_ahead import MarksAhead
from interplay.launch.pipeline import stages_of_round
from interplay.launch.train_baselines import train_baselines
from interplay.runtime.interruption import Interrupted, StopRequest
from interplay.stages.baselines import baseline_config, baseline_of, refuse_other_baselines
from interplay.stages.config import Config
from interplay.stages.evaluate_stage import STAGE as EVALUATE
from interplay.stages.report_stage import check_report_files, report
from interplay.stages.reward_source import reward_without_model
from interplay.stages.run import Run
from interplay.stages.shared_parts import AGENT_STAGES
from interplay.stages.stage_config import LEARNED_REWARDS
from interplay.stages.stage_folder import MissingAgent

logger = logging.getLogger(__name__)

NEEDS_MARKS = ("mark", "reward")  # stages that serve a reward model only


def complete_round(run: Run) -> Path:
    """Runs every stage of the run's round that is not done yet, and returns the path of the round's report.

    In the first round, the baselines that `baselines` names are trained before the evaluation. Where
    `runtime.concurrent_work` and the machine permit it, they train at the same time as the other stages, and
    recordings are marked while the agent is cloned from them.

    Raises:
        Interrupted: a signal asked to stop; everything is saved.
        StageConflict: see `refuse_other_settings`; nothing has begun.
        MissingAgent: see `refuse_missing_agents`; nothing has begun.
        OSError: see `check_report_files`; nothing has begun.
        WorkerFailed: the process that trained the baselines was killed; everything else is saved.
    """
    refuse_other_settings(run)
    refuse_missing_agents(run)
    check_report_files(run)
    with StopRequest() as stop, ConcurrentBaselines(run) as baselines, MarksAhead(run) as ahead:
        steps = _steps(run, baselines)
        if not run.stage(EVALUATE).finished:
            _warm_up_world(run)
            if stop.requested:
                raise Interrupted("stopped before the first stage; the same command begins with it")
        for number, (name, summary, act) in enumerate(steps, 1):
            if is_left_out(name, run.config):
                reward = run.config.reinforce.reward
                logger.info(
                    "[%d/%d] %s: left out, reinforce.reward=%s needs no marks", number, len(steps), name, reward
                )
            else:
                logger.info("[%d/%d] %s: %s", number, len(steps), name, summary)
                ahead.before(name)
                act(run)
                if stop.requested:  # the signal came after the stage's last check for one
                    raise Interrupted(f"stopped; {name} is done, and the same command continues with the next stage")
            baselines.reached(name)
        return report(run)


def _warm_up_world(run: Run) -> None:
    """Compiles the renderer, which the stages would otherwise do in the middle of their work, and in each process."""
    with closing(run.make_world()) as world:
        if world.spec.image is not None:
            warm_up(world, logger.info)


def refuse_other_settings(run: Run) -> None:
    """Compares the settings of all stages of a round, and of its baselines, with those that they were started with.

    Raises:
        StageConflict, ValueError: see `StageFolder.refuse_other_settings`.
    """
    for stage in stages_of_round(run.round):
        if not is_left_out(stage.name, run.config):
            stage.refuse_other_settings(run)
    if run.round == 1:
        refuse_other_baselines(run, run.config.baselines)


def refuse_missing_agents(run: Run) -> None:
    """Refuses a round in which a stage, also one of a baseline, would begin with an agent that does not exist by then.

    Raises:
        MissingAgent: no earlier stage of the round trains that agent, and the run does not have it yet.
    """
    stages = [stage.name for stage in stages_of_round(run.round) if not is_left_out(stage.name, run.config)]
    begins = [(stage, run.config) for stage in stages if not run.stage(stage).finished]
    for baseline in run.config.baselines if run.round == 1 else ():
        config = baseline_config(run.config, baseline)
        begins += [(stage, config) for stage in baseline_of(run.config, baseline).stages]
    for stage, config in begins:
        known = {*stages[: stages.index(stage)], *(name for name in AGENT_STAGES if run.stage(name).has_agent)}
        for setting, name in _first_agents(config).get(stage, {}).items():
            if name in AGENT_STAGES and name not in known and not Path(name).exists():
                left_out = f", and reinforce.reward={run.config.reinforce.reward} leaves it out"
                raise MissingAgent(
                    f"{setting}={name}: {run.root} has no agent of the stage {name!r}, and no stage of the round that "
                    f"runs before {stage} trains one{left_out if is_left_out(name, run.config) else ''}. Set {setting} "
                    f"to a stage that does or to the path of a checkpoint, or first type: {run.command(name)}"
                )


def _first_agents(config: Config) -> dict[str, dict[str, str]]:
    """The agents that each stage begins with, as names of stages or as paths, by setting; "" for none."""
    recorded, reinforced = config.collect_agent, config.reinforce
    return {
        "collect-agent": {
            "collect_agent.solver_agent": recorded.solver_agent if recorded.solver == "agent" else "",
            "collect_agent.setter_agent": recorded.setter_agent,
        },
        "reward": {"reward.start": config.reward.start},
        "reinforce": {
            "reinforce.start": reinforced.start,
            "reinforce.setter_agent": reinforced.setter_agent if reinforced.actor.learned_setters else "",
        },
        EVALUATE: {
            "evaluate.setter_agent": config.evaluate.setter_agent,
            **{f"evaluate.agents.{name}": agent for name, agent in config.evaluate.agents.items()},
        },
    }


def is_left_out(stage: str, config: Config) -> bool:
    """Whether the round of `config` does without a stage, because no model rewards reinforcement."""
    return stage in NEEDS_MARKS and config.reinforce.reward not in LEARNED_REWARDS


def refuse_unknown_names(config: Config) -> None:
    """Refuses names that only a late stage of a round would look up, before anything is recorded.

    Raises:
        ValueError: the start of a stage is neither a stage that trains an agent nor a path, a reward is a class that
            can't be created, or the world has no such kind of probe.
    """
    for each in (config, *(baseline_config(config, name) for name in config.baselines if config.run.round == 1)):
        for setting, name in ChainMap(*_first_agents(each).values()).items():
            if name and "/" not in name and name not in AGENT_STAGES and not Path(name).exists():
                raise ValueError(
                    f"{setting} must be a stage that trains an agent, or the path of a checkpoint, got {name!r}."
                    f"{did_you_mean(name, AGENT_STAGES)}"
                )
        if each.reinforce.reward not in LEARNED_REWARDS:
            reward_without_model(each.reinforce.reward)
    if config.evaluate.kinds or config.evaluate.limits:
        with closing(Run(config.run.root, config).make_world()) as world:
            probe_kinds(world, config.evaluate)


def _steps(run: Run, baselines: ConcurrentBaselines) -> list[tuple[str, str, Callable[[Run], None]]]:
    """The name, the summary and the function of each step, in their order."""

    def train_all_baselines(run: Run) -> None:
        baselines.finish()
        train_baselines(run)  # those that were not begun in the other process

    steps = [(stage.name, stage.summary, stage.run) for stage in stages_of_round(run.round)]
    if run.config.baselines and run.round == 1:
        summary = f"train what BC+RL is compared with: {', '.join(run.config.baselines)}"
        steps.insert([name for name, _, _ in steps].index(EVALUATE), ("baselines", summary, train_all_baselines))
    return steps
