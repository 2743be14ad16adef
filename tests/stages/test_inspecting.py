"""`interplay inspect-reward`: its page and its numbers, before and after reinforcement."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from fake_world import LineWorld, record_episode
from tiny_runs import copied, interplay, opened, refused, rows, tiny

from interplay.stages.heldout_episodes import HeldOutEpisodes, succeeded
from interplay.stages.reward_evaluation import examine, heldout_of


def test_a_reward_model_is_inspected_before_and_after_reinforcement(rewarded: Path, tmp_path: Path) -> None:
    root = copied(rewarded, tmp_path)
    interplay("inspect-reward", tiny(root))
    found = json.loads((root / "run" / "reward-inspection.json").read_text())
    model = heldout_of(opened(tiny(root)))
    assert model is not None
    agreed = model.heldout.measure(model.model).agreement
    assert found["episodes"] == len(model.heldout) and agreed.pairs.sum() > 0
    assert sum(each["pairs"] for each in found["calibration"]) == agreed.pairs.sum()
    assert sum(each["episodes"] for each in found["kinds"].values()) == found["episodes"]
    assert found["heldout"] == []
    assert "Not run." in (root / "run" / "reward-inspection.html").read_text()

    interplay("reinforce", tiny(root))
    interplay("inspect-reward", tiny(root))
    found = json.loads((root / "run" / "reward-inspection.json").read_text())
    measured = rows(root / "run" / "reinforce" / "returns.jsonl")
    assert [each["update"] for each in found["heldout"]] == [0, 2, 4]
    for each, row in zip(found["heldout"], measured, strict=True):
        assert each["true_success"] == sum(row["success"]) / len(row["success"])
    page = (root / "run" / "reward-inspection.html").read_text()
    assert "Over-optimization" in page and page.count("<svg") >= 4


@pytest.mark.parametrize("verb", ["inspect-reward", "report", "score"])
def test_a_run_is_read_in_its_own_world_whatever_is_typed(verb: str, rewarded: Path, tmp_path: Path) -> None:
    root = copied(rewarded, tmp_path)
    before = (root / "run" / "config.json").read_bytes()
    interplay(verb, tiny(root, house=("env=learnable_room",)))
    assert (root / "run" / "config.json").read_bytes() == before


def test_the_success_of_an_episode_without_a_task_is_unknown() -> None:
    episode, _ = record_episode(LineWorld(), seed=0, steps=1)
    assert not episode.meta.tasks and succeeded(LineWorld(), episode) is None


def test_without_a_reward_model_there_is_nothing_to_inspect(
    cloned: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    said = refused("inspect-reward", tiny(copied(cloned, tmp_path)), capsys)
    assert "interplay reward run.name=run" in said


def test_only_episodes_with_another_instruction_count_as_swapped(
    rewarded: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = opened(tiny(copied(rewarded, tmp_path)))
    found = heldout_of(run)
    assert found is not None and len(found.heldout) > 1
    told = found.vocabulary.encode("lift the ball", found.model.layout.utterance_length)
    monkeypatch.setattr(HeldOutEpisodes, "other_instructions", lambda heldout, *, same_kind=True: {1: told})
    results = examine(run, found).results
    assert results is not None and results.swapped_returns is not None
    assert np.flatnonzero(~np.isnan(results.swapped_returns)).tolist() == [1]
