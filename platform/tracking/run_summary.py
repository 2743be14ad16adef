"""Summary of a run, read from its files while it runs: on this machine or on a shared disk."""

from __future__ import annotations

import fcntl
import json
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from interplay.core.files import JsonLines
from interplay.core.settings_group import settings_group
from interplay.tracking.metrics import with_current_metrics

MAX_ROWS = 200  # rows of metrics kept for the curves
STATUS_VALID_SECONDS = 10.0  # an older status.json is from a run that has ended or hangs
ENDED_AFTER_SECONDS = 60.0  # a run that has written nothing for this long has ended


@dataclass(frozen=True)
class RunSummary:
    """State of one training stage of a run."""

    run: str
    stage: str = ""  # empty before the first stage starts
    update: int = 0
    total: int = 0  # number of updates to make
    metrics_age: float = 0.0  # seconds since it last wrote metrics, or started
    finished: bool = False
    rows: tuple[Mapping[str, float | None], ...] = ()  # metrics, oldest first
    workers: tuple[Mapping[str, Any], ...] = ()  # under Ray, see `interplay.runtime.heartbeat.WorkerStatus`
    status_age: float | None = None  # seconds since the workers last reported; None without workers
    # Since the run last wrote anything, 0 while another stage is running; None while a training stage is active.
    silent_seconds: float | None = None
    other_stage: str = ""  # the stage that is running and does not train, as evaluate
    read_at: float = field(default_factory=time.monotonic)  # in seconds, of a clock that never jumps

    @property
    def ended(self) -> bool:
        """True if no training stage is active or about to start."""
        return self.silent_seconds is not None and self.silent_seconds > ENDED_AFTER_SECONDS

    @property
    def newest(self) -> Mapping[str, float]:
        """The last value of each metric; a row need not have every metric."""
        found: dict[str, float] = {}
        for row in self.rows:
            found |= {name: value for name, value in row.items() if value is not None and name != "step"}
        return found

    def curve(self, name: str) -> list[float]:
        """A metric's values, oldest first."""
        values = [row.get(name) for row in self.rows]
        return [value for value in values if value is not None]


def read_run_summary(root: Path, now: float | None = None) -> RunSummary:
    """Returns the active training stage of a run, or else the last one that has written metrics.

    Args:
        root: the run's folder.
        now: seconds since 1970; None reads the clock.

    Raises:
        ValueError: no stage is active or has written metrics, and the run has written nothing for
            `ENDED_AFTER_SECONDS`; or a file is damaged.
    """
    now = time.time() if now is None else now
    names = (".lock", "status.json", "metrics.jsonl")  # only training stages have these files
    patterns = [f"{of_round}*/{name}" for name in names for of_round in ("", "round-*/")]
    folders = sorted({file.parent for pattern in patterns for file in root.glob(pattern)}, key=_last_activity)
    active = [folder for folder in folders if _is_active(folder, now)]
    other = "" if active else _stage_at_work(root)
    silent_seconds = None if active else 0.0 if other else now - _last_write(root, now)
    if shown := active or [folder for folder in folders if (folder / "metrics.jsonl").exists()]:
        return replace(_summarize(root, shown[-1], silent_seconds, now), other_stage=other)
    summary = RunSummary(root.name, silent_seconds=silent_seconds, other_stage=other)
    if summary.ended:
        raise ValueError(f"{root} has no active training stage; name the run that you mean, for example run.name=mine")
    return summary


def _summarize(root: Path, folder: Path, silent_seconds: float | None, now: float) -> RunSummary:
    rows = tuple(map(with_current_metrics, JsonLines(folder / "metrics.jsonl", key="step").newest(MAX_ROWS)))
    settings = _read_json(folder.parent / "config.json").get(settings_group(folder.name), {})
    status = _read_json(folder / "status.json")
    age = now - float(status["time"]) if status else None
    if age is not None and age < -STATUS_VALID_SECONDS:  # the clock was set back since
        status, age = {}, None
    return RunSummary(
        run=root.name,
        stage=str(folder.relative_to(root)),
        update=int(rows[-1]["step"]) if rows else 0,
        total=int(settings.get("training", {}).get("updates", 0)),
        metrics_age=now - _last_activity(folder),
        finished=silent_seconds is not None and _is_finished(folder),
        rows=rows,
        workers=tuple(status["workers"]) if status and age is not None and age < STATUS_VALID_SECONDS else (),
        status_age=age,
        silent_seconds=silent_seconds,
    )


def _is_active(folder: Path, now: float) -> bool:
    """True if a process works on this stage: it holds the lock, or an unfinished stage has written recently.

    A finished stage can be extended to more updates, so the lock counts first. Recent files count as well, because the
    lock is free while a dead learner restarts, and locks may not reach across machines.
    """
    if _is_locked(folder / ".lock"):
        return True
    reported = float(_read_json(folder / "status.json").get("time", 0.0))
    written = (reported, _modified_at(folder / "metrics.jsonl"))
    return any(abs(now - each) <= ENDED_AFTER_SECONDS for each in written) and not _is_finished(folder)


def _stage_at_work(root: Path) -> str:
    """The stage that does not train and whose lock a process holds, or empty. It may write nothing for minutes."""
    files = (file for pattern in ("*/.busy", "round-*/*/.busy") for file in root.glob(pattern))
    return next((str(file.parent.relative_to(root)) for file in files if _is_locked(file)), "")


def _is_locked(file: Path) -> bool:
    """True if a process holds this lock. Testing takes it briefly; a stage that starts in this moment retries."""
    if not file.exists():
        return False
    with file.open() as opened:
        try:
            fcntl.flock(opened, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False


def _is_finished(folder: Path) -> bool:
    return bool(_read_json(folder / "stage.json").get("finished"))


def _last_activity(folder: Path) -> float:
    """When a stage last wrote metrics, started or resumed, in seconds since 1970."""
    return max(_modified_at(folder / ".lock"), _modified_at(folder / "metrics.jsonl"))


def _last_write(root: Path, now: float) -> float:
    """When any file of a run was last written, except error.txt, which a failed command leaves, and files of the
    future, from before the clock was set back."""
    files = (*root.glob("*"), *root.glob("*/*"), *root.glob("round-*/*/*"))
    written = (_modified_at(file) for file in files if file.name != "error.txt")
    return max((each for each in written if each <= now + ENDED_AFTER_SECONDS), default=0.0)


def _modified_at(file: Path) -> float:
    """Modification time in seconds since 1970; 0 for a missing file, because files come and go during a run."""
    try:
        return file.stat().st_mtime
    except FileNotFoundError:
        return 0.0


def _read_json(file: Path) -> dict[str, Any]:
    """Reads a JSON object, {} for a missing file. Raises ValueError, with the file's name, for a damaged one."""
    try:
        loaded: dict[str, Any] = json.loads(file.read_text()) if file.exists() else {}
    except ValueError as error:
        raise ValueError(f"{file} is damaged ({error}); restore it from a copy") from error
    return loaded
