"""The autoregressive reward model in its stages: training, resuming, paying, and what it is refused for."""

from __future__ import annotations

import json
import re
import signal
from pathlib import Path

import numpy as np
import pytest
from signalled_run import AfterCall, run_and_signal
from test_pipeline import METRICS, PAGE
from test_resume import LOGGED, same_runs, twenty
from tiny_runs import copied, interplay, opened, refused, rows, tiny

from interplay.stages.reward_source import reward_source

AR = ("reward.model=ar", "reinforce.reward=ar")


@pytest.fixture(scope="module")
def marked(cloned: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The root of a run up to its autoregressive reward model."""
    root = copied(cloned, tmp_path_factory.mktemp("marked"))
    for verb in ("mark", "reward"):
        interplay(verb, tiny(root, *AR))
    return root


def test_its_metrics_are_those_of_the_page(marked: Path) -> None:
    told = {name for names, stages in METRICS.findall(PAGE.read_text()) if "model=ar" in stages
            for name in re.findall(r"`([\w/]+)`", names)}  # fmt: skip
    logged = {name for row in rows(marked / "run" / "reward" / "metrics.jsonl") for name in row}
    assert told <= logged and not any(name.startswith("ibt") for name in logged)


@pytest.mark.parametrize("stage", ["reward", "reinforce"])
def test_a_killed_run_resumes_bit_for_bit(marked: Path, tmp_path: Path, stage: str) -> None:
    straight, killed = (copied(marked, tmp_path / name) for name in ("straight", "killed"))
    if stage == "reward":
        for root in (straight, killed):
            for file in (root / "run" / "reward").rglob("*"):
                file.unlink() if file.is_file() else None
    settings = [[*twenty(root, stage, True), *AR] for root in (straight, killed)]
    interplay(stage, settings[0])
    result = run_and_signal([stage, *settings[1]], signal.SIGKILL, AfterCall(LOGGED, 13), tmp_path / "log")
    assert result.code == -signal.SIGKILL, result.output
    interplay(stage, settings[1])
    same_runs(straight, killed, stage)


def test_it_pays_with_marks(marked: Path, tmp_path: Path) -> None:
    root = copied(marked, tmp_path)
    interplay("reinforce", tiny(root, *AR))
    returns = rows(root / "run" / "reinforce" / "returns.jsonl")
    earned = np.array([value for row in returns for value in (*row["training"], *row["heldout"])])
    assert len(earned) and (earned == earned.round()).all()


def test_a_model_of_the_other_kind_is_refused(
    marked: Path, rewarded: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    said = refused("reinforce", tiny(copied(marked, tmp_path / "ar")), capsys)
    assert "is of reward.model=ar, and reinforce.reward=ibt needs one of ibt: set reinforce.reward=ar" in said
    said = refused("reinforce", tiny(copied(rewarded, tmp_path / "ibt"), "reinforce.reward=ar"), capsys)
    assert "set reinforce.reward=ibt" in said
    said = refused("reward", tiny(tmp_path, *AR, "reward.dataset.windows=marked"), capsys, code=2)
    assert "reward.dataset.windows=stream" in said


def test_a_policy_of_reinforcement_starts_from_it_without_its_head(marked: Path, tmp_path: Path) -> None:
    root = copied(marked, tmp_path)
    interplay("reinforce", tiny(root, *AR, "reinforce.start=reward", "reinforce.training.updates=1"))
    described = json.loads(next((root / "run/reinforce/checkpoints").glob("*/checkpoint.json")).read_text())
    assert not described["marks"] and not described["utility"]
    run = opened(tiny(root, *AR))
    assert type(reward_source(run).function()).__name__ == "MarkReward"
