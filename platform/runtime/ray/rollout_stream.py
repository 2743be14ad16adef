"""Rollouts from setter-replay actors, scored by the reward replicas and concatenated into batches ahead of the learner.

    actors --message--> replicas --reward--> ready --concatenated lanes--> buffers --> learner
       ^                                                                               |
       '--------------------------- weights of a version <------------------------------'
                                    (with an inference server, to it instead)

One thread does all of this, at a cost per unroll that does not depend on the number of actors. It requests an unroll
from an actor only while the unroll can be learned from in time (see `interplay.runtime.backpressure`), so no unroll is
dropped for its age. Unrolls of one actor are scored, and learned from, in the order in which the actor generated them,
because each unroll starts from the lane states after the last.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import ray
from ray import ObjectRef

from interplay.actors.episode_returns import concatenate_finished
from interplay.agent.recurrent import concatenate_states
from interplay.agent.unroll import FinishedTask, Unroll
from interplay.agent.weights import Weights
from interplay.reward.reward_functions import LaneState
from interplay.runtime.backpressure import FreeActors, LagBound
from interplay.runtime.batch_sources import BatchBuffers, ConsumedUnroll, FetchWeights, RolloutBatch, SourceStats
from interplay.runtime.lane_records import LaneRecord, load_records, save_records
from interplay.runtime.messages import UnrollMessage
from interplay.runtime.prefetcher import POLL_SECONDS
from interplay.runtime.ray.actor_stream import ActorStream
from interplay.runtime.ray.inference import InferenceServer
from interplay.runtime.ray.learner_context import LearnerContext
from interplay.runtime.ray.reward_replicas import OutstandingUnroll, ScoringPool
from interplay.runtime.ray.unroll_parts import ReferencedUnroll, UnrollPart, concatenate_parts
from interplay.runtime.ray.worker_restarts import ActorPipeline, PendingUnroll, WorkerHandle

PLAYING_ACTIVITY = "plays unroll"
GROUP_SECONDS = 0.01  # that unrolls wait for others, to be scored in the same call of a replica
IDLE_IF_ABSENT = {"reward": 1.0, "inference": 1.0}  # idle fractions of optional workers


class _BatchItem(NamedTuple):
    """Data kept for an unroll after it is copied into a batch."""

    pipeline: int
    taken: ConsumedUnroll
    after: bytes
    lane_state: LaneState


class _FilledRollouts(NamedTuple):
    buffer: int
    unroll: Unroll
    items: list[_BatchItem]
    reward_version: int


class RolloutStream(ActorStream[_FilledRollouts]):
    """A `RolloutSource` under Ray; see the module docstring."""

    def __init__(
        self,
        *,
        workers: Sequence[WorkerHandle],
        scoring: ScoringPool,
        inference: InferenceServer | None,
        reference: Weights | None,
        newer: Callable[[], tuple[Weights, int] | None],
        lanes: int,
        context: LearnerContext,
        pinned: bool,
    ) -> None:
        """
        Args:
            inference: server that chooses the actors' actions; None if each actor has its own network.
            reference: weights of the reference policy, stored in checkpoints.
            newer: returns weights and version of a newer reward model, or None without one.
            lanes: number of lanes of each actor.
        """
        super().__init__("rollouts", workers, context, pinned=pinned)
        self._scoring = scoring
        self._inference = inference
        self._reference = reference
        self._newer = newer
        self._lanes = lanes
        self._records = [LaneRecord.initial(lanes) for _ in self._workers]  # as of the last batch taken
        self._outstanding = LagBound[OutstandingUnroll](self._config.unrolls_in_batch, self._config.max_lag)
        self._unrolls: dict[PendingUnroll, OutstandingUnroll] = {}
        self._free = FreeActors(self._config.in_flight)
        self._awaited = 0  # unrolls that were requested and have not arrived
        self._held_bytes, self._unscored = 0, 0  # of unrolls that arrived and are in no batch; how many lack a score
        self._weights: tuple[int, FetchWeights] | None = None  # to be published
        self._published: tuple[int, ObjectRef[Any]] | None = None
        self._published_bytes = 0
        scoring.connect(self._completions, self._set_scored)

    def take(
        self,
        snapshot: Callable[[], FetchWeights],
        version: int,
        *,
        ahead: Callable[[], bool],
        stopped: Callable[[], bool],
        keep: bool = False,
    ) -> RolloutBatch:
        self._release_used()
        if self._weights is None:
            self._outstanding.batch = version  # batch j is trained on by weights of version j
        self._weights = (version, snapshot())
        self._prefetcher.wake()
        self._context.await_item(self._prefetcher, "for rollouts", stopped)
        filled = self._prefetcher.take()
        self._used = filled.buffer
        return self._taken(filled)

    def stats(self) -> SourceStats:
        weights = self._inference.held_bytes if self._inference is not None else self._published_bytes
        stats = self._stats(weights + self._held_bytes, self._unscored)
        return replace(stats, idle_fractions={**IDLE_IF_ABSENT, **stats.idle_fractions})

    def state(self) -> dict[str, Any]:
        return save_records(self._records, self._reference)

    def load_state(self, state: Mapping[str, Any]) -> None:
        self._records = load_records(state, len(self._workers), self._lanes)

    def _all_workers(self) -> list[WorkerHandle]:
        return [
            *self._workers,
            *self._scoring.workers,
            *([self._inference.worker] if self._inference is not None else []),
        ]

    def _taken(self, filled: _FilledRollouts) -> RolloutBatch:
        """Records the actor states after this batch, from which a resume continues."""
        ended = []
        for index, item in enumerate(filled.items):
            record = self._records[item.pipeline]
            own = filled.unroll.select(slice(index * self._lanes, (index + 1) * self._lanes))
            ended.append(record.returns.add(own))
            record.actor, record.lane_state, record.number = item.after, item.lane_state, item.taken.number + 1
        taken = tuple(item.taken for item in filled.items)
        return RolloutBatch(filled.unroll, concatenate_finished(ended), taken, filled.reward_version)

    # The rest runs in the prefetcher's thread.

    def _advance(self) -> _FilledRollouts | None:
        if not self._pipelines:
            self._start()
        self._load_newer_reward()
        self._request_unrolls()
        if self._inference is not None:
            self._inference.handle_ended()
        if self._completions.watched:
            ended = self._completions.handle_ended(GROUP_SECONDS if self._scoring.has_waiting else POLL_SECONDS)
            if not ended or not self._awaited:  # no other unroll arrives soon
                self._scoring.request_waiting()
        else:
            self._prefetcher.idle()
        if self._stall_check_due():
            self._restart_stalled()
        return self._fill_batch()

    def _start(self) -> None:
        if self._inference is not None:
            self._inference.start()
        self._start_pipelines((record.number, record.actor) for record in self._records)
        for pipeline in self._pipelines:
            self._set_free(pipeline)
        self._scoring.start([record.lane_state for record in self._records])

    def _restart_stalled(self) -> None:
        if self._inference is not None:
            self._inference.restart_stalled()
            self._excuse_stalls(self._inference)
        self._context.restart_stalled(self._pipelines, self._resubmit, "an unroll")
        self._scoring.restart_stalled(self._context)

    def _excuse_stalls(self, inference: InferenceServer) -> None:
        """Excuses overdue actors that wait for a decision: the inference server causes the delay."""
        for pipeline in self._pipelines:
            if pipeline.stalled_seconds() is not None and inference.delays(pipeline.worker):
                pipeline.excuse_stall()

    def _publish(self) -> tuple[int, ObjectRef[Any] | Weights]:
        """Returns the newest version and a reference to its weights, which are published on first use.

        With an inference server, the weights are published to the server, and actors get none.
        """
        assert self._weights is not None, "take was not called"
        version, fetch = self._weights
        if self._published is None or self._published[0] != version:
            weights = fetch()
            self._published = (version, ray.put(weights))
            self._published_bytes = sum(array.nbytes for array in weights.values())
        if self._inference is None:
            return self._published
        if not self._inference.has(version):
            played = {pending.version for pipeline in self._pipelines for pending in pipeline.in_flight}
            self._inference.publish(*self._published, self._published_bytes, sorted(played))
        return version, {}

    def _load_newer_reward(self) -> None:
        newer = self._newer()
        if newer is not None:
            self._scoring.load_version(*newer)

    def _request_unrolls(self) -> None:
        """Requests as many unrolls as the lag bound allows, first from the actor with the fewest requests in flight."""
        assert self._weights is not None, "take was not called"
        while self._free and self._outstanding.can_request(self._weights[0]):
            pipeline = self._pipelines[self._free.first()]
            version, weights = self._publish()
            pending = pipeline.request(version, PLAYING_ACTIVITY, weights, version)
            unroll = OutstandingUnroll(pending)
            self._unrolls[pending] = unroll
            self._awaited += 1
            self._outstanding.add(unroll, version)
            self._scoring.add(unroll)
            self._set_free(pipeline)

    def _set_free(self, pipeline: ActorPipeline) -> None:
        self._free.update(pipeline.index, in_flight=len(pipeline.in_flight), requested=pipeline.next_number)

    def _add(self, pipeline: ActorPipeline, pending: PendingUnroll, message: UnrollMessage) -> None:
        self._held_bytes += message.nbytes
        self._unscored += 1
        self._awaited -= 1
        self._set_free(pipeline)
        self._scoring.score(pipeline.index)

    def _resubmit(self, pipeline: ActorPipeline, pending: PendingUnroll) -> ObjectRef[Any]:
        version, weights = self._publish()
        pending.version = version
        self._outstanding.change_version(self._unrolls[pending], version)
        activity = f"{PLAYING_ACTIVITY} {pending.number}"
        return pipeline.worker.submit("unroll", activity, pending.number, weights, version)

    def _set_scored(self, unroll: OutstandingUnroll) -> None:
        self._unscored -= 1
        self._outstanding.set_ready(unroll)

    def _fill_batch(self) -> _FilledRollouts | None:
        """Returns the next batch if a buffer is free and enough unrolls are scored, including all that are due."""
        if not self._buffers.num_free:
            return None
        unrolls = self._outstanding.select_batch()
        if unrolls is None:
            return None
        for unroll in unrolls:
            del self._unrolls[unroll.pending]
            self._held_bytes -= unroll.pending.message.nbytes if unroll.pending.message is not None else 0
        return _concatenate(unrolls, self._buffers, referenced=self._referenced)


def _concatenate(unrolls: list[OutstandingUnroll], buffers: BatchBuffers, *, referenced: bool) -> _FilledRollouts:
    """Concatenates unrolls into a buffer; see `ReferencedUnroll`."""
    messages = [each.pending.message for each in unrolls if each.pending.message is not None]
    scored = [each.scored for each in unrolls if each.scored is not None]
    parts = [
        UnrollPart(each.pending.reference, message, score.arrays())
        for each, message, score in zip(unrolls, messages, scored, strict=True)
    ]
    buffer, arrays = concatenate_parts(parts, buffers, referenced=referenced)
    version = min(message.version for message in messages)
    episodes = [episode for message in messages for episode in message.episodes]
    tasks, lane = list[FinishedTask](), 0
    for message in messages:
        tasks += [task._replace(lane=lane + task.lane) for task in message.tasks]
        lane += message.lanes
    items = [
        _BatchItem(
            each.pending.pipeline,
            ConsumedUnroll(each.pending.pipeline, message.number, message.version),
            message.after,
            score.lane_state,
        )
        for each, message, score in zip(unrolls, messages, scored, strict=True)
    ]
    tasks = sorted(tasks, key=lambda task: task.row)
    if referenced:
        unroll: Unroll = ReferencedUnroll(arrays, None, version, episodes, tasks, parts=parts)
    else:
        state = concatenate_states([message.state for message in messages if message.state is not None])
        scenes = [part for message in messages for part in message.scenes]
        unroll = Unroll(arrays, state, version, episodes, tasks, scenes)
    return _FilledRollouts(buffer, unroll, items, max(each.version for each in scored))
