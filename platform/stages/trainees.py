"""Trainees: an agent with its learner and its data, as the training loop uses them.

Imitation learns from recorded episodes alone; reinforcement from rollouts, too:

    setter-replay actor --> unroll --> reward function --+--> learner --> weights --> actor
                               '-----> reference gate ---'       ^
                                      dataset actor -------------'

Everything upstream of the learner runs ahead of it as far as the runtime permits: see
`interplay.runtime.batch_sources`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

import numpy as np
from torch import Tensor

from interplay.actors.episode_returns import FinishedEpisodes, TaskReturn
from interplay.agent.network import Agent
from interplay.agent.weights import Weights
from interplay.episodes.vocabulary import Vocabulary
from interplay.learner.agents import describe_agent
from interplay.learner.learner import Learner
from interplay.learner.pending_metrics import joined
from interplay.runtime.batch_sources import ConsumedUnroll, DemonstrationSource, FlowMetrics, Ledger, RolloutSource
from interplay.stages.run import ReportActivity

Measure = Callable[[], Mapping[str, float]]

LEARNS, SAVES = "learns", "saves"  # activities that the learner reports; it learns once a batch has been taken


class Trainee(ABC):
    """An agent, its learner, demonstrations and the ledger of consumed unrolls."""

    def __init__(
        self,
        *,
        agent: Agent,
        vocabulary: Vocabulary,
        learner: Learner,
        demonstrated: DemonstrationSource,
        ledger: Ledger,
        beat: ReportActivity,
        measure: Measure | None = None,
        measure_every: int = 1,
    ) -> None:
        """`measure`, if there is one, is called every `measure_every` steps."""
        self.agent = agent
        self.vocabulary = vocabulary
        self.learner = learner
        self.demonstrated = demonstrated
        self.ledger = ledger
        self.steps = 0  # agent steps trained on so far
        self._beat = beat
        self._measure, self._measure_every = measure, measure_every

    @abstractmethod
    def step(self, ahead: Callable[[], bool], stopped: Callable[[], bool], keep: bool = False) -> Mapping[str, float]:
        """Performs one update; returns metrics by name.

        Args:
            ahead: if True, the trainee may already start work on the next update. False for the update before a
                checkpoint, which must hold the state between two updates. Always returns what its first call did.
            stopped: whether to give up waiting for data because a stop is requested; see `RolloutSource.take`.
            keep: without `ahead`, whether the state holds the weights that this work would have begun with. True for a
                checkpoint off the schedule, so that a resume continues as if the run had not stopped.

        Raises:
            StopRequested: `stopped` returned True; the state is that before the call.
        """

    def identity(self) -> Mapping[str, Any]:
        """Description of the agent."""
        return describe_agent(self.agent, self.vocabulary)

    def weights(self) -> Mapping[str, Tensor]:
        """The agent's weights.

        Raises:
            FloatingPointError: an update was not finite: nothing is to be saved.
        """
        self._beat(SAVES)
        self.learner.settle()
        return self.agent.state_dict()

    def state(self) -> Mapping[str, Any]:
        """All other state needed to resume."""
        self._beat(SAVES)
        return {"learner": self.learner.state(), "dataset": self.demonstrated.state()}

    def load(self, weights: Mapping[str, Tensor], state: Mapping[str, Any]) -> None:
        """Resumes from a checkpoint."""
        self.agent.load_state_dict(weights)
        self.learner.load_state(state["learner"])
        self.demonstrated.load_state(state["dataset"])
        self.steps = state["steps"]

    def discard_after(self, update: int) -> None:
        """Drops the records of later updates: the resumed run repeats those updates."""
        self.ledger.truncate_after(update)

    def close(self) -> None:
        """Stops background work."""
        self.demonstrated.close()


class ImitationTrainee(Trainee):
    """Learns from demonstrations; measures at the update `measure_at`, too."""

    def __init__(self, *, measure_at: int | None = None, **base: Any) -> None:
        super().__init__(**base)
        self._flow = FlowMetrics(demonstrated=self.demonstrated.stats)
        self._measure_at = measure_at

    def step(self, ahead: Callable[[], bool], stopped: Callable[[], bool], keep: bool = False) -> Mapping[str, float]:
        self.demonstrated.await_step(stopped)
        unroll, taken = self.demonstrated.take(ahead=ahead)
        assert unroll is not None, "imitation learns from demonstrations alone"
        learned = self.learner.begin_update(demonstrated=unroll)
        self.ledger.write(self.learner.updates, demonstrated=taken)
        metrics = self._flow.metrics()
        self.steps += unroll.lanes * (unroll.steps + 1)
        update = self.learner.updates
        if self._measure is not None and (update % self._measure_every == 0 or update == self._measure_at):
            metrics |= self._measure()
        return joined(learned, metrics)


class Watcher(Protocol):
    """Receives the episodes that ended in each update, and may measure and return further metrics."""

    def __call__(self, update: int, weights: Callable[[], Weights], ended: FinishedEpisodes) -> Mapping[str, float]: ...

    def state(self) -> dict[str, Any]: ...

    def load_state(self, state: Mapping[str, Any]) -> None: ...


class ReinforcementTrainee(Trainee):
    """Learns from rollouts and, if their losses have weights, from demonstrations."""

    def __init__(
        self,
        *,
        rollouts: RolloutSource,
        watcher: Watcher,
        updates_per_batch: int,
        **base: Any,
    ) -> None:
        super().__init__(**base)
        self.rollouts = rollouts
        self.watcher = watcher
        self.updates_per_batch = self.learner.updates_per_batch = updates_per_batch
        self.unrolls = 0
        self._flow = FlowMetrics(played=rollouts.stats, demonstrated=self.demonstrated.stats)

    def step(self, ahead: Callable[[], bool], stopped: Callable[[], bool], keep: bool = False) -> Mapping[str, float]:
        """`updates_per_batch` updates from one batch of rollouts."""
        self.demonstrated.await_step(stopped)  # first: a batch of rollouts that has been taken is to be learned from
        batch = self.rollouts.take(self.learner.snapshot, self.unrolls, ahead=ahead, stopped=stopped, keep=keep)
        unroll, read = batch.unroll, list[ConsumedUnroll]()
        learned: Mapping[str, float] = {}
        reward_mean = float(unroll.arrays["reward"].mean())
        for number in range(self.updates_per_batch):
            is_last = number + 1 == self.updates_per_batch
            demonstration = self.demonstrated.take(ahead=ahead if is_last else lambda: True)
            self._beat(LEARNS)
            learned = self.learner.begin_update(rollout=unroll, demonstrated=demonstration.unroll)
            read += demonstration.taken
        lags = [self.unrolls - taken.version for taken in batch.taken]
        self.unrolls += 1
        self.steps += unroll.lanes * unroll.steps
        self.ledger.write(self.unrolls, played=batch.taken, demonstrated=read)
        metrics = {"reward_mean": reward_mean}
        metrics["reward_version"] = batch.reward_version
        metrics |= {"lag": sum(lags) / len(lags), "lag_max": max(lags)} | self._flow.metrics() | _means(batch.ended)
        metrics |= _means_by_kind(batch.ended.tasks)
        if self._measure is not None and self.unrolls % self._measure_every == 0:
            metrics |= self._measure()
        metrics |= self.watcher(self.unrolls, self.learner.weights, batch.ended)
        return joined(learned, metrics)

    def state(self) -> Mapping[str, Any]:
        return {
            **super().state(),
            "rollout": self.rollouts.state(),
            "watcher": self.watcher.state(),
            "unrolls": self.unrolls,
        }

    def load(self, weights: Mapping[str, Tensor], state: Mapping[str, Any]) -> None:
        super().load(weights, state)
        self.rollouts.load_state(state["rollout"])
        self.watcher.load_state(state["watcher"])
        self.unrolls = state["unrolls"]

    def close(self) -> None:
        self.rollouts.close()
        super().close()


def _means(ended: FinishedEpisodes) -> dict[str, float]:
    """Mean return and success of the episodes that ended, and how many each is over."""
    if not len(ended.returns):
        return {}
    metrics = {"episodes": float(len(ended.returns)), "return": float(ended.returns.mean())}
    if judged := np.count_nonzero(~np.isnan(ended.success)):
        metrics |= {"episodes_judged": float(judged), "success": float(np.nanmean(ended.success))}
    return metrics


def _means_by_kind(tasks: Sequence[TaskReturn]) -> dict[str, float]:
    """Number, success, return and, for questions, answered share of the tasks of each kind that finished."""
    metrics = {}
    for kind in sorted({task.kind for task in tasks}):
        own = [task for task in tasks if task.kind == kind]
        metrics[f"tasks/{kind}"] = float(len(own))
        metrics[f"success/{kind}"] = sum(task.done for task in own) / len(own)
        metrics[f"return/{kind}"] = sum(task.total for task in own) / len(own)
        if all(task.answered is not None for task in own):
            metrics[f"answered/{kind}"] = sum(bool(task.answered) for task in own) / len(own)
    return metrics
