"""The stages by name, and all of them in turn."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from pathlib import Path

from interplay.runtime.interruption import Interrupted, StopRequest
from interplay.stages.clone_stage import clone
from interplay.stages.collect_stage import collect
from interplay.stages.evaluate_stage import evaluate
from interplay.stages.mark_stage import mark
from interplay.stages.placing import placed
from interplay.stages.reinforce_stage import reinforce
from interplay.stages.report_stage import report
from interplay.stages.reward_stage import train_reward
from interplay.stages.run import Run

logger = logging.getLogger(__name__)

# In the order in which one round goes through them.
STAGES: Mapping[str, Callable[[Run], None]] = {
    "collect": lambda run: collect(run, run.config.collect),
    "clone": lambda run: placed(clone, "clone", run),
    "collect-agent": lambda run: collect(run, run.config.collect_agent, "collect-agent"),
    "mark": mark,
    "reward": lambda run: placed(train_reward, "reward", run),
    "reinforce": lambda run: placed(reinforce, "reinforce", run),
    "evaluate": evaluate,
}

SAYS = {
    "collect": "scripted players are recorded: a setter asks, a solver with human-like mistakes acts and answers",
    "clone": "an agent learns to do and say the same (behavioral cloning, CSS)",
    "collect-agent": "the clone plays, and is recorded",
    "mark": "a rater marks progress and slips in all that was recorded",
    "reward": "a reward model learns utility from the marks (inter-temporal Bradley-Terry)",
    "reinforce": "the agent improves on that reward by V-trace, while recorded setters are replayed",
    "evaluate": "every agent plays the same probe tasks in houses that they have never seen",
}


def demo(run: Run) -> Path:
    """One agent through every stage; stages that are done are passed over. Returns the path of the report.

    Raises:
        Interrupted: asked to stop; everything is saved.
    """
    with StopRequest() as stop:
        for number, (name, stage) in enumerate(STAGES.items(), 1):
            logger.info("[%d/%d] %s: %s", number, len(STAGES), name, SAYS[name])
            stage(run)
            if stop.requested:  # too late for the stage, which had nothing left to do
                raise Interrupted(f"stopped; {name} is done, and the same command goes on with what follows")
        return report(run)
