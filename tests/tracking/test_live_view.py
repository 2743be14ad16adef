"""The live view tells what the files of a run say, of any runtime, on a terminal and without one."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import NoReturn

import pytest
from rich.console import Console

from interplay.core.files import JsonLines
from interplay.launch import file_verbs
from interplay.launch.cli import main
from interplay.stages.stage_folder import WORK_LOCK, StageFolder
from interplay.tracking.dashboard import UpdateRate, format_line, render_summary, sparkline, watch
from interplay.tracking.metrics import read_metrics
from interplay.tracking.run_summary import RunSummary, read_run_summary

ROWS = [
    {"step": n, "loss": 8.0 / n, "steps": 100 * n, "lag": 1.0, "return": None if n < 3 else 0.5} for n in (1, 2, 3, 4)
]
PART = {
    "name": "actor-0", "kind": "actor", "activity": "plays unroll 12", "activity_seconds": 75.0,
    "idle_fraction": 0.25, "completed": 12,
    "restarts": 0, "pid": 7,
}  # fmt: skip
STARTING = PART | {"name": "learner", "kind": "learner", "activity": "starts", "activity_seconds": 1.0, "completed": 0}
CONFIG = {stage: {"training": {"updates": 20}} for stage in ("clone", "reward", "reinforce")}
CURSOR = "\x1b[?25h"  # it is seen again
WAITS = "waits for a training stage to begin"


class WatchedRun:
    """What a run does while it is watched: something at each waiting, a second apart, and then nothing any more.

    Only waiting takes time, however long reading and drawing take on a busy machine.
    """

    def __init__(self, root: Path, *does: Callable[[], object]) -> None:
        self._root = root
        self._does = list(does)
        self._passed = 0.0
        self._done_at = time.time()
        self.silent_seconds = 0.0  # in which nothing happened

    def read(self) -> RunSummary:
        return read_run_summary(self._root, self._done_at + self._passed)

    def wait(self, seconds: float) -> None:
        if self._does:
            self._does.pop(0)()
            self._done_at = time.time()
            self._passed += 1.0
        else:
            self._passed += seconds
            self.silent_seconds += seconds


def reinforcing(root: Path) -> tuple[Callable[[], object], ...]:
    """`reinforce` under Ray, once Ray is there: it starts, it learns, it is done."""
    folder, held = StageFolder(root / "reinforce"), ExitStack()

    def starts() -> None:
        held.enter_context(folder.locked())
        write_status(folder.path, STARTING)

    def learns() -> None:
        run_of(root)

    def ends() -> None:
        run_of(root, finished=True)
        held.close()

    return starts, learns, ends


def run_of(root: Path, stage: str = "reinforce", *, finished: bool = False, status_age: float | None = None) -> Path:
    folder = root / stage
    folder.mkdir(parents=True, exist_ok=True)
    (root / "config.json").write_text(json.dumps(CONFIG))
    (folder / "metrics.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    (folder / "stage.json").write_text(json.dumps({"finished": finished}))
    if status_age is not None:
        write_status(folder, PART, status_age)
    return root


def write_status(folder: Path, part: Mapping[str, object], age: float = 0.0) -> None:
    status = {"stage": folder.name, "time": time.time() - age, "update": 4, "workers": [part], "metrics": {}}
    (folder / "status.json").write_text(json.dumps(status))


def begun(root: Path) -> Path:
    """A run that a command has opened, and nothing more yet."""
    root.mkdir()
    (root / "config.json").write_text(json.dumps(CONFIG))
    return root


def terminal() -> Console:
    return Console(file=io.StringIO(), width=140, force_terminal=True, color_system=None)


def shown_on(console: Console) -> str:
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def drawn(summary: RunSummary, rate: float | None = None) -> str:
    console = terminal()
    console.print(render_summary(summary, rate))
    return shown_on(console)


def never(seconds: float) -> None:
    raise AssertionError(f"nothing was to be waited for, and {seconds} s were")


def interrupted(given: object) -> NoReturn:
    """Ctrl-C, whatever is being done."""
    raise KeyboardInterrupt


def test_a_standing_is_of_the_stage_that_wrote_last(tmp_path: Path) -> None:
    root = run_of(tmp_path / "mine", "clone", finished=True)
    os.utime(root / "clone" / "metrics.jsonl", (1, 1))
    summary = read_run_summary(run_of(root, status_age=1.0))
    assert (summary.run, summary.stage, summary.update, summary.total) == ("mine", "reinforce", 4, 20)
    assert not summary.finished
    assert summary.newest == {"loss": 2.0, "steps": 400, "lag": 1.0, "return": 0.5}
    assert summary.curve("return") == [0.5, 0.5]
    assert summary.workers == (PART,)


@pytest.mark.parametrize("rows", [0, 3, 200, 5000, 90_000])
def test_the_newest_rows_of_a_record_of_any_length(tmp_path: Path, rows: int) -> None:
    file = tmp_path / "metrics.jsonl"
    lines = [json.dumps({"step": n, "loss": 1 / n, "return": None}) for n in range(1, rows + 1)]
    file.write_text("".join(f"{format_line}\n" for format_line in lines) + '{"step": 9, "lo')  # as a kill leaves it
    assert JsonLines(file, key="step").newest(200) == list(read_metrics(file))[-200:]
    file.write_text("nonsense\n")
    with pytest.raises(ValueError, match="a line near its end is not a row of metrics: 'nonsense'"):
        JsonLines(file, key="step").newest(200)


def test_rows_with_the_old_name_of_a_metric_continue_its_curve(tmp_path: Path) -> None:
    root = run_of(tmp_path / "mine")
    file = root / "reinforce" / "metrics.jsonl"
    file.write_text('{"step": 2, "unpaid": 3.0}\n{"step": 4, "unscored": 5.0}\n')
    assert read_run_summary(root).curve("unscored") == [3.0, 5.0]
    assert read_metrics(file) == [{"step": 2, "unscored": 3.0}, {"step": 4, "unscored": 5.0}]


def test_an_old_status_is_not_shown_as_if_it_were_true(tmp_path: Path) -> None:
    summary = read_run_summary(run_of(tmp_path / "mine", status_age=300.0))
    assert not summary.workers
    assert "last reported 5:00 ago" in drawn(summary)


def test_the_picture_shows_the_way_the_metrics_and_the_parts(tmp_path: Path) -> None:
    told = drawn(read_run_summary(run_of(tmp_path / "mine", status_age=1.0)), rate=2.0)
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
    summary, rate = read_run_summary(run_of(tmp_path / "mine")), UpdateRate()
    assert rate.of(replace(summary, read_at=0.0, update=0)) is None
    assert rate.of(replace(summary, read_at=50.0, update=100)) == 2.0
    assert rate.of(replace(summary, read_at=100.0, update=150)) == 1.0  # the first reading has been forgotten
    assert rate.of(replace(summary, read_at=101.0, update=10)) is None  # it went back to a checkpoint


def test_a_rate_does_not_depend_on_the_time_of_day(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root, rate = run_of(tmp_path / "mine"), UpdateRate()
    assert rate.of(read_run_summary(root)) is None
    monkeypatch.setattr("time.time", lambda: 1e9)  # the clock has been set back by years
    later = read_run_summary(root)
    found = rate.of(replace(later, update=later.update + 8))
    assert found is not None and found > 0


def test_a_curve_goes_from_the_lowest_to_the_highest() -> None:
    assert sparkline([1, 2, 3, 4]) == "▁▃▆█"
    assert sparkline([5, 5]) == "▁▁"
    assert sparkline([]) == ""
    assert len(sparkline(range(1000), 24)) == 24


def test_a_rate_is_of_one_stage(tmp_path: Path) -> None:
    summary, rate = read_run_summary(run_of(tmp_path / "mine")), UpdateRate()
    assert rate.of(replace(summary, stage="clone", read_at=0.0, update=100)) is None
    assert rate.of(replace(summary, stage="reward", read_at=1.0, update=150)) is None
    assert rate.of(replace(summary, stage="reward", read_at=2.0, update=151)) == 1.0


def test_a_stage_counts_from_its_lock_on(tmp_path: Path) -> None:
    """As where Ray starts `reinforce` after `reward`, whose metrics are the newest that there are."""
    root = run_of(tmp_path / "mine", "reward", finished=True)
    assert format_line(read_run_summary(root), None).startswith(f"mine/reward 4/20 updates  done  {WAITS}  loss 2")
    with StageFolder(root / "reinforce").locked():
        assert format_line(read_run_summary(root), None) == "mine/reinforce 0/20 updates  starts"
        write_status(root / "reinforce", STARTING)
        summary = read_run_summary(root)
        assert format_line(summary, None) == "mine/reinforce 0/20 updates  starts  [learner: starts]"
        assert "mine · reinforce" in drawn(summary) and "learner" in drawn(summary)
        for_long = read_run_summary(root, time.time() + 1000)
        assert (for_long.stage, for_long.ended) == ("reinforce", False)  # for as long as it takes


def test_a_status_counts_where_a_lock_is_not_seen(tmp_path: Path) -> None:
    root = run_of(tmp_path / "mine", "reward", finished=True)
    (root / "reinforce").mkdir()
    write_status(root / "reinforce", STARTING, age=5.0)
    assert (read_run_summary(root).stage, read_run_summary(root).silent_seconds) == ("reinforce", None)
    later = read_run_summary(root, time.time() + 60)
    assert later.stage == "reward" and later.silent_seconds is not None


def test_a_finished_stage_that_goes_on_is_under_way(tmp_path: Path) -> None:
    root = run_of(tmp_path / "mine", finished=True, status_age=1.0)
    assert read_run_summary(root).finished
    with StageFolder(root / "reinforce").locked():
        assert not read_run_summary(root).finished
        assert read_run_summary(root).silent_seconds is None


def test_a_killed_stage_ends_the_run(tmp_path: Path) -> None:
    root = run_of(tmp_path / "mine")
    assert format_line(read_run_summary(root), None).startswith("mine/reinforce 4/20 updates  loss 2")  # who knows
    gone = read_run_summary(root, time.time() + 61)
    assert gone.ended and not gone.finished
    ended = "stopped or failed before its end  nothing written for 1:01"
    assert f"4/20 updates  {ended}  loss 2" in format_line(gone, None)
    assert format_line(gone, 2.0) == format_line(gone, None), "the rate of its last minute is no longer true"


def test_a_killed_stage_ends_the_run_although_the_clock_was_set_back(tmp_path: Path) -> None:
    root = run_of(tmp_path / "mine", status_age=1.0)
    gone = read_run_summary(root, time.time() - 3600)
    assert gone.ended and not gone.workers and gone.status_age is None
    assert "4/20 updates  stopped or failed before its end  loss 2" in format_line(gone, None)
    (root / "evaluate").mkdir()
    os.utime(root / "evaluate", (time.time() - 3590, time.time() - 3590))  # written since
    assert not read_run_summary(root, time.time() - 3600).ended


def test_a_run_before_its_first_training_stage_is_waited_for(tmp_path: Path) -> None:
    root = begun(tmp_path / "mine")
    assert format_line(read_run_summary(root), None) == f"mine  {WAITS}"
    assert WAITS in drawn(read_run_summary(root)) and "updates" not in drawn(read_run_summary(root))
    (root / "store").mkdir()
    recorded = root / "store" / "catalog.sqlite"
    recorded.touch()
    os.utime(recorded, (time.time() + 500, time.time() + 500))  # `collect` goes on
    assert not read_run_summary(root, time.time() + 550).ended
    (root / "error.txt").touch()
    os.utime(root / "error.txt", (time.time() + 600, time.time() + 600))
    with pytest.raises(ValueError, match="has no active training stage"):
        read_run_summary(root, time.time() + 600)


def test_a_stage_at_work_has_not_ended_however_long_it_writes_nothing(tmp_path: Path) -> None:
    """One that does not train, as a long `evaluate`, also in a later round and of the baselines of a run."""
    root = run_of(tmp_path / "mine", finished=True)
    later = time.time() + 600
    for name in ("evaluate", "round-2/mark", "baselines"):
        with StageFolder(root / name).locked(WORK_LOCK):
            assert not read_run_summary(root, later).ended
            line = format_line(read_run_summary(root, later), None)
            assert f"{name} is running" in line and WAITS not in line
        assert read_run_summary(root, later).ended


def test_a_run_that_ended_is_told_once(tmp_path: Path) -> None:
    file = io.StringIO()
    root = run_of(tmp_path / "mine", finished=True, status_age=1.0)
    summary = read_run_summary(root, time.time() + 100)
    watch(lambda: summary, Console(file=file), never)
    assert file.getvalue().splitlines() == [format_line(summary, None)]
    assert file.getvalue().startswith("mine/reinforce 4/20 updates  done  loss 2  steps 400")


def test_plain_lines_where_there_is_no_terminal(tmp_path: Path) -> None:
    file = io.StringIO()
    root = run_of(tmp_path / "mine", "reward", finished=True)
    story = WatchedRun(root, lambda: None, *reinforcing(root))
    watch(story.read, Console(file=file), story.wait)
    told = file.getvalue().splitlines()
    assert told[0].startswith(f"mine/reward 4/20 updates  done  {WAITS}")
    assert told[1] == "mine/reinforce 0/20 updates  starts  [learner: starts]"
    assert told[2].startswith("mine/reinforce 4/20 updates  ") and "updates/s" in told[2]
    assert told[-2].startswith(f"mine/reinforce 4/20 updates  done  {WAITS}")
    assert told[-1].startswith("mine/reinforce 4/20 updates  done  loss 2")
    assert all(line != following for line, following in pairwise(told))
    assert len(told) < 8  # readings that say the same print nothing
    assert 45 <= story.silent_seconds <= 75  # a minute, and lines are a quarter of one apart


def test_a_terminal_is_drawn_anew_until_the_run_has_ended(tmp_path: Path) -> None:
    root = begun(tmp_path / "mine")
    console, story = terminal(), WatchedRun(root, *reinforcing(root))
    watch(story.read, console, story.wait)
    shown = shown_on(console)
    places = [shown.index(each) for each in (WAITS, "0 / 20 updates", "learner", "4 / 20 updates", "done")]
    assert places == sorted(places)
    assert WAITS not in shown[shown.rindex("done") :]
    assert shown.endswith(CURSOR)
    assert 55 <= story.silent_seconds <= 62


def test_ctrl_c_ends_the_watching_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    root = run_of(tmp_path / "mine", status_age=1.0)
    console = terminal()
    with pytest.raises(KeyboardInterrupt):
        watch(lambda: read_run_summary(root), console, interrupted)
    assert "4 / 20 updates" in shown_on(console)
    assert shown_on(console).endswith(CURSOR)
    monkeypatch.setattr(file_verbs, "read_run_summary", interrupted)
    assert main(["watch", f"run.dir={tmp_path}", "run.name=mine"]) == 0
    assert "the run itself continues" in capsys.readouterr().err


def test_a_reader_that_has_ended_ends_the_watching_in_silence(tmp_path: Path) -> None:
    run_of(tmp_path / "mine", status_age=1.0)
    command = [sys.executable, "-c", "from interplay.launch.entry import console; console()", "watch", "run.name=mine"]
    watching = subprocess.Popen(
        [*command, f"run.dir={tmp_path}"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert watching.stdout is not None and watching.stderr is not None
    watching.stdout.close()  # as `head` does after some lines
    with watching.stderr:
        assert (watching.stderr.read(), watching.wait(300)) == ("", 0)


def test_watching_names_a_damaged_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    record = tmp_path / "mine/clone/stage.json"
    record.parent.mkdir(parents=True)
    (record.parent / "metrics.jsonl").touch()
    record.write_text('{"finished": tr')
    assert main(["watch", f"run.dir={tmp_path}", "run.name=mine"]) == 1
    assert f"{record} is damaged" in capsys.readouterr().err


def test_watching_says_where_there_is_nothing_to_watch(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    os.utime(begun(tmp_path / "none"), (0, 0))
    os.utime(tmp_path / "none" / "config.json", (0, 0))
    assert main(["watch", f"run.dir={tmp_path}", "run.name=none"]) == 1
    assert "has no active training stage" in capsys.readouterr().err
