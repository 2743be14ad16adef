"""Names of runs that do not exist: nothing is made, and the run with a similar name is named."""

from __future__ import annotations

from pathlib import Path

import pytest
from tiny_runs import recorded, refused, tiny


@pytest.mark.parametrize(
    "typed", ["report", "inspect-reward", "score", "serve-reward", "export", "forget p-7qk2mz", "watch", "reindex"]
)
def test_a_run_that_does_not_exist_is_not_made(typed: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    recorded(tiny(tmp_path))
    verb, *named = typed.split()
    said = refused(verb, [*named, *tiny(tmp_path), "run.name=rum"], capsys)
    assert f"there is no run in {tmp_path / 'rum'}" in said and "Did you mean 'run'?" in said
    assert not (tmp_path / "rum").exists()


@pytest.mark.parametrize(
    "verb", ["clone", "mark", "evaluate", "replay", "round 2", "demo reinforce.start=clone-setter"]
)
def test_a_mistyped_run_is_named_where_a_stage_finds_nothing_in_it(
    verb: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    verb, *named = verb.split()
    assert "is new" not in refused(verb, [*named, *tiny(tmp_path)], capsys)  # no other run has a similar name
    recorded(tiny(tmp_path))
    said = refused(verb, [*named, *tiny(tmp_path), "run.name=rum"], capsys)
    assert said.endswith("\n  run.name=rum is new. Did you mean 'run'?\n")
    assert not (tmp_path / "rum").exists()


def test_an_error_with_another_cause_names_no_other_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    recorded(tiny(tmp_path))
    said = refused("collect", [*tiny(tmp_path), "run.name=rum", "run.round=2"], capsys)
    assert "collect belongs to the run" in said and "is new" not in said


@pytest.mark.parametrize("verb", ["collect", "report"])
def test_a_name_that_is_too_long_for_the_file_system_is_refused(
    verb: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    said = refused(verb, [*tiny(tmp_path), f"run.name={'n' * 256}"], capsys)
    assert "File name too long" in said and "choose another run with run.name=..." in said


def test_a_folder_of_runs_that_cannot_be_read_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / ("n" * 256)
    said = refused("report", [f"run.dir={folder}", "run.name=mine", "run.settings=recorded"], capsys, code=2)
    assert f"{folder}/mine has no readable config.json" in said and "File name too long" in said
