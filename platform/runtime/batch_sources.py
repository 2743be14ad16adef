"""Data sources of the learner, the same for every runtime: rollouts with their reward, and demonstrations.

The module also holds the buffers of their batches, the metrics of the data flow, and `ledger.jsonl`, which records the
unrolls of each update and so proves that none is lost and none is used twice. It has one line per update:
{"update": 7, "played": [[actor, number, version], ...], "demonstrated": [[actor, number], ...]}.
The unrolls of an actor are numbered from 0 without a gap, across its restarts and across resumes.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np
import torch
from numpy.typing import NDArray

from interplay.actors.episode_returns import FinishedEpisodes
from interplay.agent.observation import Arrays
from interplay.agent.unroll import Unroll
from interplay.agent.weights import Weights
from interplay.core.files import JsonLines


@dataclass(frozen=True)
class ConsumedUnroll:
    """An unroll that an update learned from."""

    actor: int
    number: int  # of the actor's unrolls, from 0
    version: int = 0  # of the weights that acted; 0 for a demonstration


class Ledger:
    """Appends to `path`. A run that resumes from the checkpoint of an update drops the rows after it."""

    def __init__(self, path: Path) -> None:
        self._rows = JsonLines(path, key="update")

    def truncate_after(self, update: int) -> None:
        """Drops the rows after an update, which will be repeated."""
        self._rows.drop_after(update)

    def write(
        self, update: int, *, played: Sequence[ConsumedUnroll] = (), demonstrated: Sequence[ConsumedUnroll] = ()
    ) -> None:
        """Appends the unrolls that this update learned from."""
        row = {
            "update": update,
            "played": [[each.actor, each.number, each.version] for each in played],
            "demonstrated": [[each.actor, each.number] for each in demonstrated],
        }
        self._rows.append(row)


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
    | unscored | unrolls that have arrived and wait for their reward |
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
            "unscored": float(sum(stats.unscored for stats in sources.values())),
            "restarts": float(sum(stats.restarts for stats in sources.values())),
        }
        self._read_at, self._wait_seconds = now, waited
        for name, stats in sources.items():
            metrics[f"{name}_ready"] = float(stats.ready_batches)
            metrics |= {f"{kind}_idle": fraction for kind, fraction in stats.idle_fractions.items()}
        return metrics


FetchWeights = Callable[[], Weights]


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


class BatchSource(Protocol):
    """The interface that all sources of batches share."""

    def stats(self) -> SourceStats:
        """Returns counters and idle fractions of this source."""

    def state(self) -> dict[str, Any]:
        """Returns the state for resuming after the last taken batch."""

    def load_state(self, state: Mapping[str, Any]) -> None:
        """Restores a result of `state`; to be called before the first `take`."""

    def close(self) -> None:
        """Ends the background work."""


class RolloutSource(BatchSource, Protocol):
    """Delivers rollouts with their reward."""

    def take(
        self,
        snapshot: Callable[[], FetchWeights],
        version: int,
        *,
        ahead: Callable[[], bool],
        stopped: Callable[[], bool],
        keep: bool = False,
    ) -> RolloutBatch:
        """Returns the next batch.

        Args:
            snapshot: returns the learner's current weights. May be called in any thread, when the weights are needed.
            version: version of these weights: the number of batches they were trained on.
            ahead: whether work on the next batch may begin; False before a checkpoint, whose state it would change.
                Called once this batch has arrived.
            stopped: whether to give up waiting for this batch. A source in the learner's process gives up only where
                the newest checkpoint holds the state before this batch, and after a grace period, because its state is
                unknown until the batch is complete.
            keep: without `ahead`, whether the state holds these weights for the next batch, which then has the same lag
                as if work on it had begun. Only sources in the learner's process keep them.

        Raises:
            StopRequested: `stopped` returned True; no batch is taken, and the state is that before the call.
        """


class DemonstrationSource(BatchSource, Protocol):
    """Delivers demonstrations; see `RolloutSource`."""

    def await_step(self, stopped: Callable[[], bool]) -> None:
        """Waits for the batches of the next step of the learner; `take` then does not wait.

        Where one step takes several, a source in the learner's process waits for the first of them.

        Raises:
            StopRequested: `stopped` returned True.
        """

    def take(self, *, ahead: Callable[[], bool]) -> DemonstrationBatch: ...


class BatchBuffers:
    """Pool of `count` sets of arrays [T, B, ...], allocated at the first use.

    One thread fills sets, another one uses and releases them.

    Args:
        pinned: page-locked memory, for copies to a GPU.
    """

    def __init__(self, count: int, pinned: bool = False) -> None:
        self._sets: list[Arrays] = [{} for _ in range(count)]
        self._pinned = pinned
        self._free = list(range(count))
        self._lock = threading.Lock()

    @property
    def num_free(self) -> int:
        """How many sets are not in use."""
        with self._lock:
            return len(self._free)

    def concatenate(self, unrolls: Sequence[Arrays]) -> tuple[int, Arrays]:
        """Copies unrolls [T, b, ...] into a free set along the lane axis; returns its number and arrays.

        All unrolls have the same keys, and the batch has the same shapes in every call.
        """
        with self._lock:
            number = self._free.pop(0)
        filled = self._sets[number]
        for key, first in unrolls[0].items():
            lanes = sum(unroll[key].shape[1] for unroll in unrolls)
            shape = (first.shape[0], lanes, *first.shape[2:])
            if key not in filled:
                filled[key] = self._allocate(shape, first.dtype)
            assert filled[key].shape == shape, (key, filled[key].shape, shape)
            np.concatenate([unroll[key] for unroll in unrolls], axis=1, out=filled[key])
        return number, filled

    def release(self, number: int) -> None:
        """Marks a set as free, to be filled again."""
        with self._lock:
            assert number not in self._free, number
            self._free.append(number)

    def _allocate(self, shape: tuple[int, ...], dtype: np.dtype[np.generic]) -> NDArray[np.generic]:
        if not self._pinned:
            return np.empty(shape, dtype)
        kind = torch.from_numpy(np.empty(0, dtype)).dtype
        pinned: NDArray[np.generic] = torch.empty(shape, dtype=kind, pin_memory=True).numpy()
        return pinned
