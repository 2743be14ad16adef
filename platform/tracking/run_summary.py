"""How a run stands, read from what it writes: any run, on this machine or on a disk that both see, while it goes on."""

from __future__ import annotations

import fcntl
import json
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from interplay.tracking.metrics import newest_metrics

NEWEST = 200  # rows of metrics that are kept, for the curves
FRESH = 10.0  # seconds for which a status is believed; older ones are of a run that has ended or hangs
PATIENCE = 60.0  # seconds for which nothing need be written, by a stage or between two; then it has ended


@dataclass(frozen=True)
class RunSummary:
    """One training stage of a run."""

    run: str
    stage: str  # empty where none has begun
    update: int
    total: int  # updates that it is to make
    age: float  # seconds since it last wrote metrics, or began
    finished: bool
    rows: tuple[Mapping[str, float | None], ...] = ()  # of metrics, oldest first
    workers: tuple[Mapping[str, Any], ...] = ()  # of a run under Ray: see `interplay.runtime.status.WorkerStatus`
    status_age: float | None = None  # seconds since the parts were last heard; None where there are none
    quiet: float | None = None  # seconds since the run wrote anything; None while a training stage is under way
    clock: float = field(default_factory=time.time)  # when this was read

    @property
    def ended(self) -> bool:
        """Nothing is under way, nor will be soon."""
        return self.quiet is not None and self.quiet > PATIENCE

    @property
    def newest(self) -> Mapping[str, float]:
        """Each metric's last value; rows need not have all of them."""
        found: dict[str, float] = {}
        for row in self.rows:
            found |= {name: value for name, value in row.items() if value is not None and name != "step"}
        return found

    def curve(self, name: str) -> list[float]:
        """A metric's values, oldest first."""
        values = [row.get(name) for row in self.rows]
        return [value for value in values if value is not None]


def read_standing(root: Path, now: float | None = None) -> RunSummary:
    """The training stage of a run that is under way; where none is, the last that has written metrics.

    Args:
        root: of the run.
        now: seconds since 1970; the clock's where it is None.

    Raises:
        ValueError: no stage has written metrics or is under way, and the run has written nothing for `PATIENCE`; or a
            file is damaged.
    """
    now = time.time() if now is None else now
    names = (".lock", "status.json", "metrics.jsonl")  # what training stages have, and no others
    folders = sorted({file.parent for name in names for file in root.glob(f"*/{name}")}, key=_began_or_wrote)
    under_way = [folder for folder in folders if _under_way(folder, now)]
    quiet = None if under_way else now - _wrote(root)
    if shown := under_way or [folder for folder in folders if (folder / "metrics.jsonl").exists()]:
        return _standing(shown[-1], quiet, now)
    standing = RunSummary(root.name, stage="", update=0, total=0, age=0.0, finished=False, quiet=quiet, clock=now)
    if standing.ended:
        raise ValueError(f"{root} has no training stage under way; give the run that you mean, as run.name=mine")
    return standing


def _standing(folder: Path, quiet: float | None, now: float) -> RunSummary:
    metrics = folder / "metrics.jsonl"
    rows = tuple(newest_metrics(metrics, NEWEST)) if metrics.exists() else ()
    settings = _json(folder.parent / "config.json").get(folder.name, {})
    status = _json(folder / "status.json")
    age = now - float(status["time"]) if status else None
    return RunSummary(
        run=folder.parent.name,
        stage=folder.name,
        update=int(rows[-1]["step"]) if rows else 0,
        total=int(settings.get("training", {}).get("updates", 0)),
        age=now - _began_or_wrote(folder),
        finished=quiet is not None and _finished(folder),
        rows=rows,
        workers=tuple(status["workers"]) if status and age is not None and age < FRESH else (),
        status_age=age,
        quiet=quiet,
        clock=now,
    )


def _under_way(folder: Path, now: float) -> bool:
    """Is a process at work on this stage? One that has finished may be gone on with, to more updates: its lock says so.

    What was written lately tells it, too, where a learner that died is made anew, or locks are of one machine only.
    """
    if _locked(folder / ".lock"):
        return True
    heard = max(float(_json(folder / "status.json").get("time", 0.0)), _changed(folder / "metrics.jsonl"))
    return now - heard <= PATIENCE and not _finished(folder)


def _locked(file: Path) -> bool:
    """Does a process hold this lock? Asking takes it for a moment; a stage that begins in it tries again."""
    if not file.exists():
        return False
    with file.open() as opened:
        try:
            fcntl.flock(opened, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False


def _finished(folder: Path) -> bool:
    return bool(_json(folder / "stage.json").get("finished"))


def _began_or_wrote(folder: Path) -> float:
    """When a stage last wrote metrics, or was begun or gone on with."""
    return max(_changed(folder / ".lock"), _changed(folder / "metrics.jsonl"))


def _wrote(root: Path) -> float:
    """When anything of a run was last written. That a command failed, of which error.txt tells, is no sign of life."""
    files = (*root.glob("*"), *root.glob("*/*"))
    return max((_changed(file) for file in files if file.name != "error.txt"), default=0.0)


def _changed(file: Path) -> float:
    """Seconds since 1970; 0 where there is no such file, for they come and go while a run goes on."""
    try:
        return file.stat().st_mtime
    except FileNotFoundError:
        return 0.0


def _json(file: Path) -> dict[str, Any]:
    """Files are written atomically, so what is there is whole."""
    loaded: dict[str, Any] = json.loads(file.read_text()) if file.exists() else {}
    return loaded
