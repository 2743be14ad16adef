"""How a run stands, as plain values: what its driver shows, and writes down for whoever watches it live."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass(frozen=True)
class WorkerStatus:
    """One part: a learner, a further rank of it, an actor, a dataset actor, a reward replica, the inference service."""

    name: str  # "actor-0"
    kind: str  # "actor"
    activity: str  # "plays unroll 12", "waits for unrolls"
    activity_seconds: float  # seconds that it has been doing so
    idle_fraction: float  # share of its time, 0 to 1
    completed: int  # what it has made: unrolls, updates, scored unrolls
    restarts: int
    pid: int  # 0 while it starts


@dataclass(frozen=True)
class RunStatus:
    """One stage of a run under way."""

    stage: str
    time: float  # seconds since 1970, when this was read
    update: int
    workers: tuple[WorkerStatus, ...] = ()
    metrics: Mapping[str, float] = field(default_factory=dict)  # lag, queue depths, ...: the newest of metrics.jsonl

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return asdict(self)
