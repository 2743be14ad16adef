"""Interplay itself: `interplay reinforce`, as it is typed, on pixels; frames are read from its own metrics."""

from __future__ import annotations

import sys
import threading
import time
from pathlib import Path

from settings import Settings, report_frames, report_parameters, settings

from interplay.launch.cli import main as interplay
from interplay.learner.agents import load_agent
from interplay.tracking.metrics import read_metrics

POLL = 0.25  # seconds between looks at the metrics


def words_of(options: Settings, runtime: str, *more: str) -> list[str]:
    """What would be typed after each verb."""
    size = options.size
    lanes = options.workers * options.worlds
    return [
        "env=pixels",
        f"env.work={options.work}",
        f"env.wait={options.wait}",
        f"run.dir={options.folder}",
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
        f"reinforce.actor.steps={options.unroll}",
        "reinforce.actor.episode_steps=200",
        f"reinforce.dataset.steps={options.unroll}",
        *(f"reinforce.learner.objective.weights.{name}=0" for name in ("movement_cloning", "language_cloning", "css")),
        "reinforce.learner.objective.weights.gate_kl=0",
        f"runtime={runtime}",
        *([f"runtime.actors={options.workers}"] if runtime == "ray" else []),
        *more,
    ]


def report_metrics(metrics: Path) -> None:
    """Reports the steps of the newest row of metrics, while the process runs."""
    while True:
        rows = list(read_metrics(metrics)) if metrics.exists() else []
        if rows:
            report_frames(int(rows[-1]["steps"]))
        time.sleep(POLL)


def main(runtime: str, *more: str) -> int:
    """Trains until it is ended; `more` settings are typed besides."""
    options = settings()
    words = words_of(options, runtime, *more)
    for verb in ("collect", "clone"):
        if code := interplay([verb, *words]):
            return code
    run = Path(options.folder) / "throughput"
    agent, _ = load_agent(run / "clone" / "checkpoints")
    report_parameters(sum(p.numel() for p in agent.parameters()))
    threading.Thread(target=report_metrics, args=(run / "reinforce" / "metrics.jsonl",), daemon=True).start()
    return interplay(["reinforce", *words])


if __name__ == "__main__":
    sys.exit(main("in_process"))
