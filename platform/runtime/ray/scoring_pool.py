"""What unrolls earned: each is judged as soon as it is there, those of one actor in the order in which it made them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ray import ObjectRef

from interplay.agent.unroll import Unroll
from interplay.reward.reward_functions import RewardFunction
from interplay.reward.scoring_model import LaneState, ScoredUnroll
from interplay.runtime.ray.actor_pipeline import PendingUnroll
from interplay.runtime.ray.learner_context import LearnerContext
from interplay.runtime.ray.replicas import Replicas, ScoreRequest
from interplay.runtime.ray.stalls import report_blocked
from interplay.runtime.ray.worker import WorkerHandle

PAID_BY = ("first", "last", "progress", "env_reward")  # what payments without a model read


@dataclass
class OutstandingUnroll:
    """An unroll from when it is asked for until it is joined to a batch."""

    pending: PendingUnroll
    asked: ScoreRequest | None = None
    scored: ScoredUnroll | None = None


class ScoringPool:
    """Asks the replicas about unrolls that have come, and carries the lanes' states from one to the next.

    Args:
        replicas: None where no network has to be asked.
        plain: pays without a model, and keeps nothing; None where the replicas pay.
    """

    def __init__(self, replicas: Replicas | None, plain: RewardFunction | None) -> None:
        assert plain is not None or replicas is not None, "nobody pays"
        self._replicas = replicas
        self._plain = plain
        self._states: list[LaneState] = []

    @property
    def workers(self) -> list[WorkerHandle]:
        """The replicas."""
        return [] if self._replicas is None else self._replicas.workers

    def start(self, states: Sequence[LaneState]) -> None:
        """Makes the replicas; `states` are those of each actor's lanes."""
        self._states = list(states)
        if self._replicas is not None:
            self._replicas.start()

    def load_version(self, weights: Any, version: int) -> None:
        """See `Replicas.load_version`."""
        if self._replicas is not None:
            self._replicas.load_version(weights, version)

    def score(self, pipeline: int, outstanding: Sequence[OutstandingUnroll]) -> None:
        """Asks about the next unroll of this actor, if it is there and the one before it is judged."""
        following = next(
            (each for each in outstanding if each.pending.pipeline == pipeline and each.scored is None), None
        )
        if following is None or following.asked is not None or following.pending.message is None:
            return
        if self._replicas is None:
            following.scored = self._paid(following, ScoredUnroll(None, None, LaneState(), 0))
            self.score(pipeline, outstanding)
            return
        following.asked = self._replicas.ask(following.pending.reference, self._states[pipeline])

    def waiting_for(self, outstanding: Sequence[OutstandingUnroll]) -> dict[ObjectRef[Any], Callable[[], None]]:
        """The answers under way, and what to do when one is there."""
        return {
            each.asked.reference: lambda each=each: self._hear(each, outstanding)  # type: ignore[misc]
            for each in outstanding
            if each.asked is not None and each.scored is None
        }

    def restart_stalled(self, context: LearnerContext) -> None:
        """Restarts each replica that has owed an answer for too long."""
        if self._replicas is None:
            return
        for replica, seconds in self._replicas.stalled():
            name = self._replicas.workers[replica].name
            self._replicas.restart(replica, report_blocked(context, name, seconds, "a judgment"))

    def _hear(self, each: OutstandingUnroll, outstanding: Sequence[OutstandingUnroll]) -> None:
        assert self._replicas is not None and each.asked is not None
        heard = self._replicas.answer(each.asked)
        if isinstance(heard, ScoreRequest):
            each.asked = heard
            return
        each.scored = self._paid(each, heard)
        self._states[each.pending.pipeline] = heard.states
        self.score(each.pending.pipeline, outstanding)

    def _paid(self, each: OutstandingUnroll, scored: ScoredUnroll) -> ScoredUnroll:
        if self._plain is None:
            return scored
        assert each.pending.message is not None
        # What came from another process is read-only.
        arrays = {name: each.pending.message.arrays[name].copy() for name in PAID_BY}
        return ScoredUnroll(self._plain.pay(Unroll(arrays, {})), scored.gate, scored.states, scored.version)
