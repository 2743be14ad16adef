"""What the reinforce stage puts into the training loop.

    setter-replay actor --> unroll --> payment (reward service) --+--> learner --> weights --> actor
                               '-----> gate as it began ----------'       ^
                                             dataset actor ---------------'

Everything left of the learner runs one unroll ahead of it where the runtime overlaps.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol

import numpy as np
from torch import Tensor

from interplay.actors.dataset import DatasetActor
from interplay.actors.returns import Ended, EpisodeReturns
from interplay.actors.setter_replay import SetterReplayActor
from interplay.agent.network import Agent
from interplay.agent.weights import Weights
from interplay.episodes.vocabulary import Vocabulary
from interplay.learner.agents import identity
from interplay.learner.learner import Learner, Played
from interplay.reward.frozen_gate import FrozenGate
from interplay.reward.payment import Payment
from interplay.runtime.ahead import Ahead


class Watcher(Protocol):
    """Sees every update's ended episodes, and may measure something from time to time."""

    def __call__(self, update: int, weights: Callable[[], Weights], ended: Ended) -> Mapping[str, float]: ...

    def state(self) -> dict[str, Any]: ...

    def load_state(self, state: Mapping[str, Any]) -> None: ...


class Reinforcement:
    """What the reinforce stage puts into the training loop."""

    def __init__(
        self,
        *,
        agent: Agent,
        vocabulary: Vocabulary,
        learner: Learner,
        actor: SetterReplayActor,
        payment: Payment,
        gate: FrozenGate | None,
        dataset: DatasetActor,
        watcher: Watcher,
        passes: int,
        overlap: bool,
    ) -> None:
        self.agent = agent
        self.vocabulary = vocabulary
        self.learner = learner
        self.actor = actor
        self.payment = payment
        self.gate = gate
        self.dataset = dataset
        self.watcher = watcher
        self.passes = passes
        self.steps = 0
        self.unrolls = 0
        self.returns = EpisodeReturns(actor.lanes)
        self._ahead: Ahead[Played] = Ahead(overlap)

    def step(self, ahead: bool) -> Mapping[str, float]:
        """One unroll: `passes` updates from it."""
        played = self._ahead.take(self._maker())
        if ahead:
            self._ahead.begin(self._maker())
        metrics: dict[str, float] = {}
        for _ in range(self.passes):
            metrics = self.learner.update(played=played, demonstrated=self.dataset.unroll())
        self.unrolls += 1
        self.steps += played.unroll.lanes * played.unroll.steps
        metrics["reward_mean"] = float(played.reward.mean())
        metrics["lag"] = self.unrolls - 1 - played.unroll.version
        ended = self.returns.add(played.unroll, played.reward)
        return metrics | _means(ended) | dict(self.watcher(self.unrolls, self.learner.weights, ended))

    def identity(self) -> Mapping[str, Any]:
        return identity(self.agent, self.vocabulary)

    def weights(self) -> Mapping[str, Tensor]:
        return self.agent.state_dict()

    def state(self) -> Mapping[str, Any]:
        return {
            "learner": self.learner.state(),
            "actor": self.actor.state(),
            "payment": self.payment.state(),
            "gate": None if self.gate is None else self.gate.state(),
            "dataset": self.dataset.state(),
            "returns": self.returns.state(),
            "watcher": self.watcher.state(),
            "unrolls": self.unrolls,
        }

    def load(self, weights: Mapping[str, Tensor], state: Mapping[str, Any]) -> None:
        self.agent.load_state_dict(weights)
        self.learner.load_state(state["learner"])
        self.actor.load_state(state["actor"])
        self.payment.load_state(state["payment"])
        if self.gate is not None:
            self.gate.load_state(state["gate"])
        self.dataset.load_state(state["dataset"])
        self.returns.load_state(state["returns"])
        self.watcher.load_state(state["watcher"])
        self.steps, self.unrolls = state["steps"], state["unrolls"]

    def close(self) -> None:
        self._ahead.close()

    def _maker(self) -> Callable[[], Played]:
        """Makes the next paid unroll with the weights as they are now."""
        weights, version = self.learner.weights(), self.unrolls
        return lambda: self._make(weights, version)

    def _make(self, weights: Weights, version: int) -> Played:
        self.actor.load_weights(weights, version)
        unroll = self.actor.unroll()
        reward = self.payment.pay(unroll)
        return Played(unroll, reward, None if self.gate is None else self.gate.logits(unroll))


def _means(ended: Ended) -> dict[str, float]:
    if not len(ended.returns):
        return {}
    metrics = {"return": float(ended.returns.mean())}
    if not np.isnan(ended.success).all():
        metrics["success"] = float(np.nanmean(ended.success))
    return metrics
