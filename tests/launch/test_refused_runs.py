"""A refused command leaves no new run behind, and removes nothing that it did not make."""

from __future__ import annotations

from pathlib import Path

import pytest
from tiny_runs import recorded, refused, tiny

from interplay.launch import opened_run
from interplay.stages.run import Run, open_run


@pytest.mark.parametrize(
    "typed",
    [
        *("clone", "collect-agent", "mark", "reward", "reinforce", "evaluate", "round 2"),
        *("collect", "demo", "play", "import mdc nowhere"),
    ],
)
def test_a_refused_command_leaves_no_new_run(typed: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    verb, *named = typed.split()
    refused(verb, [*named, *tiny(tmp_path / "made/for/it", "collect.setter.kinds={juggle: 1.0}")], capsys)
    assert not [*tmp_path.iterdir()]


def test_a_refused_catalog_leaves_no_new_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    refused("catalog", tiny(tmp_path, house=("env=gymnasium", "env.id=CartPole-v1")), capsys)
    assert not [*tmp_path.iterdir()]


def test_a_refused_command_leaves_the_folder_that_holds_its_run_and_others(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def beside_another(run: Run) -> Run:
        (run.root.parent / "other").mkdir()
        return run

    monkeypatch.setattr(opened_run, "open_run", lambda config: beside_another(open_run(config)))
    refused("play", tiny(tmp_path / "runs"), capsys)
    assert [path.name for path in (tmp_path / "runs").iterdir()] == ["other"]


def test_a_refused_stage_removes_no_run_that_it_did_not_make(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = tiny(tmp_path)
    recorded(settings)
    refused("clone", settings, capsys)
    assert (tmp_path / "run/config.json").exists()

    def beside_another(run: Run) -> Run:
        (run.root / "collect").mkdir()  # another process has begun to record
        return run

    monkeypatch.setattr(opened_run, "open_run", lambda config: beside_another(open_run(config)))
    refused("clone", [*settings, "run.name=other"], capsys)
    assert (tmp_path / "other/collect").exists()
