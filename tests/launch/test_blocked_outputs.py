"""Files that can't be written: named before the work whose results they are to hold."""

from __future__ import annotations

from pathlib import Path

import pytest
from tiny_runs import recorded, refused, tiny


@pytest.mark.parametrize(
    ("verb", "folder", "file", "damaged"),  # in the place of a file, in the place of a folder, read by the work first
    [
        ("report", "report.html", "", "collect/stage.json"),
        ("inspect-reward", "reward-inspection.json", "", "reward/stage.json"),
        ("score", "studio/memories.npz", "", "reward/checkpoints"),
        ("score", "", "studio", "reward/checkpoints"),
        ("look", "look.png", "", ""),
        ("catalog", "catalog/houses-1.png", "", ""),
        ("catalog", "", "catalog", ""),
    ],
)
def test_an_output_that_cannot_be_written_is_named_before_the_work(
    verb: str, folder: str, file: str, damaged: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = tiny(tmp_path, "env=playhouse", house=())
    run = recorded(settings).root
    if folder:
        (run / folder).mkdir(parents=True)
    for name in filter(None, (file, damaged)):
        (run / name).parent.mkdir(exist_ok=True)
        (run / name).write_text("damaged")
    said = refused(verb, settings, capsys)
    place = "a folder is in the place of this file" if folder else "a file is in the place of this folder"
    assert said.startswith(f"interplay {verb}: {run / (folder or file)}: {place}; remove or repair it, or choose")


@pytest.mark.parametrize(("verb", "output"), [("demo", "summary.json"), ("orderings", "results.md")])
def test_a_round_whose_report_cannot_be_written_does_not_begin(
    verb: str, output: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "run" / output).mkdir(parents=True)
    said = refused(verb, tiny(tmp_path), capsys)
    assert f"{tmp_path / 'run' / output}: a folder is in the place of this file" in said
    assert not list(tmp_path.glob("run*/store")), "nothing is recorded"
