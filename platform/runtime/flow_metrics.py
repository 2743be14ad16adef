"""How the flow of data goes, in numbers that every runtime reports under the same names."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class SourceStats:
    """What one source of data says of itself."""

    wait_seconds: float = 0.0  # seconds that the learner has waited for it, ever since
    ready_batches: int = 0  # batches that stand ready
    unscored: int = 0  # unrolls that have come, and wait for what they earned
    held_bytes: int = 0  # in the object store
    restarts: int = 0  # of its parts
    idle_fractions: Mapping[str, float] = field(default_factory=dict)  # by kind of part: the share of its time, 0 to 1


class FlowMetrics:
    """Turns accounts into metrics::

    | metric | meaning |
    |---|---|
    | learner_idle | share of the time since the last reading that the learner waited for data |
    | actor_idle, dataset_idle, reward_idle, inference_idle | share of the parts' time that they had nothing to do |
    | played_ready, demonstrated_ready | batches that stand ready |
    | unpaid | unrolls that have come, and wait for what they earned |
    | object_store_mb | of unrolls and weights between processes |
    | restarts | of the parts, since this process began |
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic, **sources: Callable[[], SourceStats]) -> None:
        self._clock = clock
        self._sources = sources
        self._read_at, self._wait_seconds = clock(), 0.0

    def metrics(self) -> dict[str, float]:
        """Since the last call."""
        accounts = {name: read() for name, read in self._sources.items()}
        now, wait_seconds = self._clock(), sum(stats.wait_seconds for stats in accounts.values())
        elapsed = now - self._read_at
        found = {
            "learner_idle": min(1.0, (wait_seconds - self._wait_seconds) / elapsed) if elapsed > 0 else 0.0,
            "object_store_mb": sum(stats.held_bytes for stats in accounts.values()) / 2**20,
            "unpaid": float(sum(stats.unscored for stats in accounts.values())),
            "restarts": float(sum(stats.restarts for stats in accounts.values())),
        }
        self._read_at, self._wait_seconds = now, wait_seconds
        for name, stats in accounts.items():
            found[f"{name}_ready"] = float(stats.ready_batches)
            found |= {f"{kind}_idle": share for kind, share in stats.idle_fractions.items()}
        return found
