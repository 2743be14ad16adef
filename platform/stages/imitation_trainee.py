"""What the stages that learn from recorded episodes alone put into the training loop: cloning, and the reward model."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from torch import Tensor

from interplay.agent.network import Agent
from interplay.episodes.vocabulary import Vocabulary
from interplay.learner.agents import describe_agent
from interplay.learner.learner import Learner
from interplay.runtime.batch_sources import DemonstrationSource
from interplay.runtime.flow_metrics import FlowMetrics
from interplay.runtime.ledger import Ledger
from interplay.stages.run import ReportActivity

Measure = Callable[[], Mapping[str, float]]

LEARNS, SAVES = "learns", "saves"  # what a learner says that it does; it learns once a batch is taken


class ImitationTrainee:
    """One learner fed with demonstrations; now and then it measures itself."""

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
        self.agent = agent
        self.vocabulary = vocabulary
        self.learner = learner
        self.demonstrated = demonstrated
        self.ledger = ledger
        self.steps = 0
        self._beat = beat
        self._flow = FlowMetrics(demonstrated=demonstrated.stats)
        self._measure = measure
        self._measure_every = measure_every

    def step(self, ahead: bool) -> Mapping[str, float]:
        unroll, taken = self.demonstrated.take(ahead=ahead)
        assert unroll is not None, "imitation learns from demonstrations alone"
        metrics = self.learner.update(demonstrated=unroll)
        self.ledger.write(self.learner.updates, demonstrated=taken)
        metrics |= self._flow.metrics()
        self.steps += unroll.lanes * (unroll.steps + 1)
        if self._measure is not None and self.learner.updates % self._measure_every == 0:
            metrics |= self._measure()
        return metrics

    def identity(self) -> Mapping[str, Any]:
        return describe_agent(self.agent, self.vocabulary)

    def weights(self) -> Mapping[str, Tensor]:
        self._beat(SAVES)
        return self.agent.state_dict()

    def state(self) -> Mapping[str, Any]:
        self._beat(SAVES)
        return {"learner": self.learner.state(), "dataset": self.demonstrated.state()}

    def load(self, weights: Mapping[str, Tensor], state: Mapping[str, Any]) -> None:
        self.agent.load_state_dict(weights)
        self.learner.load_state(state["learner"])
        self.demonstrated.load_state(state["dataset"])
        self.steps = state["steps"]

    def go_on_from(self, update: int) -> None:
        self.ledger.truncate_after(update)

    def close(self) -> None:
        self.demonstrated.close()
