"""The listening gap in the training stages: logged, without effect on the training, with a warning at reinforcement."""

from __future__ import annotations

import json
import logging
import shutil
from pathlib import Path

import pytest
from outcomes import assert_equal_nested
from tiny_runs import copied, interplay, opened, rows, tiny

from interplay.episodes.snapshot import Snapshot
from interplay.learner import checkpoint
from interplay.stages.heldout_listening import warn_unless_listening

GAP, PARTS = "heldout_listening", ("", "_error", "_episodes")


def test_cloning_measures_at_its_interval_and_at_the_end(cloned: Path, tmp_path: Path) -> None:
    """The weights and the state are those of a run that measures nothing."""
    once, never = (copied(cloned, tmp_path / name) for name in ("once", "never"))
    for root, setting in ((once, "clone.measure_every=3"), (never, "clone.listening_episodes=0")):
        shutil.rmtree(root / "run" / "clone")
        interplay("clone", tiny(root, setting))
    measured = {row["step"]: row[GAP] for row in rows(once / "run" / "clone" / "metrics.jsonl") if GAP in row}
    assert list(measured) == [3, 4]
    assert measured[3] != measured[4]
    assert not any(GAP in row for row in rows(never / "run" / "clone" / "metrics.jsonl"))
    mine, theirs = (checkpoint.read(root / "run" / "clone" / "checkpoints") for root in (once, never))
    assert_equal_nested(mine.weights(), theirs.weights(), "agent.pt")
    assert_equal_nested(mine.training(), theirs.training(), "training.pt")


def test_the_reward_stage_measures_its_policy(rewarded: Path) -> None:
    found = rows(rewarded / "run" / "reward" / "metrics.jsonl")
    assert [row["step"] for row in found if "heldout_pair_accuracy" in row and "heldout_utility_listening" in row] == [
        2,
        4,
    ]


@pytest.mark.parametrize(("threshold", "warns"), [("1e6", True), ("-1e6", False)])
def test_reinforcement_warns_of_an_agent_that_hardly_listens(
    cloned: Path, threshold: str, warns: bool, caplog: pytest.LogCaptureFixture
) -> None:
    run = opened(tiny(cloned, f"reinforce.listening_threshold={threshold}"))
    snapshot = Snapshot(run.snapshot_path("clone-heldout"))
    with caplog.at_level(logging.WARNING):
        found = warn_unless_listening(run, snapshot)
    assert sorted(found) == sorted(f"{GAP}{words}{part}" for words in ("", "_words") for part in PARTS)
    assert ("hardly listens" in caplog.text) == warns
    # The clone measured the same agent on the same episodes at its last update.
    logged = rows(cloned / "run" / "clone" / "metrics.jsonl")[-1]
    assert logged[GAP] == pytest.approx(found[GAP], abs=1e-5)


def test_reinforcement_records_the_gap_of_its_first_agent_and_measures_on(rewarded: Path, tmp_path: Path) -> None:
    """The weights and the state are those of a run that measures nothing."""
    root, never = (copied(rewarded, tmp_path / name) for name in ("once", "never"))
    interplay("reinforce", tiny(root, "reinforce.listening_threshold=1e6"))
    interplay("reinforce", tiny(never, "reinforce.listening_episodes=0"))
    measured = {row["step"]: row[GAP] for row in rows(root / "run" / "reinforce" / "metrics.jsonl") if GAP in row}
    assert list(measured) == [2, 4] and measured[2] != measured[4]
    assert not any(GAP in row for row in rows(never / "run" / "reinforce" / "metrics.jsonl"))
    mine, theirs = (checkpoint.read(at / "run" / "reinforce" / "checkpoints") for at in (root, never))
    assert_equal_nested(mine.weights(), theirs.weights(), "agent.pt")
    assert_equal_nested(mine.training(), theirs.training(), "training.pt")
    record = json.loads((root / "run" / "reinforce" / "stage.json").read_text())
    logged = rows(root / "run" / "clone" / "metrics.jsonl")[-1]
    assert record[f"start_{GAP}"] == pytest.approx(logged[GAP], abs=1e-5)


def test_a_resumed_stage_does_not_measure_its_first_agent_again(
    rewarded: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    root, warned = copied(rewarded, tmp_path), "reinforce.listening_threshold=1e6"
    record, updates = root / "run" / "reinforce" / "stage.json", "reinforce.training.updates"
    interplay("reinforce", tiny(root, warned, f"{updates}=2"))
    began = {name: value for name, value in json.loads(record.read_text()).items() if name.startswith("start_")}
    assert f"start_{GAP}" in began and "hardly listens" in caplog.text
    caplog.clear()
    interplay("reinforce", tiny(root, warned, f"{updates}=4"))
    assert "hardly listens" not in caplog.text
    assert began.items() <= json.loads(record.read_text()).items()
