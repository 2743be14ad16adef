"""Pipelined unroll requests to one actor: a bounded number in flight, submitted again after a restart."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import ray
from ray import ObjectRef
from ray.exceptions import RayError

from interplay.runtime.messages import UnrollMessage
from interplay.runtime.ray.worker_handle import WorkerHandle


@dataclass
class PendingUnroll:
    """An unroll from its request until it is learned from."""

    pipeline: int  # index of its actor
    number: int  # of the actor's unrolls
    version: int
    reference: ObjectRef[Any]
    message: UnrollMessage | None = None  # once it has arrived


class ActorPipeline:
    """Requests numbered unrolls from one worker, starting with `number`, after the actor state `after`.

    If the worker fails, the requests in flight are submitted to its successor, which continues after the last unroll
    that arrived.
    """

    def __init__(self, index: int, worker: WorkerHandle, *, number: int, after: bytes | None) -> None:
        self.index = index
        self.worker = worker
        self.next_number = number
        self.in_flight: deque[PendingUnroll] = deque()
        self.episodes: list[str] = []  # of the last unroll that arrived
        self._after = after
        self._progress_at = time.monotonic()

    def start(self) -> None:
        """Starts the worker."""
        self._progress_at = time.monotonic()
        self.worker.start(self._after)

    def request(self, version: int, activity: str, *arguments: Any) -> PendingUnroll:
        """Requests the next unroll; `arguments` follow its number."""
        if not self.in_flight:
            self._progress_at = time.monotonic()
        number = self.next_number
        reference = self.worker.submit("unroll", f"{activity} {number}", number, *arguments)
        pending = PendingUnroll(self.index, number, version, reference)
        self.next_number += 1
        self.in_flight.append(pending)
        return pending

    def receive(self) -> PendingUnroll | None:
        """Returns the oldest request in flight with its message, whose reference is ready; None if the worker failed.

        Raises:
            WorkerFailed: the worker failed more often than allowed.
        """
        pending = self.in_flight[0]
        try:
            message = ray.get(pending.reference, timeout=self.worker.result_limit)
        except RayError as error:
            self.worker.handle_failure(error, self.episodes)
            return None
        assert message.number == pending.number, (message.number, pending.number)
        self.in_flight.popleft()
        pending.message = message
        self._after, self.episodes, self._progress_at = message.after, message.episodes, time.monotonic()
        self.worker.completed += 1
        return pending

    def restart(self, resubmit: Callable[[PendingUnroll], ObjectRef[Any]]) -> None:
        """Restarts the worker and submits the requests in flight again."""
        self.start()
        for pending in self.in_flight:
            pending.reference = resubmit(pending)

    def excuse_stall(self) -> None:
        """Restarts the clock of the pending result, when another process caused the delay."""
        self._progress_at = time.monotonic()

    def stalled_seconds(self) -> float | None:
        """Seconds that the pending result has taken, if it is overdue."""
        seconds = time.monotonic() - self._progress_at
        return seconds if self.in_flight and seconds > self.worker.result_limit else None
