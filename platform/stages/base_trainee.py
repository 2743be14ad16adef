"""Base of both trainees: an agent, its learner, demonstrations and the ledger of consumed unrolls."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from torch import Tensor

from interplay.agent.network import Agent
from interplay.episodes.vocabulary import Vocabulary
from interplay.learner.agents import describe_agent
from interplay.learner.learner import Learner
from interplay.runtime.batch_sources import DemonstrationSource, Ledger
from interplay.stages.run import ReportActivity

LEARNS, SAVES = "learns", "saves"  # activities that the learner reports; it learns once a batch has been taken


class BaseTrainee:
    """A trainee without its `step`; see `interplay.stages.training_loop.Trainee`."""

    def __init__(
        self,
        *,
        agent: Agent,
        vocabulary: Vocabulary,
        learner: Learner,
        demonstrated: DemonstrationSource,
        ledger: Ledger,
        beat: ReportActivity,
    ) -> None:
        self.agent = agent
        self.vocabulary = vocabulary
        self.learner = learner
        self.demonstrated = demonstrated
        self.ledger = ledger
        self.steps = 0
        self._beat = beat

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

    def discard_after(self, update: int) -> None:
        self.ledger.truncate_after(update)

    def close(self) -> None:
        self.demonstrated.close()
