"""Demonstrations from dataset actors: each batch concatenates one unroll of every actor, always in the same order."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from ray import ObjectRef

from interplay.agent.unroll import Unroll
from interplay.learner.checkpoint import CheckpointError
from interplay.runtime.batch_sources import ConsumedUnroll, DemonstrationBatch, SourceStats
from interplay.runtime.lane_records import from_bytes, to_bytes
from interplay.runtime.messages import UnrollMessage
from interplay.runtime.prefetcher import POLL_SECONDS
from interplay.runtime.ray.actor_stream import ActorStream
from interplay.runtime.ray.learner_context import LearnerContext
from interplay.runtime.ray.unroll_parts import ReferencedUnroll, UnrollPart, concatenate_parts
from interplay.runtime.ray.worker_restarts import ActorPipeline, PendingUnroll, WorkerHandle

READING_ACTIVITY = "reads unroll"


class _FilledDemonstrations(NamedTuple):
    buffer: int
    batch: DemonstrationBatch
    after: list[bytes]


class DemonstrationStream(ActorStream[_FilledDemonstrations]):
    """A `DemonstrationSource` under Ray. Its batches do not depend on timing, nor on which actor is faster."""

    def __init__(
        self, workers: Sequence[WorkerHandle], context: LearnerContext, *, pinned: bool, batches_per_step: int = 1
    ) -> None:
        super().__init__("demonstrations", workers, context, pinned=pinned, batches_per_step=batches_per_step)
        self._batches_per_step = batches_per_step
        self._arrived: list[deque[UnrollPart]] = [deque() for _ in self._workers]
        self._after: list[bytes | None] = [None] * len(self._workers)  # actor states as of the batch taken last
        self._number = 0  # of the next batch to be taken

    def await_step(self, stopped: Callable[[], bool]) -> None:
        self._await(stopped, self._batches_per_step)

    def _await(self, stopped: Callable[[], bool] = lambda: False, count: int = 1) -> None:
        self._release_used()
        self._prefetcher.wake()
        self._context.await_item(self._prefetcher, "for demonstrations", stopped, count=count)

    def take(self, *, ahead: Callable[[], bool]) -> DemonstrationBatch:
        self._await()
        filled = self._prefetcher.take()
        self._used, self._after = filled.buffer, list(filled.after)
        self._number += 1
        return filled.batch

    def stats(self) -> SourceStats:
        return self._stats(sum(part.message.nbytes for arrived in self._arrived for part in list(arrived)))

    def state(self) -> dict[str, Any]:
        """With one dataset actor, its state as in process; otherwise the states of all of them."""
        states = [from_bytes(after) for after in self._after if after is not None]
        return states[0] if len(self._workers) == 1 else {"readers": states}

    def load_state(self, state: Mapping[str, Any]) -> None:
        states = state["readers"] if "readers" in state else [dict(state)]
        if len(states) != len(self._workers):
            raise CheckpointError(
                f"the checkpoint is of {len(states)} dataset actors, this run has {len(self._workers)}; continue with "
                f"runtime.datasets={len(states)}"
            )
        self._after = [to_bytes(each) for each in states]
        self._number = states[0]["turn"]

    # The rest runs in the prefetcher's thread.

    def _advance(self) -> _FilledDemonstrations | None:
        if not self._pipelines:
            self._start_pipelines((self._number, after) for after in self._after)
        for pipeline in self._pipelines:
            while len(pipeline.in_flight) + len(self._arrived[pipeline.index]) < self._config.in_flight:
                pipeline.request(0, READING_ACTIVITY)
        if self._completions.watched:
            self._completions.handle_ended(POLL_SECONDS)
        elif not self._buffers.num_free:
            self._prefetcher.idle()
        if self._stall_check_due():
            self._context.restart_stalled(self._pipelines, self._resubmit, "demonstrations")
        return self._fill_batch() if self._buffers.num_free and all(self._arrived) else None

    def _add(self, pipeline: ActorPipeline, pending: PendingUnroll, message: UnrollMessage) -> None:
        self._arrived[pipeline.index].append(UnrollPart(pending.reference, message, {}))

    def _resubmit(self, pipeline: ActorPipeline, pending: PendingUnroll) -> ObjectRef[Any]:
        return pipeline.worker.submit("unroll", f"{READING_ACTIVITY} {pending.number}", pending.number)

    def _fill_batch(self) -> _FilledDemonstrations:
        parts = [arrived.popleft() for arrived in self._arrived]
        messages = [part.message for part in parts]
        buffer, arrays = concatenate_parts(parts, self._buffers, referenced=self._referenced)
        episodes = [episode for message in messages for episode in message.episodes]
        if self._referenced:
            unroll: Unroll = ReferencedUnroll(arrays, episodes=episodes, parts=parts)
        else:
            unroll = Unroll(arrays, episodes=episodes, scenes=[part for each in messages for part in each.scenes])
        taken = tuple(ConsumedUnroll(index, message.number) for index, message in enumerate(messages))
        return _FilledDemonstrations(buffer, DemonstrationBatch(unroll, taken), [message.after for message in messages])
