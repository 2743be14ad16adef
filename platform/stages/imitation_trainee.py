"""The trainee of the stages that learn from recorded episodes alone: cloning and the reward model."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from interplay.runtime.batch_sources import FlowMetrics
from interplay.stages.base_trainee import BaseTrainee

Measure = Callable[[], Mapping[str, float]]


class ImitationTrainee(BaseTrainee):
    """Learns from demonstrations; calls `measure`, if there is one, every `measure_every` updates, and at the update
    `measure_at`."""

    def __init__(
        self, *, measure: Measure | None = None, measure_every: int = 1, measure_at: int | None = None, **base: Any
    ) -> None:
        super().__init__(**base)
        self._flow = FlowMetrics(demonstrated=self.demonstrated.stats)
        self._measure = measure
        self._measure_every = measure_every
        self._measure_at = measure_at

    def step(self, ahead: bool) -> Mapping[str, float]:
        unroll, taken = self.demonstrated.take(ahead=ahead)
        assert unroll is not None, "imitation learns from demonstrations alone"
        metrics = self.learner.update(demonstrated=unroll)
        self.ledger.write(self.learner.updates, demonstrated=taken)
        metrics |= self._flow.metrics()
        self.steps += unroll.lanes * (unroll.steps + 1)
        update = self.learner.updates
        if self._measure is not None and (update % self._measure_every == 0 or update == self._measure_at):
            metrics |= self._measure()
        return metrics
