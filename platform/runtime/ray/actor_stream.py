"""Base of the sources of batches under Ray: a thread requests unrolls from actors, and fills buffers with them."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any, Generic, TypeVar

from ray import ObjectRef

from interplay.runtime.batch_sources import BatchBuffers, SourceStats
from interplay.runtime.messages import UnrollMessage
from interplay.runtime.prefetcher import Prefetcher
from interplay.runtime.ray.completions import Completions
from interplay.runtime.ray.learner_context import STATUS_SECONDS_PER_WORKER, LearnerContext
from interplay.runtime.ray.worker_restarts import ActorPipeline, PendingUnroll, WorkerHandle

STALL_CHECK_SECONDS = 1.0  # at most, between two looks for overdue results

Filled = TypeVar("Filled")


class ActorStream(ABC, Generic[Filled]):
    """A source of batches under Ray: a thread requests unrolls from actors, and fills buffers with them."""

    def __init__(
        self,
        name: str,
        workers: Sequence[WorkerHandle],
        context: LearnerContext,
        *,
        pinned: bool,
        batches_per_step: int = 1,
    ) -> None:
        """`batches_per_step`: how many batches are ready together before a step of the learner begins."""
        self._workers = list(workers)
        self._context = context
        self._config = context.config
        self._pipelines: list[ActorPipeline] = []
        self._completions = Completions()
        self._buffers = BatchBuffers(max(self._config.num_buffers, batches_per_step + 1), pinned)
        self._referenced = self._config.learners > 1  # ranks join their own lanes
        self._used: int | None = None
        self._read_at, self._restarts, self._idle_fractions = 0.0, 0, dict[str, float]()
        self._stalls_checked_at = time.monotonic()
        self._prefetcher: Prefetcher[Filled] = Prefetcher(
            name, self._advance, time_limit=2 * self._config.result_limit, clock=context.clock
        )

    def close(self) -> None:
        self._prefetcher.close()
        for worker in self._all_workers():
            worker.kill()

    def _all_workers(self) -> list[WorkerHandle]:
        return self._workers

    def _stats(self, held_bytes: int, unscored: int = 0) -> SourceStats:
        self._read_workers()
        return SourceStats(
            wait_seconds=self._prefetcher.wait_seconds,
            ready_batches=self._prefetcher.ready,
            unscored=unscored,
            held_bytes=held_bytes,
            restarts=self._restarts,
            idle_fractions=self._idle_fractions,
        )

    def _read_workers(self) -> None:
        """Updates the metrics that are read from all workers, less often the more workers there are."""
        now, workers = time.monotonic(), self._all_workers()
        if now - self._read_at < STATUS_SECONDS_PER_WORKER * len(workers):
            return
        by_kind: dict[str, list[float]] = {}
        for worker in workers:
            status = worker.status()
            by_kind.setdefault(status.kind, []).append(status.idle_fraction)
        self._idle_fractions = {kind: sum(shares) / len(shares) for kind, shares in by_kind.items()}
        self._restarts, self._read_at = sum(worker.restarts for worker in workers), now

    def _release_used(self) -> None:
        if self._used is not None:
            self._buffers.release(self._used)
            self._used = None

    # The rest runs in the prefetcher's thread, also in subclasses.

    @abstractmethod
    def _advance(self) -> Filled | None:
        """Handles what has arrived and requests more; returns the next batch once it is filled."""

    @abstractmethod
    def _add(self, pipeline: ActorPipeline, pending: PendingUnroll, message: UnrollMessage) -> None:
        """Takes an unroll that has arrived; those of one actor come in the order of their requests."""

    @abstractmethod
    def _resubmit(self, pipeline: ActorPipeline, pending: PendingUnroll) -> ObjectRef[Any]:
        """Submits a request of an actor again, to its new process."""

    def _receive(self, pipeline: ActorPipeline) -> None:
        """Receives the results of an actor that have arrived; restarts the actor if it has failed."""
        while pipeline.has_ended:
            pending = pipeline.receive()
            if pending is None:
                pipeline.restart(partial(self._resubmit, pipeline))
                return
            assert pending.message is not None
            self._add(pipeline, pending, pending.message)

    def _stall_check_due(self) -> bool:
        """Whether to look for overdue results again: not at every event, but often compared with the limit."""
        now = time.monotonic()
        if now - self._stalls_checked_at < min(STALL_CHECK_SECONDS, self._config.stall_limit / 20):
            return False
        self._stalls_checked_at = now
        return True

    def _start_pipelines(self, starts: Iterable[tuple[int, bytes | None]]) -> None:
        """Starts each actor at the number of an unroll and the actor's state before it."""
        for index, (worker, (number, after)) in enumerate(zip(self._workers, starts, strict=True)):
            pipeline = ActorPipeline(
                index, worker, number=number, after=after, completions=self._completions, ended=self._receive
            )
            pipeline.start()
            self._pipelines.append(pipeline)
