"""Data sources of the learner, the same for every runtime: rollouts with their reward, and demonstrations."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, Protocol

from interplay.actors.episode_returns import FinishedEpisodes
from interplay.agent.unroll import Unroll
from interplay.agent.weights import Weights
from interplay.runtime.flow_metrics import SourceStats
from interplay.runtime.ledger import ConsumedUnroll


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
