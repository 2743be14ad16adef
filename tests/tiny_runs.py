"""Runs so small that a stage takes a second: one bare room, 16x24 images, a few thousand weights."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from interplay.launch.cli import main
from interplay.launch.compose import compose
from interplay.stages.run import Run, open_run

# Nearly all episodes have one kind of task, so that the held-out ones can exchange instructions.
HOUSE = ("env=room", "env.objects=[2,3]", "env.image=[16,24]", "collect.setter.kinds={go: 60, color: 1}")
AGENT = (
    "agent.channels=[8,8]",
    "agent.width=16",
    "agent.lstm=16",
    "agent.policy_hidden=16",
    "agent.value_hidden=16",
    "agent.decoder_width=8",
    "agent.contrast_hidden=16",
)
SHORT = (
    *(f"{stage}.{setting}" for stage in ("collect", "collect_agent") for setting in ("heldout=2", "lanes=2")),
    *(f"{stage}.{setting}" for stage in ("collect", "collect_agent") for setting in ("episodes=4", "steps=12")),
    *(
        f"{stage}.{setting}"
        for stage in ("clone", "reward", "reinforce")
        for setting in (
            "training.updates=4",
            "training.checkpoint_every=2",
            "training.log_every=1",
            "dataset.lanes=2",
            "dataset.steps=8",
        )
    ),
    "clone.measure_every=2",
    "reward.measure_every=2",
    "reinforce.actor.lanes=2",
    "reinforce.actor.steps=8",
    "reinforce.actor.episode_steps=10",
    "reinforce.measure_every=2",
    "reinforce.heldout_episodes=2",
    "evaluate.episodes=1",
    "evaluate.steps=8",
    "evaluate.lanes=2",
    "baselines=[]",
    "tracking.wandb=disabled",
    "runtime.threads=1",
)


def tiny(root: Path, *more: str, house: tuple[str, ...] = HOUSE) -> list[str]:
    """The settings of a tiny run in the folder `root`/run, with overrides."""
    return [f"run.dir={root}", "run.name=run", *house, *AGENT, *SHORT, *more]


def interplay(verb: str, settings: list[str]) -> None:
    """Runs `interplay VERB SETTINGS`, which must succeed."""
    assert main([verb, *settings]) == 0, f"interplay {verb} failed"


def copied(root: Path, to: Path, name: str = "run") -> Path:
    """Copies the run `name` of `root` into the root `to`."""
    shutil.copytree(root / name, to / name)
    return to


def opened(settings: list[str]) -> Run:
    """The run of these settings."""
    config = compose(settings)
    return Run(config.run.root, config)


def recorded(settings: list[str]) -> Run:
    """A run of these settings in which nothing but its configuration is recorded."""
    run = open_run(compose(settings))
    run.record_config()
    return run


def refused(verb: str, settings: list[str], capsys: pytest.CaptureFixture[str], code: int = 1) -> str:
    """Runs a command that must fail with this exit code and without a traceback; returns its stderr."""
    capsys.readouterr()
    assert main([verb, *settings]) == code
    said = capsys.readouterr().err
    assert "Traceback" not in said, said
    return said


def rows(file: Path) -> list[dict[str, Any]]:
    """The rows of a JSON-lines file without their time-dependent fields."""
    found = [json.loads(line) for line in file.read_text().splitlines()]
    clocked = ("steps_per_second", "_idle")
    return [{key: value for key, value in row.items() if not key.endswith(clocked)} for row in found]
