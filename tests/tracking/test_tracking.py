from __future__ import annotations

import io
import json
import logging
import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from event_files import needs_tensorboard, shown_by_tensorboard

from interplay.tracking.config import TrackingConfig
from interplay.tracking.metrics import MetricsFile, read_metrics
from interplay.tracking.progress import Progress
from interplay.tracking.tensorboard_sink import TensorBoardSink
from interplay.tracking.trackers import Trackers, open_dashboards
from interplay.tracking.wandb_sink import WandbSink, resolve_mode


def test_a_row_is_on_disk_as_soon_as_it_is_logged(tmp_path: Path) -> None:
    metrics = MetricsFile(tmp_path / "run" / "metrics.jsonl")
    metrics.log(1, {"loss": 0.123456789, "share": 1})
    assert list(read_metrics(tmp_path / "run" / "metrics.jsonl")) == [{"step": 1, "loss": 0.1234568, "share": 1.0}]


def test_counts_are_written_exactly(tmp_path: Path) -> None:
    metrics = MetricsFile(tmp_path / "metrics.jsonl")
    metrics.log(1, {"steps": 123_456_789, "loss": 123_456_789.4})
    assert read_metrics(tmp_path / "metrics.jsonl") == [{"step": 1, "steps": 123_456_789.0, "loss": 123_456_800.0}]


