"""Batch sources in the learner's own process, at most one batch ahead of it; results never depend on timing."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, Protocol

from interplay.actors.dataset_actor import DatasetActor
from interplay.actors.episode_returns import EpisodeReturns
from interplay.actors.setter_replay_actor import SetterReplayActor
from interplay.agent.read_only_arrays import accept_read_only_arrays, read_only
from interplay.agent.unroll import Unroll
from interplay.agent.weights import Weights, as_arrays
from interplay.learner.checkpoint import CheckpointError
from interplay.reward.reward_functions import LaneState, RewardFunction, checked_score
from interplay.runtime.batch_sources import ConsumedUnroll, DemonstrationBatch, FetchWeights, RolloutBatch, SourceStats
from interplay.runtime.heartbeat import Heartbeat, IdleFraction
from interplay.runtime.interruption import grace_period
from interplay.runtime.lane_records import LaneRecord, from_bytes, load_records, save_records, to_bytes, to_tensors
from interplay.runtime.prefetcher import Lookahead


class ScoredRollouts(Protocol):
    """The unrolls of one actor, with their scores; made in this process or in another one."""

    @property
    def lanes(self) -> int:
        """How many lanes an unroll has."""

    def make(self, weights: Weights, version: int) -> tuple[Unroll, int]:
        """Plays an unroll with these weights; returns it with its score, and the version of the reward model."""

    def state(self) -> tuple[bytes, LaneState]:
        """The state of the actor, serialized, and that of the lanes of the networks that score."""

    def load_state(self, actor: bytes | None, lane_state: LaneState) -> None:
        """Restores a result of `state`; None is the state of an actor that has made nothing."""

    def idle_fractions(self) -> dict[str, float]:
        """Fractions of the time since the last call in which nothing was played and nothing was scored."""

    def close(self) -> None:
        """Gives up an unroll under way, where another process makes it."""


class ScoringActor:
    """An actor with the reward function that scores its unrolls."""

    def __init__(self, actor: SetterReplayActor, function: RewardFunction) -> None:
        self._actor = actor
        self._function = function
        self._lane_state = LaneState()  # after the last unroll
        self._heartbeats = {"actor": (Heartbeat(), IdleFraction()), "reward": (Heartbeat(), IdleFraction())}
        accept_read_only_arrays()

    @property
    def lanes(self) -> int:
        return self._actor.lanes

    def make(self, weights: Weights, version: int) -> tuple[Unroll, int]:
        with self._heartbeats["actor"][0].busy("plays"):
            self._actor.load_weights(weights, version)
            unroll = self._actor.unroll()
        with self._heartbeats["reward"][0].busy("scores"):
            scored = checked_score(self._function, read_only(unroll.arrays), self._lane_state)
        self._lane_state = scored.lane_state
        return replace(unroll, arrays=unroll.arrays | scored.arrays()), scored.version

    def state(self) -> tuple[bytes, LaneState]:
        return to_bytes(self._actor.state()), self._lane_state

    def load_state(self, actor: bytes | None, lane_state: LaneState) -> None:
        if actor is not None:
            self._actor.load_state(from_bytes(actor))
        self._lane_state = lane_state

    def idle_fractions(self) -> dict[str, float]:
        return {kind: share.update(heartbeat.read()) for kind, (heartbeat, share) in self._heartbeats.items()}

    def close(self) -> None:
        pass


class InlineRollouts:
    """Scored rollouts of one actor. With `overlap`, a thread makes or awaits one unroll ahead."""

    def __init__(self, rollouts: ScoredRollouts, *, reference: Weights | None, overlap: bool) -> None:
        """`reference`: the weights of the reference policy, stored in checkpoints; None without one."""
        self._rollouts = rollouts
        self._reference = reference
        self._returns = EpisodeReturns(rollouts.lanes)
        self._overlap = overlap
        self._ahead: Lookahead[tuple[Unroll, int]] = Lookahead(overlap)
        self._kept: tuple[FetchWeights, int] | None = None  # weights and their version, for the next unroll
        self._taken = 0
        self._is_saved = True  # whether the newest checkpoint holds the state before the next unroll
        self._wait_seconds = 0.0

    def take(
        self,
        snapshot: Callable[[], FetchWeights],
        version: int,
        *,
        ahead: Callable[[], bool],
        stopped: Callable[[], bool],
        keep: bool = False,
    ) -> RolloutBatch:
        started = time.monotonic()

        # Without an unroll ahead, this one is made while the learner waits, so its weights are still the current ones.
        def make() -> tuple[Unroll, int]:
            return self._make(*(self._kept or (snapshot(), version)))

        self._ahead.await_item(make, grace_period(stopped, "the unroll under way", keeps_all=self._is_saved))
        unroll, reward_version = self._ahead.take(make)
        self._wait_seconds += time.monotonic() - started
        self._kept, self._is_saved = None, False
        if ahead():
            if self._overlap:
                self._ahead.begin(partial(self._make, snapshot(), version))
        elif keep and self._overlap:
            self._kept = snapshot(), version
        taken = ConsumedUnroll(0, self._taken, unroll.version)
        self._taken += 1
        return RolloutBatch(unroll, self._returns.add(unroll), (taken,), reward_version)

    def stats(self) -> SourceStats:
        idle = {"inference": 1.0} | self._rollouts.idle_fractions()
        return SourceStats(wait_seconds=self._wait_seconds, idle_fractions=idle)

    def state(self) -> dict[str, Any]:
        self._is_saved = True
        record = LaneRecord(self._taken, *self._rollouts.state(), self._returns)
        kept = None if self._kept is None else {"weights": to_tensors(self._kept[0]()), "version": self._kept[1]}
        return {**save_records([record], self._reference), "kept": kept}

    def load_state(self, state: Mapping[str, Any]) -> None:
        if len(state["lanes"]) > 1:
            raise _of_several("actors", len(state["lanes"]))
        (record,) = load_records(state, 1, self._rollouts.lanes)
        self._rollouts.load_state(record.actor, record.lane_state)
        self._taken, self._returns = record.number, record.returns
        if self._overlap and (kept := state.get("kept")) is not None:  # checkpoints of earlier versions have none
            weights = as_arrays(kept["weights"])
            self._kept = (lambda: weights), kept["version"]

    def close(self) -> None:
        self._rollouts.close()
        self._ahead.close()

    def _make(self, fetch: FetchWeights, version: int) -> tuple[Unroll, int]:
        return self._rollouts.make(fetch(), version)


class InlineDemonstrations:
    """Demonstrations of one dataset actor. With `overlap`, a thread reads one unroll ahead."""

    def __init__(self, dataset: DatasetActor, overlap: bool) -> None:
        self._dataset = dataset
        self._ahead: Lookahead[Unroll] = Lookahead(overlap)
        self._taken = 0
        self._is_saved = True  # as in `InlineRollouts`
        self._wait_seconds = 0.0
        self._heartbeat, self._idle = Heartbeat(), IdleFraction()

    def await_step(self, stopped: Callable[[], bool]) -> None:
        started = time.monotonic()
        self._ahead.await_item(self._make, grace_period(stopped, "the demonstrations", keeps_all=self._is_saved))
        self._wait_seconds += time.monotonic() - started

    def take(self, *, ahead: Callable[[], bool]) -> DemonstrationBatch:
        started = time.monotonic()
        unroll = self._ahead.take(self._make)
        self._wait_seconds += time.monotonic() - started
        if ahead():
            self._ahead.begin(self._make)
        self._taken += 1
        self._is_saved = False
        return DemonstrationBatch(unroll, (ConsumedUnroll(0, self._taken - 1),))

    def stats(self) -> SourceStats:
        return SourceStats(
            wait_seconds=self._wait_seconds, idle_fractions={"dataset": self._idle.update(self._heartbeat.read())}
        )

    def state(self) -> dict[str, Any]:
        self._is_saved = True
        return self._dataset.state()

    def load_state(self, state: Mapping[str, Any]) -> None:
        if "readers" in state:
            raise _of_several("datasets", len(state["readers"]))
        self._dataset.load_state(state)
        self._taken = state["turn"]

    def close(self) -> None:
        self._ahead.close()

    def _make(self) -> Unroll:
        with self._heartbeat.busy("reads"):
            return self._dataset.unroll()


class NoDemonstrations:
    """The source of a learner that uses no demonstrations."""

    def await_step(self, stopped: Callable[[], bool]) -> None:
        pass

    def take(self, *, ahead: Callable[[], bool]) -> DemonstrationBatch:
        return DemonstrationBatch(None, ())

    def stats(self) -> SourceStats:
        return SourceStats()

    def state(self) -> dict[str, Any]:
        return {}

    def load_state(self, state: Mapping[str, Any]) -> None:
        assert not state, "the checkpoint has demonstrations, this run has none"

    def close(self) -> None:
        pass


def _of_several(kind: str, count: int) -> CheckpointError:
    return CheckpointError(
        f"the checkpoint is of a run under Ray with runtime.{kind}={count}, and only one plays or reads in process; "
        f"continue with runtime=ray runtime.{kind}={count}"
    )
