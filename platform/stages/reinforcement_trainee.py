"""What the reinforce stage puts into the training loop.

    setter-replay actor --> unroll --> payment (reward service) --+--> learner --> weights --> actor
                               '-----> gate as it began ----------'       ^
                                             dataset actor ---------------'

Everything left of the learner runs ahead of it, as far as the runtime lets it: see `interplay.runtime.batch_sources`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol

import numpy as np
from torch import Tensor

from interplay.actors.episode_returns import FinishedEpisodes
from interplay.agent.network import Agent
from interplay.agent.weights import Weights
from interplay.episodes.vocabulary import Vocabulary
from interplay.learner.agents import describe_agent
from interplay.learner.learner import Learner
from interplay.runtime.batch_sources import DemonstrationSource, RolloutSource
from interplay.runtime.flow_metrics import FlowMetrics
from interplay.runtime.ledger import ConsumedUnroll, Ledger
from interplay.stages.imitation_trainee import LEARNS, SAVES
from interplay.stages.run import ReportActivity


class Watcher(Protocol):
    """Sees every update's ended episodes, and may measure something from time to time."""

    def __call__(self, update: int, weights: Callable[[], Weights], ended: FinishedEpisodes) -> Mapping[str, float]: ...

    def state(self) -> dict[str, Any]: ...

    def load_state(self, state: Mapping[str, Any]) -> None: ...


class ReinforcementTrainee:
    """What the reinforce stage puts into the training loop."""

    def __init__(
        self,
        *,
        agent: Agent,
        vocabulary: Vocabulary,
        learner: Learner,
        played: RolloutSource,
        demonstrated: DemonstrationSource,
        ledger: Ledger,
        watcher: Watcher,
        updates_per_batch: int,
        beat: ReportActivity,
    ) -> None:
        self.agent = agent
        self.vocabulary = vocabulary
        self.learner = learner
        self.played = played
        self.demonstrated = demonstrated
        self.ledger = ledger
        self.watcher = watcher
        self.updates_per_batch = updates_per_batch
        self._beat = beat
        self.steps = 0
        self.unrolls = 0
        self._flow = FlowMetrics(played=played.stats, demonstrated=demonstrated.stats)

    def step(self, ahead: bool) -> Mapping[str, float]:
        """One batch of unrolls: `updates_per_batch` updates from it."""
        batch = self.played.take(self.learner.weights, self.unrolls, ahead=ahead)
        unroll, metrics, read = batch.unroll, dict[str, float](), list[ConsumedUnroll]()
        for number in range(self.updates_per_batch):
            demonstrated = self.demonstrated.take(ahead=ahead or number + 1 < self.updates_per_batch)
            self._beat(LEARNS)
            metrics = self.learner.update(rollout=unroll, demonstrated=demonstrated.unroll)
            read += demonstrated.taken
        lags = [self.unrolls - taken.version for taken in batch.taken]
        self.unrolls += 1
        self.steps += unroll.lanes * unroll.steps
        self.ledger.write(self.unrolls, played=batch.taken, demonstrated=read)
        metrics["reward_mean"] = float(unroll.arrays["reward"].mean())
        metrics["reward_version"] = batch.reward_version
        metrics |= {"lag": sum(lags) / len(lags), "lag_max": max(lags)} | self._flow.metrics() | _means(batch.ended)
        return metrics | dict(self.watcher(self.unrolls, self.learner.weights, batch.ended))

    def identity(self) -> Mapping[str, Any]:
        return describe_agent(self.agent, self.vocabulary)

    def weights(self) -> Mapping[str, Tensor]:
        self._beat(SAVES)
        return self.agent.state_dict()

    def state(self) -> Mapping[str, Any]:
        self._beat(SAVES)
        return {
            "learner": self.learner.state(),
            "rollout": self.played.state(),
            "dataset": self.demonstrated.state(),
            "watcher": self.watcher.state(),
            "unrolls": self.unrolls,
        }

    def load(self, weights: Mapping[str, Tensor], state: Mapping[str, Any]) -> None:
        self.agent.load_state_dict(weights)
        self.learner.load_state(state["learner"])
        self.played.load_state(state["rollout"])
        self.demonstrated.load_state(state["dataset"])
        self.watcher.load_state(state["watcher"])
        self.steps, self.unrolls = state["steps"], state["unrolls"]

    def go_on_from(self, update: int) -> None:
        self.ledger.truncate_after(update)

    def close(self) -> None:
        self.played.close()
        self.demonstrated.close()


def _means(ended: FinishedEpisodes) -> dict[str, float]:
    if not len(ended.returns):
        return {}
    metrics = {"return": float(ended.returns.mean())}
    if not np.isnan(ended.success).all():
        metrics["success"] = float(np.nanmean(ended.success))
    return metrics
