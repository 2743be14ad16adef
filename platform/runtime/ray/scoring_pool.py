"""Scores unrolls as soon as they arrive, those of one actor in their order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ray import ObjectRef

from interplay.reward.reward_functions import LaneState, RewardFunction, ScoredUnroll
from interplay.runtime.ray.actor_pipeline import PendingUnroll
from interplay.runtime.ray.learner_context import LearnerContext
from interplay.runtime.ray.replicas import Replicas, ScoreRequest
from interplay.runtime.ray.stalls import report_blocked
from interplay.runtime.ray.worker_handle import WorkerHandle


@dataclass
class OutstandingUnroll:
    """An unroll between its request and its copy into a batch."""

    pending: PendingUnroll
    request: ScoreRequest | None = None
    scored: ScoredUnroll | None = None


class ScoringPool:
    """Scores unrolls, and passes the lane state of each actor from one unroll to the next.

    Args:
        scorer: replicas if scoring needs a network; otherwise a reward function, which scores in this process.
    """

    def __init__(self, scorer: Replicas | RewardFunction) -> None:
        self._replicas = scorer if isinstance(scorer, Replicas) else None
        self._local = scorer if isinstance(scorer, RewardFunction) else None
        self._lane_states: list[LaneState] = []

    @property
    def workers(self) -> list[WorkerHandle]:
        """The replicas."""
        return [] if self._replicas is None else self._replicas.workers

    def start(self, lane_states: Sequence[LaneState]) -> None:
        """Starts the replicas, with one lane state for each actor."""
        self._lane_states = list(lane_states)
        if self._replicas is not None:
            self._replicas.start()

    def load_version(self, weights: Any, version: int) -> None:
        """See `Replicas.load_version`."""
        if self._replicas is not None:
            self._replicas.load_version(weights, version)

    def score(self, pipeline: int, outstanding: Sequence[OutstandingUnroll]) -> None:
        """Scores this actor's next unroll, if the unroll has arrived and its predecessor is scored."""
        following = next(
            (each for each in outstanding if each.pending.pipeline == pipeline and each.scored is None), None
        )
        if following is None or following.request is not None or following.pending.message is None:
            return
        lane_state = self._lane_states[pipeline]
        if self._local is not None:
            self._set_score(following, self._local.score(following.pending.message.arrays, lane_state), outstanding)
        elif self._replicas is not None:
            following.request = self._replicas.ask(following.pending.reference, lane_state)

    def waiting_for(self, outstanding: Sequence[OutstandingUnroll]) -> dict[ObjectRef[Any], Callable[[], None]]:
        """Pending scores, each with the function to call when it is ready."""
        return {
            each.request.reference: lambda each=each: self._receive(each, outstanding)  # type: ignore[misc]
            for each in outstanding
            if each.request is not None and each.scored is None
        }

    def restart_stalled(self, context: LearnerContext) -> None:
        """Restarts each replica that has not answered within its limit."""
        if self._replicas is None:
            return
        for replica, seconds in self._replicas.stalled():
            name = self._replicas.workers[replica].name
            self._replicas.restart(replica, report_blocked(context, name, seconds, "a judgment"))

    def _receive(self, each: OutstandingUnroll, outstanding: Sequence[OutstandingUnroll]) -> None:
        assert self._replicas is not None and each.request is not None
        answer = self._replicas.answer(each.request)
        if isinstance(answer, ScoreRequest):
            each.request = answer
        else:
            self._set_score(each, answer, outstanding)

    def _set_score(
        self, each: OutstandingUnroll, scored: ScoredUnroll, outstanding: Sequence[OutstandingUnroll]
    ) -> None:
        each.scored = scored
        self._lane_states[each.pending.pipeline] = scored.lane_state
        self.score(each.pending.pipeline, outstanding)
