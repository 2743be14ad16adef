"""Where a trainee's data comes from, whatever the runtime: played unrolls with their pay, and demonstrated ones."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, Protocol

from interplay.actors.episode_returns import FinishedEpisodes
from interplay.agent.unroll import Unroll
from interplay.agent.weights import Weights
from interplay.runtime.flow_metrics import SourceStats
from interplay.runtime.ledger import ConsumedUnroll


class RolloutBatch(NamedTuple):
    """What one update learns from. Its arrays are refilled after the next is taken."""

    unroll: Unroll  # scored
    ended: FinishedEpisodes  # the episodes that ended in it
    taken: tuple[ConsumedUnroll, ...]  # the unrolls that it consists of
    reward_version: int  # of the reward model that paid, the newest of several; 0 where none did


class DemonstrationBatch(NamedTuple):
    """Demonstrations for one update. The arrays are refilled after the next is taken."""

    unroll: Unroll | None  # None where nothing is learned from demonstrations
    taken: tuple[ConsumedUnroll, ...]


class RolloutSource(Protocol):
    """Delivers what agents played, paid."""

    def take(self, weights: Callable[[], Weights], version: int, *, ahead: bool) -> RolloutBatch:
        """The next batch.

        Args:
            weights: makes a copy of those that learn, as they are now.
            version: of these weights: how many batches they have learned from.
            ahead: work for the next batch may begin; not before a checkpoint where that would change its state.
        """

    def stats(self) -> SourceStats:
        """How the making of batches goes."""

    def state(self) -> dict[str, Any]:
        """What a resume needs, as after the batch that was taken last."""

    def load_state(self, state: Mapping[str, Any]) -> None:
        """Goes on from what `state` returned; before the first `take`."""

    def close(self) -> None:
        """Ends what works in the background."""


class DemonstrationSource(Protocol):
    """Delivers demonstrations; see `RolloutSource`."""

    def take(self, *, ahead: bool) -> DemonstrationBatch: ...

    def stats(self) -> SourceStats: ...

    def state(self) -> dict[str, Any]: ...

    def load_state(self, state: Mapping[str, Any]) -> None: ...

    def close(self) -> None: ...
