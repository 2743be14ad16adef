"""How a run stands, read from what it writes: any run, on this machine or on a disk that both see, while it goes on."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from interplay.tracking.metrics import newest_metrics

NEWEST = 200  # rows of metrics that are kept, for the curves
FRESH = 10.0  # seconds for which a status is believed; older ones are of a run that has ended or hangs


@dataclass(frozen=True)
class Standing:
    """One training stage of a run."""

    run: str
    stage: str
    update: int
    total: int  # updates that it is to make
    age: float  # seconds since it last wrote metrics
    finished: bool
    rows: tuple[Mapping[str, float | None], ...] = ()  # of metrics, oldest first
    parts: tuple[Mapping[str, Any], ...] = ()  # of a run under Ray: see `interplay.runtime.status.PartStatus`
    status_age: float | None = None  # seconds since the parts were last heard; None where there are none
    clock: float = field(default_factory=time.time)  # when this was read

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


def read_standing(root: Path) -> Standing:
    """The stage of a run that wrote metrics last.

    Raises:
        ValueError: none has written any yet; or a file is damaged.
    """
    files = sorted(root.glob("*/metrics.jsonl"), key=lambda file: file.stat().st_mtime)
    if not files:
        raise ValueError(f"{root} has no training stage under way; give the run that you mean, as run.name=mine")
    folder, now = files[-1].parent, time.time()
    rows = tuple(newest_metrics(files[-1], NEWEST))
    record = _json(folder / "stage.json")
    settings = _json(root / "config.json").get(folder.name, {})
    status = _json(folder / "status.json")
    age = now - float(status["time"]) if status else None
    return Standing(
        run=root.name,
        stage=folder.name,
        update=int(rows[-1]["step"]) if rows else 0,
        total=int(settings.get("training", {}).get("updates", 0)),
        age=now - files[-1].stat().st_mtime,
        finished=bool(record.get("finished")),
        rows=rows,
        parts=tuple(status["parts"]) if status and age is not None and age < FRESH else (),
        status_age=age,
        clock=now,
    )


def _json(file: Path) -> dict[str, Any]:
    """Files are written atomically, so what is there is whole."""
    loaded: dict[str, Any] = json.loads(file.read_text()) if file.exists() else {}
    return loaded
