"""Data sources of the learner, the same for every runtime: rollouts with their reward, and demonstrations; the metrics
of the data flow, too."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

from interplay.actors.episode_returns import FinishedEpisodes
from interplay.agent.unroll import Unroll
from interplay.agent.weights import Weights
from interplay.runtime.ledger import ConsumedUnroll


@dataclass(frozen=True)
class SourceStats:
    """State of one data source."""

    wait_seconds: float = 0.0  # that the learner has waited for it, in total
    ready_batches: int = 0
    unscored: int = 0  # unrolls that have arrived and wait for their reward
    held_bytes: int = 0  # in the object store
    restarts: int = 0  # of its workers
    idle_fractions: Mapping[str, float] = field(default_factory=dict)  # by kind of worker, 0 to 1


class FlowMetrics:
    """Turns the stats of data sources into metrics::

    | metric | meaning |
    |---|---|
    | learner_idle | fraction of the time since the last reading that the learner waited for data |
    | actor_idle, dataset_idle, reward_idle, inference_idle | fraction of the workers' time that they were idle |
    | played_ready, demonstrated_ready | batches that are ready |
    | unpaid | unrolls that have arrived and wait for their reward |
    | object_store_mb | of unrolls and weights between processes |
    | restarts | of the workers, since this process began |
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic, **sources: Callable[[], SourceStats]) -> None:
        self._clock = clock
        self._sources = sources
        self._read_at, self._wait_seconds = clock(), 0.0

    def metrics(self) -> dict[str, float]:
        """Metrics since the last call."""
        sources = {name: read() for name, read in self._sources.items()}
        now, waited = self._clock(), sum(stats.wait_seconds for stats in sources.values())
        elapsed = now - self._read_at
        metrics = {
            "learner_idle": min(1.0, (waited - self._wait_seconds) / elapsed) if elapsed > 0 else 0.0,
            "object_store_mb": sum(stats.held_bytes for stats in sources.values()) / 2**20,
            "unpaid": float(sum(stats.unscored for stats in sources.values())),
            "restarts": float(sum(stats.restarts for stats in sources.values())),
        }
        self._read_at, self._wait_seconds = now, waited
        for name, stats in sources.items():
            metrics[f"{name}_ready"] = float(stats.ready_batches)
            metrics |= {f"{kind}_idle": fraction for kind, fraction in stats.idle_fractions.items()}
        return metrics


class RolloutBatch(NamedTuple):
    """Rollouts for one batch of updates. The arrays are overwritten after the next batch is taken."""

    unroll: Unroll  # scored
    ended: FinishedEpisodes  # in this batch
    taken: tuple[ConsumedUnroll, ...]  # its unrolls
    reward_version: int  # of the reward model, the newest of several; 0 without a reward model


class DemonstrationBatch(NamedTuple):
    """Demonstrations for one update. The arrays are overwritten after the next batch is taken."""

    unroll: Unroll | None  # None if the learner uses no demonstrations
    taken: tuple[ConsumedUnroll, ...]


class RolloutSource(Protocol):
    """Delivers rollouts with their reward."""

    def take(self, weights: Callable[[], Weights], version: int, *, ahead: bool) -> RolloutBatch:
        """Returns the next batch.

        Args:
            weights: returns a copy of the learner's current weights.
            version: of these weights: the number of batches they were trained on.
            ahead: whether work on the next batch may begin; False before a checkpoint, whose state it would change.
        """

    def stats(self) -> SourceStats:
        """Returns counters and idle fractions of this source."""

    def state(self) -> dict[str, Any]:
        """Returns the state for resuming after the last taken batch."""

    def load_state(self, state: Mapping[str, Any]) -> None:
        """Restores a result of `state`; to be called before the first `take`."""

    def close(self) -> None:
        """Ends the background work."""


class DemonstrationSource(Protocol):
    """Delivers demonstrations; see `RolloutSource`."""

    def take(self, *, ahead: bool) -> DemonstrationBatch: ...

    def stats(self) -> SourceStats: ...

    def state(self) -> dict[str, Any]: ...

    def load_state(self, state: Mapping[str, Any]) -> None: ...

    def close(self) -> None: ...
