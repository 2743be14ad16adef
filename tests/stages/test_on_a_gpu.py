"""The stages on a GPU, emulated where there is none: every one runs, and its results can be used without one."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

import pytest
import torch
from tiny_runs import copied, interplay, opened, rows, tiny

from interplay.learner import checkpoint

TRAINED = ("clone", "reward", "reinforce")
RECORDING, READING = ("collect", "clone", "collect-agent", "mark"), ("evaluate", "report", "inspect-reward", "score")
ON_GPU = ("actors.device=cuda", *(f"{stage}.learner.device=cuda" for stage in TRAINED))
# The presets `gpu=` with networks and lanes of a tiny run, and without torch.compile.
PRESET = (
    *("gpu=71m", "agent=nano", "actors.device=cuda"),
    *(f"{stage}.learner.{setting}" for stage in TRAINED for setting in ("compile=false", "accumulate=2")),
)
AUTOREGRESSIVE = (
    "agent.movement=autoregressive",
    "agent.css_input=transformer",
    "agent.text_film=false",
    "agent.actions_per_step=8",
    "agent.previous_action=true",
    "agent.tokens=characters",
    "reward.model=ar",
    "reward.augmentation.mirror=0",
    "reinforce.reward=ar",
    *(f"{stage}.learner.recompute=2" for stage in TRAINED),
)


@pytest.mark.slow
@pytest.mark.parametrize("settings", [(), PRESET, AUTOREGRESSIVE], ids=["float32", "preset", "autoregressive"])
def test_every_stage_runs_on_a_gpu_and_goes_on_without_one(gpu: str, tmp_path: Path, settings: Sequence[str]) -> None:
    there = tiny(tmp_path, *ON_GPU, *settings)
    for verb in (*RECORDING, "reward", "reinforce", *READING):
        interplay(verb, there)
    for stage in TRAINED:
        found = checkpoint.read(tmp_path / "run" / stage / "checkpoints")
        assert {tensor.device.type for tensor in found.weights().values()} == {"cpu"}
    assert len(rows(tmp_path / "run" / "reinforce" / "returns.jsonl")) > 1
    on_cpu = [f"{stage}.learner.device=cpu" for stage in TRAINED] + ["actors.device=cpu", "actors.precision=fp32"]
    longer = [f"{stage}.training.updates=6" for stage in TRAINED]
    for stage in TRAINED:
        interplay(stage, [*there, *on_cpu, *longer])
        assert opened(there).stage(stage).record()["updates"] == 6


@pytest.mark.slow
@pytest.mark.skipif(find_spec("triton") is None, reason="triton is not installed (the extra triton)")
def test_every_stage_learns_from_pictures_that_the_gpu_draws(cloned: Path, tmp_path: Path) -> None:
    drawn = [f"{stage}.dataset.drawn_by=learner" for stage in TRAINED] + ["reinforce.actor.drawn_by=gpu"]
    in_order = "runtime.overlap=false"  # only one thread at a time can use Triton's interpreter
    settings = tiny(copied(cloned, tmp_path), *ON_GPU, *drawn, in_order, "clone.training.updates=6")
    tests = Path(__file__).parents[1]
    ran = subprocess.run(
        [
            sys.executable,
            str(tests / "stages" / "emulated_run.py"),
            "clone,collect-agent,mark,reward,reinforce",
            *settings,
        ],
        env={**os.environ, "TRITON_INTERPRET": "1", "PYTHONPATH": str(tests)},
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert ran.returncode == 0, ran.stderr
    assert all(opened(settings).stage(stage).finished for stage in TRAINED)


def test_results_are_those_of_the_cpu(gpu: str, cloned: Path, tmp_path: Path) -> None:
    losses = []
    for name, settings in (("cpu", ()), ("gpu", ON_GPU)):
        root = copied(cloned, tmp_path / name)
        interplay("clone", tiny(root, *settings, "clone.training.updates=8"))
        losses.append([row["loss"] for row in rows(root / "run" / "clone" / "metrics.jsonl")[4:]])
    assert len(losses[0]) == 4
    torch.testing.assert_close(torch.tensor(losses[1]), torch.tensor(losses[0]), rtol=1e-3, atol=1e-4)


def test_an_evaluation_with_the_settings_of_ray_decides_on_the_gpu_of_its_own_process(
    gpu: str, cloned: Path, tmp_path: Path
) -> None:
    few = ("evaluate.kinds=[go]", "evaluate.expert=false", "evaluate.chance=false", "evaluate.counterfactuals=0")
    settings = tiny(copied(cloned, tmp_path), *few, "runtime=ray", "actors.device=cuda")
    interplay("evaluate", settings)
    assert opened(settings).stage("evaluate").finished
