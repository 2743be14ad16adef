"""The live view tells what the files of a run say, of any runtime, on a terminal and without one."""

from __future__ import annotations

import io
import json
import os
import time
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from interplay.launch.cli import main
from interplay.tracking.dashboard import Rate, line, picture, spark, watch
from interplay.tracking.metrics import newest_metrics, read_metrics
from interplay.tracking.standing import Standing, read_standing

ROWS = [
    {"step": n, "loss": 8.0 / n, "steps": 100 * n, "lag": 1.0, "return": None if n < 3 else 0.5} for n in (1, 2, 3, 4)
]
PART = {
    "name": "actor-0", "kind": "actor", "doing": "plays unroll 12", "since": 75.0, "idle": 0.25, "made": 12,
    "restarts": 0, "pid": 7,
}  # fmt: skip


def run_of(root: Path, stage: str = "reinforce", *, finished: bool = False, status_age: float | None = None) -> Path:
    folder = root / stage
    folder.mkdir(parents=True)
    (root / "config.json").write_text(json.dumps({stage: {"training": {"updates": 20}}}))
    (folder / "metrics.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    (folder / "stage.json").write_text(json.dumps({"finished": finished}))
    if status_age is not None:
        status = {"stage": stage, "time": time.time() - status_age, "update": 4, "parts": [PART], "metrics": {}}
        (folder / "status.json").write_text(json.dumps(status))
    return root


def drawn(standing: Standing, rate: float | None = None) -> str:
    console = Console(file=io.StringIO(), width=140, force_terminal=True, color_system=None)
    console.print(picture(standing, rate))
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_a_standing_is_of_the_stage_that_wrote_last(tmp_path: Path) -> None:
    root = run_of(tmp_path / "mine", "clone", finished=True)
    os.utime(root / "clone" / "metrics.jsonl", (1, 1))
    standing = read_standing(run_of(root, status_age=1.0))
    assert (standing.run, standing.stage, standing.update, standing.total) == ("mine", "reinforce", 4, 20)
    assert not standing.finished
    assert standing.newest == {"loss": 2.0, "steps": 400, "lag": 1.0, "return": 0.5}
    assert standing.curve("return") == [0.5, 0.5]
    assert standing.parts == (PART,)


@pytest.mark.parametrize("rows", [0, 3, 200, 5000, 90_000])
def test_the_newest_rows_of_a_record_of_any_length(tmp_path: Path, rows: int) -> None:
    file = tmp_path / "metrics.jsonl"
    lines = [json.dumps({"step": n, "loss": 1 / n, "return": None}) for n in range(1, rows + 1)]
    file.write_text("".join(f"{line}\n" for line in lines) + '{"step": 9, "lo')  # as a kill leaves it
    assert newest_metrics(file, 200) == list(read_metrics(file))[-200:]
    file.write_text("nonsense\n")
    with pytest.raises(ValueError, match="near its end, is no row of metrics: 'nonsense'"):
        newest_metrics(file, 200)


def test_an_old_status_is_not_shown_as_if_it_were_true(tmp_path: Path) -> None:
    standing = read_standing(run_of(tmp_path / "mine", status_age=300.0))
    assert not standing.parts
    assert "last heard 5:00 ago" in drawn(standing)


def test_the_picture_shows_the_way_the_metrics_and_the_parts(tmp_path: Path) -> None:
    told = drawn(read_standing(run_of(tmp_path / "mine", status_age=1.0)), rate=2.0)
    for wanted in (
        "mine · reinforce",
        "4 / 20 updates",
        "2 updates/s  0:08 left",
        "loss",
        "actor-0",
        "plays unroll 12",
    ):
        assert wanted in told
    row = next(each for each in told.splitlines() if "actor-0" in each).split()
    assert row[5:9] == ["1:15", "25%", "12", "0"]


def test_a_rate_is_taken_over_a_minute(tmp_path: Path) -> None:
    standing, rate = read_standing(run_of(tmp_path / "mine")), Rate()
    assert rate.of(replace(standing, clock=0.0, update=0)) is None
    assert rate.of(replace(standing, clock=50.0, update=100)) == 2.0
    assert rate.of(replace(standing, clock=100.0, update=150)) == 1.0  # the first reading has been forgotten
    assert rate.of(replace(standing, clock=101.0, update=10)) is None  # it went back to a checkpoint


def test_a_curve_goes_from_the_lowest_to_the_highest() -> None:
    assert spark([1, 2, 3, 4]) == "▁▃▆█"
    assert spark([5, 5]) == "▁▁"
    assert spark([]) == ""
    assert len(spark(range(1000), 24)) == 24


def test_plain_lines_where_there_is_no_terminal(tmp_path: Path) -> None:
    file = io.StringIO()
    root = run_of(tmp_path / "mine", finished=True, status_age=1.0)
    watch(lambda: read_standing(root), Console(file=file))  # ends, for the stage has finished
    assert file.getvalue().splitlines() == [line(read_standing(root), None)]
    assert file.getvalue().startswith("mine/reinforce 4/20 updates  done  loss 2  steps 400")


def test_watching_says_where_there_is_nothing_to_watch(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["watch", f"run.dir={tmp_path}", "run.name=none"]) == 1
    assert "has no training stage under way" in capsys.readouterr().err
    assert not (tmp_path / "none").exists()
