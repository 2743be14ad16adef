"""Rollouts from setter-replay actors, scored by the reward replicas and concatenated into batches ahead of the learner.

    actors --message--> replicas --reward--> ready --concatenated lanes--> buffers --> learner
       ^                                                                               |
       '--------------------------- weights of a version <------------------------------'
                                    (with an inference server, to it instead)

One thread does all of this. It requests an unroll from an actor only while the unroll can be learned from in time (see
`interplay.runtime.backpressure`), so no unroll is dropped for its age. Unrolls of one actor are scored, and learned
from, in the order in which the actor generated them, because each unroll starts from the lane states after the last.
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
from interplay.runtime.backpressure import can_request, select_batch
from interplay.runtime.batch_sources import BatchBuffers, ConsumedUnroll, RolloutBatch, SourceStats
from interplay.runtime.lane_records import LaneRecord, load_records, save_records
from interplay.runtime.prefetcher import POLL_SECONDS
from interplay.runtime.ray.actor_stream import ActorStream
from interplay.runtime.ray.inference import InferenceServer
from interplay.runtime.ray.learner_context import LearnerContext
from interplay.runtime.ray.reward_replicas import OutstandingUnroll, ScoringPool
from interplay.runtime.ray.worker_restarts import ActorPipeline, PendingUnroll, WorkerHandle

PLAYING_ACTIVITY = "plays unroll"
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
        self._outstanding: list[OutstandingUnroll] = []  # in the order of their requests
        self._weights: tuple[int, Weights] | None = None  # to be published
        self._published: tuple[int, ObjectRef[Any]] | None = None
        self._published_bytes = 0
        self._num_batches = 0  # number of batches filled; the next batch is trained on by weights of this version

    def take(self, weights: Callable[[], Weights], version: int, *, ahead: bool) -> RolloutBatch:
        self._release_used()
        if self._weights is None:
            self._num_batches = version
        self._weights = (version, weights())
        self._prefetcher.wake()
        filled = self._context.take(self._prefetcher, "for rollouts")
        self._used = filled.buffer
        return self._taken(filled)

    def stats(self) -> SourceStats:
        outstanding = list(self._outstanding)
        messages = [each.pending.message for each in outstanding]
        held = self._inference.held_bytes if self._inference is not None else self._published_bytes
        held += sum(message.nbytes for message in messages if message is not None)
        stats = self._stats(held, sum(each.pending.message is not None and each.scored is None for each in outstanding))
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
        references = self._waiting_for()
        if references:
            for reference in ray.wait(list(references), num_returns=1, timeout=POLL_SECONDS)[0]:
                references[reference]()
        else:
            self._prefetcher.idle()
        if self._inference is not None:
            self._inference.restart_stalled()
            self._excuse_stalls(self._inference)
        self._context.restart_stalled({pipeline: self._resubmit(pipeline) for pipeline in self._pipelines}, "an unroll")
        self._scoring.restart_stalled(self._context)
        return self._fill_batch()

    def _start(self) -> None:
        if self._inference is not None:
            self._inference.start()
        self._start_pipelines((record.number, record.actor) for record in self._records)
        self._scoring.start([record.lane_state for record in self._records])

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
        version, weights = self._weights
        if self._published is None or self._published[0] != version:
            self._published = (version, ray.put(weights))
            self._published_bytes = sum(array.nbytes for array in weights.values())
        if self._inference is None:
            return self._published
        played = {pending.version for pipeline in self._pipelines for pending in pipeline.in_flight}
        self._inference.publish(*self._published, self._published_bytes, sorted(played))
        return version, {}

    def _load_newer_reward(self) -> None:
        newer = self._newer()
        if newer is not None:
            self._scoring.load_version(*newer)

    def _request_unrolls(self) -> None:
        """Requests as many unrolls as the lag bound allows, first from the actor with the fewest requests in flight."""
        while True:
            assert self._weights is not None, "take was not called"
            free = [pipeline for pipeline in self._pipelines if len(pipeline.in_flight) < self._config.in_flight]
            versions = [each.pending.version for each in self._outstanding]
            if not free or not can_request(versions, self._weights[0], **self._bound()):
                return
            version, weights = self._publish()
            pipeline = min(free, key=lambda pipeline: (len(pipeline.in_flight), pipeline.next_number, pipeline.index))
            self._outstanding.append(OutstandingUnroll(pipeline.request(version, PLAYING_ACTIVITY, weights, version)))

    def _bound(self) -> dict[str, int]:
        return {
            "batch": self._num_batches,
            "unrolls_per_batch": self._config.unrolls_in_batch,
            "max_lag": self._config.max_lag,
        }

    def _waiting_for(self) -> dict[ObjectRef[Any], Callable[[], None]]:
        """Pending results, each with the function to call when it is ready."""
        waiting: dict[ObjectRef[Any], Callable[[], None]] = {}
        for pipeline in self._pipelines:
            if pipeline.in_flight:
                waiting[pipeline.in_flight[0].reference] = lambda pipeline=pipeline: self._receive(pipeline)  # type: ignore[misc]
        waiting |= self._scoring.waiting_for(self._outstanding)
        waiting |= self._inference.waiting_for() if self._inference is not None else {}
        return waiting

    def _receive(self, pipeline: ActorPipeline) -> None:
        if pipeline.receive() is None:
            pipeline.restart(self._resubmit(pipeline))
        self._scoring.score(pipeline.index, self._outstanding)

    def _resubmit(self, pipeline: ActorPipeline) -> Callable[[PendingUnroll], ObjectRef[Any]]:
        def submit(pending: PendingUnroll) -> ObjectRef[Any]:
            version, weights = self._publish()
            pending.version = version
            return pipeline.worker.submit(
                "unroll", f"{PLAYING_ACTIVITY} {pending.number}", pending.number, weights, version
            )

        return submit

    def _fill_batch(self) -> _FilledRollouts | None:
        """Returns the next batch if a buffer is free and enough unrolls are scored, including all that are due."""
        if not self._buffers.num_free:
            return None
        chosen = select_batch(
            [(each.pending.version, each.scored is not None) for each in self._outstanding], **self._bound()
        )
        if chosen is None:
            return None
        unrolls = [self._outstanding[index] for index in chosen]
        self._outstanding = [each for index, each in enumerate(self._outstanding) if index not in chosen]
        self._num_batches += 1
        return _concatenate(unrolls, self._buffers)


def _concatenate(unrolls: list[OutstandingUnroll], buffers: BatchBuffers) -> _FilledRollouts:
    """Concatenates unrolls into a buffer."""
    messages = [each.pending.message for each in unrolls if each.pending.message is not None]
    scored = [each.scored for each in unrolls if each.scored is not None]
    blocks = [message.arrays | score.arrays() for message, score in zip(messages, scored, strict=True)]
    buffer, arrays = buffers.concatenate(blocks)
    state = concatenate_states([message.state for message in messages if message.state is not None])
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
    return _FilledRollouts(
        buffer,
        Unroll(arrays, state, version, episodes, sorted(tasks, key=lambda task: task.row)),
        items,
        max(each.version for each in scored),
    )
