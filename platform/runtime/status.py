"""Status of a run as plain values: shown by its driver, and written to `status.json` for live views."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass(frozen=True)
class WorkerStatus:
    """Status of one process: learner, further rank, actor, dataset actor, reward replica, or inference server."""

    name: str  # "actor-0"
    kind: str  # "actor"
    activity: str  # "plays unroll 12", "waits for unrolls"
    activity_seconds: float  # since it began
    idle_fraction: float  # 0 to 1
    completed: int  # unrolls, updates, scored unrolls
    restarts: int
    pid: int  # 0 while it starts


@dataclass(frozen=True)
class RunStatus:
    """Status of one stage that is running."""

    stage: str
    time: float  # seconds since 1970
    update: int
    workers: tuple[WorkerStatus, ...] = ()
    metrics: Mapping[str, float] = field(default_factory=dict)  # newest row of metrics.jsonl

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return asdict(self)
