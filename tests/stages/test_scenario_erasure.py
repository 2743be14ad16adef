"""Scenarios of deleted episodes are erased from the suites of a run, with what agents did in them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from fake_world import LineWorld, record_episode

from interplay.core.files import JsonLines
from interplay.evaluation.scenario_suite import SUITE, read_suite, write_suite
from interplay.evaluation.scenarios import Scenario
from interplay.stages.scenario_erasure import erase_scenarios
from interplay.stages.stage_folder import WORK_LOCK, StageFolder


def continued(folder: Path) -> str:
    """A stage whose agents continue from one scenario of each of two episodes. Returns the id of the first episode."""
    episodes = [record_episode(LineWorld(), seed, 6)[0] for seed in range(2)]
    names = ("walk-0", "walk-1")
    scenarios = [Scenario(name, "walk", episode) for name, episode in zip(names, episodes, strict=True)]
    write_suite(folder / SUITE, scenarios)
    (folder / "stage.json").write_text(json.dumps({"settings": {}}))
    (folder / "bc.json").write_text(json.dumps({"agent": {}, "results": [{"scenario": name} for name in names]}))
    unfinished = JsonLines(folder / "bc_rl.jsonl", key="number")
    unfinished.append({"number": 0, "agent": {}})
    for number, name in enumerate(names, 1):
        unfinished.append({"number": number, "result": {"scenario": name}})
        (folder / "bc" / name).mkdir(parents=True)
        (folder / "bc" / name / "0.npz").write_bytes(b"the context and what follows")
    return episodes[0].meta.id


def test_scenarios_of_an_episode_are_erased_with_their_continuations(tmp_path: Path) -> None:
    folder = tmp_path / "round-2/continue"
    episode = continued(folder)
    assert erase_scenarios(tmp_path, {episode}) == []
    assert [each.name for each in read_suite(folder / SUITE, LineWorld())] == ["walk-1"]
    assert json.loads((folder / "bc.json").read_text()) == {"agent": {}, "results": [{"scenario": "walk-1"}]}
    assert JsonLines(folder / "bc_rl.jsonl", key="number").read() == [
        {"number": 0, "agent": {}},
        {"number": 1, "result": {"scenario": "walk-1"}},
    ]
    assert [path.name for path in (folder / "bc").iterdir()] == ["walk-1"]


def test_suites_that_cannot_be_changed_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("interplay.stages.stage_folder.LOCK_SECONDS", 0.0)
    episode = continued(tmp_path / "continue")
    with StageFolder(tmp_path / "continue").locked(WORK_LOCK):
        assert erase_scenarios(tmp_path, {episode}) == ["continue/suite.zip"]
    assert len(read_suite(tmp_path / "continue" / SUITE, LineWorld())) == 2
    (tmp_path / "continue" / "bc.json").write_text('{"results": [{}]}')
    assert erase_scenarios(tmp_path, {episode}) == ["continue/suite.zip"]
    assert len(read_suite(tmp_path / "continue" / SUITE, LineWorld())) == 2, "the next deletion finds it again"
    (tmp_path / "continue" / SUITE).write_bytes(b"damaged")
    assert erase_scenarios(tmp_path, {episode}) == ["continue/suite.zip"]
