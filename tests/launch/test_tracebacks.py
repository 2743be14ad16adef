"""Where the traceback of an error is: in the error.txt of the run, or on the screen."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import pytest
from tiny_runs import recorded, refused, tiny

from interplay.launch import verbs
from interplay.launch.cli import main
from interplay.launch.verbs import Verb
from interplay.stages.config import Config
from interplay.stages.run import Run


def test_a_refusal_keeps_its_traceback(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    settings = tiny(tmp_path)
    recorded(settings)
    kept = tmp_path / "run" / "error.txt"
    assert str(kept) in refused("clone", settings, capsys)
    refused("mark", settings, capsys)
    text = kept.read_text()
    assert text.count("Traceback (most recent call last)") == 2  # appended
    assert f"interplay clone {' '.join(settings)}" in text
    assert "episode_snapshot.py" in text  # where it was raised


def test_an_error_in_a_new_world_shows_its_traceback(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first command of a run has no folder in which the traceback could be kept."""
    (tmp_path / "worlds_of_mine.py").write_text(
        "from fake_world import LineWorld\n"
        "class Broken(LineWorld):\n"
        "    def reset(self, start, observers=None):\n"
        "        raise ValueError('in my reset')\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(
        "interplay.env.registry.make", lambda name, **_: importlib.import_module("worlds_of_mine").Broken()
    )
    assert main(["collect", *tiny(tmp_path)]) == 1
    said = capsys.readouterr().err
    assert "interplay collect: in my reset" in said and not (tmp_path / "run").exists()
    assert "in my reset\n  raised after 0 steps of the episode that begins with Start(seed=" in said
    assert "worlds_of_mine.py" in said and "raise ValueError('in my reset')" in said


def test_a_refusal_of_the_platform_shows_no_traceback(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "Traceback" not in refused("clone", tiny(tmp_path), capsys) and not (tmp_path / "run").exists()


def test_a_refusal_of_the_run_of_a_seed_keeps_its_traceback(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(run: Run) -> Path:
        raise ValueError(f"of {run.root.name}")

    monkeypatch.setattr("interplay.launch.paper_orderings.complete_round", broken)
    kept = tmp_path / "run" / "error.txt"
    assert str(kept) in refused("orderings", tiny(tmp_path), capsys)
    assert "of run-seed-1" in kept.read_text()


def test_internal_errors_keep_their_traceback(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(config: Config) -> int:
        raise ZeroDivisionError("ours")

    monkeypatch.setitem(verbs.VERBS, "look", Verb("break", broken))  # type: ignore[arg-type]
    with pytest.raises(ZeroDivisionError):
        main(["look", *tiny(tmp_path)])


@pytest.mark.parametrize("code", [None, 0, "enough"])
def test_a_library_that_exits_does_not_end_a_command_in_silence(
    code: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def leaving(config: Config) -> int:
        sys.exit(code)  # type: ignore[arg-type]

    monkeypatch.setitem(verbs.VERBS, "look", Verb("leave", leaving))
    assert main(["look", *tiny(tmp_path)]) == 1
    said = capsys.readouterr().err
    assert f"exited with {code!r}" in said and "in leaving" in said
