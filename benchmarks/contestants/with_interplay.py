"""Interplay itself: `interplay reinforce`, as it is typed, on pixels; frames are read from its own metrics."""

from __future__ import annotations

import sys
import threading
import time
from pathlib import Path

from settings import Settings, network_has, settings, trained

from interplay.launch.cli import main as interplay
from interplay.learner.agents import load_agent
from interplay.tracking.metrics import read_metrics

POLL = 0.25  # seconds between looks at the metrics


def words_of(told: Settings, runtime: str, *more: str) -> list[str]:
    """What would be typed after each verb."""
    size = told.size
    lanes = told.workers * told.worlds
    return [
        "env=pixels",
        f"env.work={told.work}",
        f"env.wait={told.wait}",
        f"run.dir={told.folder}",
        "run.name=throughput",
        "tracking.wandb=disabled",
        "agent=nano",
        "agent.attention=none",
        "agent.patch=4",
        f"agent.channels=[{','.join(map(str, size.channels))}]",
        f"agent.blocks=[{','.join(map(str, size.blocks))}]",
        f"agent.width={size.channels[1]}",
        f"agent.lstm={size.lstm}",
        "agent.policy_hidden=32",
        "agent.value_hidden=32",
        "collect.episodes=8",
        "collect.heldout=0",
        "collect.steps=4",
        "clone.training.updates=1",
        "clone.dataset.lanes=2",
        "clone.dataset.steps=2",
        "reinforce.reward=world",
        "reinforce.training.updates=1000000",
        "reinforce.training.checkpoint_every=1000000",
        "reinforce.training.log_every=1",
        f"reinforce.actor.lanes={lanes}",
        f"reinforce.actor.steps={told.unroll}",
        "reinforce.actor.episode_steps=200",
        f"reinforce.dataset.steps={told.unroll}",
        *(f"reinforce.learner.objective.weights.{name}=0" for name in ("movement_cloning", "language_cloning", "css")),
        "reinforce.learner.objective.weights.gate_kl=0",
        f"runtime={runtime}",
        *([f"runtime.actors={told.workers}"] if runtime == "ray" else []),
        *more,
    ]


def tell(metrics: Path) -> None:
    """Repeats what the newest row of metrics says, for as long as the process lives."""
    while True:
        rows = list(read_metrics(metrics)) if metrics.exists() else []
        if rows:
            trained(int(rows[-1]["steps"]))
        time.sleep(POLL)


def main(runtime: str, *more: str) -> int:
    """Trains until it is ended; `more` settings are typed besides."""
    told = settings()
    words = words_of(told, runtime, *more)
    for verb in ("collect", "clone"):
        if code := interplay([verb, *words]):
            return code
    run = Path(told.folder) / "throughput"
    agent, _ = load_agent(run / "clone" / "checkpoints")
    network_has(sum(p.numel() for p in agent.parameters()))
    threading.Thread(target=tell, args=(run / "reinforce" / "metrics.jsonl",), daemon=True).start()
    return interplay(["reinforce", *words])


if __name__ == "__main__":
    sys.exit(main("in_process"))
