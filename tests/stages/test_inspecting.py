"""`interplay inspect-reward`: its page and its numbers, before and after reinforcement."""

from __future__ import annotations

import json
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from fake_world import LineWorld, record_episode
from tiny_runs import copied, interplay, opened, refused, rows, tiny

from interplay.stages import inspect_reward_stage, report_stage
from interplay.stages.heldout_episodes import HeldOutEpisodes, succeeded
from interplay.stages.reward_evaluation import ModelOnHeldOut, examine, heldout_of
from interplay.stages.run import Run


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


@pytest.mark.parametrize(("verb", "read_by"), [("inspect-reward", inspect_reward_stage), ("report", report_stage)])
def test_episodes_that_are_deleted_while_a_command_reads_are_left_out(
    verb: str,
    read_by: ModuleType,
    rewarded: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    capsys: pytest.CaptureFixture[str],
) -> None:
    root = copied(rewarded, tmp_path)
    first, left = -1, 0

    def deleting(run: Run) -> ModelOnHeldOut | None:
        nonlocal left
        found = heldout_of(run)
        assert found is not None
        for meta in found.heldout.episodes[first:]:
            next(run.root.rglob(f"{meta.id}.npz")).unlink()
        left = len(found.heldout) - 1
        return found

    monkeypatch.setattr(read_by, "heldout_of", deleting)
    interplay(verb, tiny(root))
    assert caplog.text.count("left out of measurements on held-out episodes: ") == 1
    if verb == "inspect-reward":
        assert json.loads((root / "run" / "reward-inspection.json").read_text())["episodes"] == left > 0
        first = 0
        assert "no reward model with held-out episodes to inspect" in refused(verb, tiny(root), capsys)


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
