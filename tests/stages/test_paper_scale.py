"""experiment=paper at its full network: two updates of every training stage, with two lanes and short unrolls.

About 3 GB of checkpoints.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tiny_runs import interplay, opened, rows

from interplay.launch.compose import compose
from interplay.launch.stage_devices import slow_precisions
from interplay.stages.shared_parts import start_from

TRAINED = ("clone", "reward", "reinforce")
SMALL = (
    "experiment=paper",
    "run.name=run",
    *(f"{stage}.{setting}" for stage in ("collect", "collect_agent") for setting in ("episodes=2", "heldout=0")),
    *(f"{stage}.{setting}" for stage in ("collect", "collect_agent") for setting in ("lanes=2", "steps=40")),
    *(f"{stage}.training.{setting}" for stage in TRAINED for setting in ("updates=2", "log_every=1")),
    *(f"{stage}.dataset.{setting}" for stage in TRAINED for setting in ("lanes=2", "steps=2")),
    *(f"{stage}.learner.recompute=2" for stage in TRAINED),
    "mark.rater.threshold=0.1",
    "reinforce.actor.lanes=2",
    "reinforce.actor.steps=2",
    "reinforce.actor.episode_steps=6",
    "tracking.wandb=disabled",
)


@pytest.mark.slow
def test_every_stage_of_the_papers_agent_makes_two_updates(tmp_path: Path) -> None:
    settings = [*SMALL, f"run.dir={tmp_path}"]
    # In software, bf16 had not finished after 43 minutes.
    settings += [f"{setting}=fp32" for setting in slow_precisions(compose(settings))]
    for verb in ("collect", "clone", "collect-agent", "mark", "reward", "reinforce"):
        interplay(verb, settings)
    for stage in TRAINED:
        logged = rows(tmp_path / "run" / stage / "metrics.jsonl")
        assert len(logged) == 2
        assert all(np.isfinite(row["loss"]) for row in logged)
    agent, _ = start_from(opened(settings), "reinforce")
    assert 70e6 < sum(weight.numel() for weight in agent.parameters()) < 73e6
