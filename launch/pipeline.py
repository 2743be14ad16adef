"""The stages of a run in their order."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from interplay.stages.clone_stage import SETTER_STAGE, clone, clone_setter, clone_settings
from interplay.stages.collect_stage import collect, collect_settings
from interplay.stages.continue_stage import CONTINUE, continue_scenarios, continue_settings
from interplay.stages.evaluate_stage import evaluate, evaluate_settings
from interplay.stages.mark_stage import mark, mark_settings
from interplay.stages.process_layout import run_stage
from interplay.stages.reinforce_stage import reinforce, reinforce_settings
from interplay.stages.reward_stage import reward_settings, train_reward
from interplay.stages.rounds import SHARED_STAGES
from interplay.stages.run import Run


@dataclass(frozen=True)
class PipelineStage:
    """A stage as a verb of the command line."""

    name: str
    summary: str  # one line, logged when a round begins the stage
    run: Callable[[Run], None]
    settings: Callable[[Run], Mapping[str, Any]]  # those that may not change when the stage is resumed
    in_round: bool = True  # False: only its own verb runs it

    def refuse_other_settings(self, run: Run) -> None:
        """Compares the settings of `run` with those that the stage was started with, if it was; raises as
        `StageFolder.refuse_other_settings`."""
        run.stage(self.name).refuse_other_settings(self.settings(run))


# In the order in which they can run.
STAGES: Mapping[str, PipelineStage] = {
    stage.name: stage
    for stage in (
        PipelineStage(
            "collect",
            "record scripted players: a setter asks, a solver with human-like mistakes acts and answers",
            lambda run: collect(run, run.config.collect),
            lambda run: collect_settings(run, run.config.collect),
        ),
        PipelineStage(
            "clone",
            "train an agent to act and speak like the recorded solver (behavioral cloning, CSS)",
            lambda run: run_stage(clone, "clone", run),
            clone_settings,
        ),
        PipelineStage(  # only runs with learned setters need it
            SETTER_STAGE,
            "train an agent to ask and speak like the recorded setter, for the setter's seat",
            lambda run: run_stage(clone_setter, SETTER_STAGE, run),
            clone_settings,
            in_round=False,
        ),
        PipelineStage(
            "collect-agent",
            "record the cloned agent as the solver",
            lambda run: collect(run, run.config.collect_agent, "collect-agent"),
            lambda run: collect_settings(run, run.config.collect_agent, "collect-agent"),
        ),
        PipelineStage(
            "mark",
            "let a scripted rater mark progress and slips in all recordings",
            mark,
            mark_settings,
        ),
        PipelineStage(
            "reward",
            "train a reward model: utility from the marks (inter-temporal Bradley-Terry)",
            lambda run: run_stage(train_reward, "reward", run),
            reward_settings,
        ),
        PipelineStage(
            "reinforce",
            "improve the agent on that reward by V-trace, in replays of the recorded setters",
            lambda run: run_stage(reinforce, "reinforce", run),
            reinforce_settings,
        ),
        PipelineStage(
            "evaluate",
            "test every agent on the same probe tasks, in episodes that none of them has seen",
            evaluate,
            evaluate_settings,
        ),
        PipelineStage(  # a second test of trained agents, longer than the probes
            CONTINUE,
            "let every agent continue from the same recorded scenarios",
            continue_scenarios,
            continue_settings,
            in_round=False,
        ),
    )
}


def stages_of_round(number: int) -> list[PipelineStage]:
    """The stages of a round in their order; those that belong to the run are part of the first."""
    return [each for each in STAGES.values() if each.in_round and (number == 1 or each.name not in SHARED_STAGES)]
