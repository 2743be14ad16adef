"""Base of the sources of batches under Ray: a thread requests unrolls from actors, and fills buffers with them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from typing import Generic, TypeVar

from interplay.runtime.batch_sources import BatchBuffers, SourceStats
from interplay.runtime.prefetcher import Prefetcher
from interplay.runtime.ray.learner_context import LearnerContext, total_restarts
from interplay.runtime.ray.worker_restarts import ActorPipeline, WorkerHandle

Filled = TypeVar("Filled")


class ActorStream(ABC, Generic[Filled]):
    """A source of batches under Ray: a thread requests unrolls from actors, and fills buffers with them."""

    def __init__(self, name: str, workers: Sequence[WorkerHandle], context: LearnerContext, *, pinned: bool) -> None:
        self._workers = list(workers)
        self._context = context
        self._config = context.config
        self._pipelines: list[ActorPipeline] = []
        self._buffers = BatchBuffers(self._config.num_buffers, pinned)
        self._used: int | None = None
        self._prefetcher: Prefetcher[Filled] = Prefetcher(name, self._advance, time_limit=2 * self._config.result_limit)

    def close(self) -> None:
        self._prefetcher.close()
        for worker in self._all_workers():
            worker.kill()

    def _all_workers(self) -> list[WorkerHandle]:
        return self._workers

    def _stats(self, held_bytes: int, unscored: int = 0) -> SourceStats:
        by_kind: dict[str, list[float]] = {}
        for worker in self._all_workers():
            status = worker.status()
            by_kind.setdefault(status.kind, []).append(status.idle_fraction)
        return SourceStats(
            wait_seconds=self._prefetcher.wait_seconds,
            ready_batches=self._prefetcher.ready,
            unscored=unscored,
            held_bytes=held_bytes,
            restarts=total_restarts(self._all_workers()),
            idle_fractions={kind: sum(shares) / len(shares) for kind, shares in by_kind.items()},
        )

    def _release_used(self) -> None:
        if self._used is not None:
            self._buffers.release(self._used)

    # The rest runs in the prefetcher's thread, also in subclasses.

    @abstractmethod
    def _advance(self) -> Filled | None:
        """Makes some progress; returns the next batch once it is filled."""

    def _start_pipelines(self, starts: Iterable[tuple[int, bytes | None]]) -> None:
        """Starts each actor at the number of an unroll and the actor's state before it."""
        for index, (worker, (number, after)) in enumerate(zip(self._workers, starts, strict=True)):
            pipeline = ActorPipeline(index, worker, number=number, after=after)
            pipeline.start()
            self._pipelines.append(pipeline)