def test_a_number_that_is_none_is_null_and_warned_about_once(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    metrics = MetricsFile(tmp_path / "metrics.jsonl")
    for step in (1, 2):
        metrics.log(step, {"loss": float("nan"), "norm": float("inf")})
    text = (tmp_path / "metrics.jsonl").read_text()
    assert "NaN" not in text and "Infinity" not in text
    assert [row["loss"] for row in read_metrics(tmp_path / "metrics.jsonl")] == [None, None]
    assert [record.getMessage().split()[0] for record in caplog.records] == ["loss", "norm"]


def test_a_resumed_run_lives_through_its_lost_rows_again(tmp_path: Path) -> None:
    path = tmp_path / "metrics.jsonl"
    first = MetricsFile(path)
    for step in range(5):
        first.log(step, {"loss": step})
    with path.open("a") as file:
        file.write('{"step": 5, "lo')  # killed in the middle of a line
    second = MetricsFile(path, resume_step=2)
    second.log(3, {"loss": 30})
    assert [(row["step"], row["loss"]) for row in read_metrics(path)] == [(0, 0), (1, 1), (2, 2), (3, 30)]
    assert list(tmp_path.iterdir()) == [path]
    MetricsFile(path)
    assert path.read_text() == ""


def test_a_missing_file_is_not_a_run_without_rows(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"no metrics file .*nowhere; give the metrics\.jsonl of a training"):
        read_metrics(tmp_path / "nowhere")
    MetricsFile(tmp_path / "metrics.jsonl")
    assert read_metrics(tmp_path / "metrics.jsonl") == []


def test_a_spoilt_file_is_named_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "metrics.jsonl"
    path.write_text('{"step": 1}\nhello\n{"step": 2}\n')
    with pytest.raises(ValueError, match="line 2 is not a row of metrics: 'hello'"):
        MetricsFile(path, resume_step=9)
    assert path.read_text().startswith('{"step": 1}\nhello')


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def shown(stream: io.StringIO, clock: Clock, seconds: float, steps: int = 10) -> list[str]:
    progress = Progress(
        1000, "steps", {"success": "eval/success", "loss": "loss"}, title="clone", stream=stream, clock=clock
    )
    for step in range(1, steps + 1):
        clock.now += seconds
        progress.log(step, {"loss": 0.5 / step, "other": 3.0} | ({"eval/success": 0.75} if step == 2 else {}))
    progress.close()
    return stream.getvalue().split("\r" if stream.isatty() else "\n")


def test_a_file_gets_a_plain_line_now_and_then() -> None:
    lines = shown(io.StringIO(), Clock(), seconds=5)
    assert lines[0] == "clone 1/1,000 steps  loss 0.5", "the rate of a single step is unknown"
    assert [line.split()[1] for line in lines if line] == ["1/1,000", "4/1,000", "7/1,000", "10/1,000"]
    assert lines[1] == "clone 4/1,000 steps  0.2 steps/s  1:23:00 left  loss 0.125  success 0.75"
    assert "\r" not in "".join(lines)


def test_a_terminal_has_one_line_rewritten() -> None:
    drawn = shown(Terminal(), Clock(), seconds=0.125)
    assert len(drawn) == 7  # the first, then every second one, and the last
    assert drawn[-1].endswith("\n")
    assert "\n" not in "".join(drawn[:-1])
    assert all(len(line) < 100 for line in drawn)


def test_the_rate_of_updates_leaves_out_the_start_up() -> None:
    clock = Clock()
    progress = Progress(1000, "updates", {}, start=500, leaves_out_first=True, stream=io.StringIO(), clock=clock)
    clock.now += 300
    progress.log(510, {})
    assert progress.line() == "510/1,000 updates"
    clock.now += 9
    progress.log(600, {})
    assert progress.line() == "600/1,000 updates  10 updates/s  0:40 left"


def test_episodes_that_end_together_count_from_their_start() -> None:
    clock = Clock()
    progress = Progress(128, "episodes", {}, stream=io.StringIO(), clock=clock)
    clock.now += 19.36
    for done in range(1, 65):  # as of 64 lanes with one time limit
        clock.now += 0.01
        progress.log(done, {})
    assert progress.line() == "64/128 episodes  3.2 episodes/s  0:20 left"


def test_the_rate_of_a_resumed_run_leaves_out_what_was_done_before() -> None:
    clock = Clock()
    progress = Progress(1000, "steps", {}, start=500, stream=io.StringIO(), clock=clock)
    clock.now += 10
    progress.log(600, {})
    assert progress.line() == "600/1,000 steps  10 steps/s  0:40 left"


def test_the_line_is_shown_before_the_first_row_of_metrics() -> None:
    clock, stream = Clock(), io.StringIO()
    with Progress(1000, "updates", {"loss": "loss"}, title="clone", stream=stream, clock=clock) as progress:
        assert stream.getvalue() == "clone 0/1,000 updates\n"
        for update in range(1, 5):
            clock.now += 10
            if update == 4:
                progress.log(update, {"loss": 0.5})
            progress.advance(update)
        clock.now += 10
        progress.log(5, {"loss": 0.25})
        progress.advance(5)
    assert stream.getvalue().splitlines()[1:] == [
        "clone 2/1,000 updates  0.1 updates/s  2:46:20 left",
        "clone 4/1,000 updates  0.1 updates/s  2:46:00 left  loss 0.5",
        "clone 5/1,000 updates  0.1 updates/s  2:45:50 left  loss 0.25",
    ]


class FakeWandb:
    """Checks what it is given as wandb 0.31 does, and remembers it."""

    KNOWN = (
        "silent", "console", "save_code", "disable_code", "disable_git", "x_disable_meta", "x_disable_stats",
        "init_timeout", "finish_timeout", "finish_timeout_raises",
    )  # fmt: skip

    def __init__(self, failing: str = "") -> None:
        self.failing = failing
        self.id = "abc"
        self.rows: list[Mapping[str, float]] = []
        self.finished = 0
        self.init_arguments: dict[str, Any] = {}

    def Settings(self, **settings: Any) -> dict[str, Any]:
        assert set(settings) <= set(self.KNOWN) and settings["finish_timeout"] > 0
        return settings

    def init(self, **arguments: Any) -> FakeWandb:
        self._may_fail("init")
        assert arguments["mode"] in ("online", "offline", "disabled")
        assert arguments["id"] != "", "Run ID cannot be empty"
        self.init_arguments = arguments
        self.id = arguments["id"] or self.id
        return self

    def define_metric(self, name: str, step_metric: str | None = None) -> None:
        assert step_metric in (None, "step"), name

    def log(self, row: Mapping[str, float]) -> None:
        self._may_fail("log")
        self.rows.append(dict(row))

    def finish(self) -> None:
        self._may_fail("finish")
        self.finished += 1

    def _may_fail(self, where: str) -> None:
        if where == self.failing:
            raise ConnectionError(f"no {where} today")


def test_wandb_gets_our_own_step_and_the_saved_run(tmp_path: Path) -> None:
    fake = FakeWandb()
    (tmp_path / "wandb_run_id").write_text("saved")
    sink = WandbSink(TrackingConfig(wandb="offline"), tmp_path, settings={"a": 1}, wandb=fake)
    sink.start()
    sink.log(7, {"loss": 1.0})
    sink.close()
    assert (fake.id, fake.init_arguments["resume"], fake.init_arguments["config"]) == ("saved", "allow", {"a": 1})
    assert fake.rows == [{"step": 7, "loss": 1.0}]
    assert fake.finished == 1
    fresh = WandbSink(TrackingConfig(wandb="offline"), tmp_path, settings={}, fresh=True, wandb=FakeWandb())
    fresh.start()
    assert kept_id(tmp_path) == "abc"


def kept_id(folder: Path) -> str:
    """The id of the wandb run that a folder continues."""
    return (folder / "wandb_run_id").read_text().split()[0]


def continued(folder: Path) -> str | None:
    """The id of the wandb run that a stage continues in this folder."""
    fake = FakeWandb()
    WandbSink(TrackingConfig(wandb="offline"), folder, settings={}, wandb=fake).start()
    found: str | None = fake.init_arguments["id"]
    return found


def test_a_copy_of_a_folder_logs_to_a_wandb_run_of_its_own(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    original, copy, moved = (tmp_path / name for name in ("original", "a copy", "moved"))
    assert [continued(original), continued(original)] == [None, "abc"]
    shutil.copytree(original, copy)
    original.rename(moved)
    assert continued(moved) == "abc" and not caplog.messages
    shutil.copytree(copy, original)
    assert continued(original) == "abc" and not caplog.messages, "brought back, as from a backup"
    assert continued(copy) is None
    assert f"{copy / 'wandb_run_id'} is a copy of {original / 'wandb_run_id'}: this stage" in caplog.text
    caplog.clear()
    assert continued(copy) == "abc" and not caplog.messages, "that of its own"
    shutil.copytree(copy, tmp_path / "other")
    (tmp_path / "other/wandb_run_id").write_text("abc\n")  # as the warning says
    assert continued(tmp_path / "other") == "abc"


def test_a_stage_that_was_killed_before_it_kept_the_id_of_its_wandb_run_begins_another(tmp_path: Path) -> None:
    (tmp_path / "wandb_run_id").touch()
    fake = FakeWandb()
    WandbSink(TrackingConfig(wandb="offline"), tmp_path, settings={}, wandb=fake).start()
    assert fake.init_arguments["id"] is None and kept_id(tmp_path) == "abc"


@pytest.mark.parametrize(("mode", "notices"), [("online", 1), ("offline", 0)])
def test_a_wait_for_the_server_of_wandb_is_short_and_announced(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, mode: str, notices: int
) -> None:
    fake = FakeWandb()
    with caplog.at_level(logging.INFO):
        WandbSink(TrackingConfig(wandb=mode), tmp_path, settings={}, wandb=fake).start()
    limit = fake.init_arguments["settings"]["init_timeout"]
    assert 0 < limit <= 30
    assert [f"connecting to wandb, for up to {limit:.0f} s"] * notices == caplog.messages


@pytest.mark.parametrize("failing", ["init", "log", "finish"])
def test_a_failing_wandb_is_named_once_and_ends_nothing(
    tmp_path: Path, failing: str, caplog: pytest.LogCaptureFixture
) -> None:
    sink = WandbSink(TrackingConfig(wandb="offline"), tmp_path, settings={}, wandb=FakeWandb(failing))
    sink.start()
    both = Trackers([sink, MetricsFile(tmp_path / "metrics.jsonl")])
    for step in range(3):
        both.log(step, {"loss": 1.0})
    both.close()
    assert len(list(read_metrics(tmp_path / "metrics.jsonl"))) == 3
    assert len(caplog.records) == 1
    assert f"no {failing} today" in caplog.text and "metrics.jsonl" in caplog.text
    assert "tracking.wandb=offline" in caplog.text and "tracking.wandb=disabled turns wandb off" in caplog.text


def test_auto_is_online_only_with_an_account(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("WANDB_API_KEY", raising=False)
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    assert resolve_mode("auto") == "offline"
    (tmp_path / "netrc").write_text("machine api.wandb.ai login user password x\n")
    (tmp_path / "netrc").chmod(0o600)
    assert resolve_mode("auto") == "online"
    (tmp_path / "netrc").write_text("machine example.org login user password x\n")
    assert resolve_mode("auto") == "offline"
    monkeypatch.setenv("WANDB_API_KEY", "x")
    assert resolve_mode("auto") == "online"
    assert resolve_mode("disabled") == "disabled"
    with pytest.raises(ValueError, match="choose one of auto, online, offline, disabled"):
        TrackingConfig(wandb="sometimes")


OFFLINE_RUN = """
import sys
from pathlib import Path
from interplay.tracking.config import TrackingConfig
from interplay.tracking.wandb_sink import WandbSink

sink = WandbSink(TrackingConfig(wandb="offline", name="trial"), sys.argv[1], settings={"seed": 3})
sink.start()
for step in range(3):
    sink.log(step, {"loss": 0.5})
sink.close()
sys.stdout.write(Path(sys.argv[1], "wandb_run_id").read_text().split()[0])
"""


@pytest.mark.parametrize("home", [None, "/proc/none"])
def test_a_real_offline_run_keeps_no_secret_of_the_machine_and_calls_no_server(
    tmp_path: Path, home: str | None
) -> None:
    """Also without a home that can be written."""
    environment = {**os.environ, "PLATFORM_SECRET": "hunter2-in-the-open"}
    for name in ("WANDB_API_KEY", "WANDB_CACHE_DIR", "WANDB_ERROR_REPORTING", "XDG_CACHE_HOME"):
        environment.pop(name, None)
    if home is not None:
        environment["HOME"] = home
    server = socket.create_server(("127.0.0.1", 0))
    environment["WANDB_BASE_URL"] = f"http://127.0.0.1:{server.getsockname()[1]}"
    done = subprocess.run(
        [sys.executable, "-c", OFFLINE_RUN, str(tmp_path), "--key=swordfish-typed-by-hand"],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    run_id = done.stdout
    assert done.stderr == ""
    files = [path for path in (tmp_path / "wandb").rglob("*") if path.is_file()]
    assert any(path.name == f"run-{run_id}.wandb" for path in files)
    for secret in (b"hunter2-in-the-open", b"swordfish-typed-by-hand"):
        assert not any(secret in path.read_bytes() for path in files)
    server.setblocking(False)
    with server, pytest.raises(BlockingIOError):  # no one has connected
        server.accept()


@needs_tensorboard
def test_tensorboard_shows_each_row_once_after_a_kill(tmp_path: Path) -> None:
    killed = TensorBoardSink(tmp_path, settings={"seed": 3}, resume_step=None)
    killed.start()
    for step in range(1, 6):
        killed.log(step, {"loss": step, "success/go": 0.5})
    # `killed` is never closed: its rows are on disk all the same.
    assert shown_by_tensorboard(tmp_path)[0]["loss"] == [(step, step) for step in range(1, 6)]
    resumed = TensorBoardSink(tmp_path, settings={"seed": 3}, resume_step=3)
    resumed.start()
    resumed.log(4, {"loss": 40.0, "success/go": float("nan")})
    resumed.close()
    curves, texts = shown_by_tensorboard(tmp_path)
    assert curves["loss"] == [(1, 1), (2, 2), (3, 3), (4, 40)]
    assert texts == ["settings/text_summary"]
    again = TensorBoardSink(tmp_path, settings={}, resume_step=None)
    again.start()
    again.log(1, {"loss": 7.0})
    again.close()
    assert shown_by_tensorboard(tmp_path)[0] == {"loss": [(1, 7.0)]}


@needs_tensorboard
def test_tensorboard_shows_each_row_once_after_the_clock_was_set_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started = int(time.time())
    for attempt in range(3):
        monkeypatch.setattr(time, "time", lambda attempt=attempt: started - 1000.0 * attempt)
        sink = TensorBoardSink(tmp_path, settings={}, resume_step=attempt or None)
        sink.start()
        for step in range(attempt + 1, 4):
            sink.log(step, {"loss": 10.0 * attempt})
        sink.close()
    assert shown_by_tensorboard(tmp_path)[0] == {"loss": [(1, 0.0), (2, 10.0), (3, 20.0)]}


@needs_tensorboard
def test_a_stage_that_logs_its_only_row_again_replaces_it(tmp_path: Path) -> None:
    config = TrackingConfig(wandb="disabled", tensorboard=True)
    for value in (0.25, 0.75):
        dashboards = open_dashboards(tmp_path, config, run="mine", settings={}, resume_step=0)
        dashboards.log(1, {"success": value})
        dashboards.close()
    assert shown_by_tensorboard(tmp_path) == ({"success": [(1, 0.75)]}, ["settings/text_summary"])


@needs_tensorboard
def test_a_failing_tensorboard_is_named_once_and_ends_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    sink = TensorBoardSink(tmp_path, settings={}, resume_step=None)
    sink.start()
    monkeypatch.setattr(sink._writer, "flush", lambda: (_ for _ in ()).throw(OSError("disk full")))
    for step in range(3):
        sink.log(step, {"loss": 1.0})
    sink.close()
    assert len(caplog.records) == 1
    assert "disk full" in caplog.text and "tracking.tensorboard=false turns TensorBoard off" in caplog.text


def test_json_rows_are_plain(tmp_path: Path) -> None:
    path = tmp_path / "metrics.jsonl"
    MetricsFile(path).log(3, {"b": 1e-12, "a": 2.0})
    assert json.loads(path.read_text()) == {"step": 3, "b": 1e-12, "a": 2.0}
