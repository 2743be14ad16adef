"""The autoregressive reward model in its stages: training, resuming, paying, and what it is refused for."""

from __future__ import annotations

import json
import re
import signal
import sqlite3
from pathlib import Path

import numpy as np
import pytest
from signalled_run import AfterCall, run_and_signal
from test_pipeline import METRICS, PAGE
from test_resume import LOGGED, same_runs, twelve
from tiny_runs import copied, interplay, opened, refused, rows, tiny

from interplay.episodes.snapshot import Snapshot
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


def test_raters_who_leave_no_mark_are_its_data(
    cloned: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """With raters that see nothing there are episodes without marks to predict, and no pairs to order."""
    root = copied(cloned, tmp_path)
    raters = ("mark.raters=[ann,bob]", "mark.rater.misses=1", "mark.rater.errors=0")
    interplay("mark", tiny(root, *raters))
    run = opened(tiny(root, *raters))
    with run.store() as store:
        assert not store.marks()
        assert set(store.raters().values()) == {("ann", "bob")} and len(store.raters()) == len(store)
    said = refused("reward", tiny(root, *raters), capsys)
    assert "raters left no mark in the 6 episodes" in said
    interplay("reward", tiny(root, *AR, *raters))
    snapshot = Snapshot(run.snapshot_path("reward"))
    assert set(snapshot.raters().values()) == {("ann", "bob")}
    last = rows(root / "run" / "reward" / "metrics.jsonl")[-1]
    assert last["marks_seen"] == 0 and last["marks_predicted"] < 0.5


def test_a_run_of_before_ratings_gets_them_from_its_list_of_watched_episodes(cloned: Path, tmp_path: Path) -> None:
    root = copied(cloned, tmp_path)
    interplay("mark", tiny(root, "mark.rater.misses=1"))
    run = opened(tiny(root))
    with run.store() as store:
        rated = store.raters()
    with sqlite3.connect(root / "run" / "store" / "catalogue.db") as database:
        database.execute("DELETE FROM ratings")
    database.close()
    interplay("mark", tiny(root, "mark.rater.misses=1"))
    with run.store() as store:
        assert store.raters() == rated and rated


@pytest.mark.slow
@pytest.mark.parametrize("stage", ["reward", pytest.param("reinforce", marks=pytest.mark.slow)])
def test_a_killed_run_resumes_bit_for_bit(marked: Path, tmp_path: Path, stage: str) -> None:
    straight, killed = (copied(marked, tmp_path / name) for name in ("straight", "killed"))
    if stage == "reward":
        for root in (straight, killed):
            for file in (root / "run" / "reward").rglob("*"):
                file.unlink() if file.is_file() else None
    settings = [[*twelve(root, stage, True), *AR] for root in (straight, killed)]
    interplay(stage, settings[0])
    result = run_and_signal([stage, *settings[1]], signal.SIGKILL, AfterCall(LOGGED, 8), tmp_path / "log")
    assert result.code == -signal.SIGKILL, result.output
    interplay(stage, settings[1])
    same_runs(straight, killed, stage)


def test_it_pays_with_marks(marked: Path, tmp_path: Path) -> None:
    root = copied(marked, tmp_path)
    interplay("reinforce", tiny(root, *AR))
    returns = rows(root / "run" / "reinforce" / "returns.jsonl")
    earned = np.array([value for row in returns for value in (*row["training"], *row["heldout"])])
    assert len(earned) and (earned == earned.round()).all()


@pytest.mark.slow
def test_its_agent_is_evaluated_and_reported(marked: Path, tmp_path: Path) -> None:
    root = copied(marked, tmp_path)
    for verb in ("reinforce", "evaluate", "report"):
        interplay(verb, tiny(root, *AR))
    summary = json.loads((root / "run" / "summary.json").read_text())
    assert all(set(agents) >= {"bc", "bc_rl"} for agents in summary["probes"].values()) and summary["probes"]
    assert "heldout_mark_auc" in (root / "run" / "report.html").read_text()


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
