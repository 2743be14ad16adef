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
    """A requested unroll, with its message once it has arrived."""

    pipeline: int  # index of its actor
    number: int  # index of the unroll among its actor's unrolls
    version: int  # of the weights
    reference: ObjectRef[Any]
    message: UnrollMessage | None = None  # None until it arrives


class ActorPipeline:
    """Requests numbered unrolls from one worker, starting with unroll `number` from the actor state `after`.

    If the worker fails, the requests in flight are resubmitted to its next process, which continues after the last
    unroll that arrived.
    """

    def __init__(self, index: int, worker: WorkerHandle, *, number: int, after: bytes | None) -> None:
        self.index = index
        self.worker = worker
        self.next_number = number
        self.in_flight: deque[PendingUnroll] = deque()
        self.episodes: list[str] = []  # episodes of the last unroll that arrived
        self._after = after
        self._progress_at = time.monotonic()

    def start(self) -> None:
        """Starts the worker."""
        self._progress_at = time.monotonic()
        self.worker.start(self._after)

    def request(self, version: int, activity: str, *arguments: Any) -> PendingUnroll:
        """Requests the next unroll; `arguments` are passed to the worker after the unroll's number."""
        if not self.in_flight:
            self._progress_at = time.monotonic()
        number = self.next_number
        reference = self.worker.submit("unroll", f"{activity} {number}", number, *arguments)
        pending = PendingUnroll(self.index, number, version, reference)
        self.next_number += 1
        self.in_flight.append(pending)
        return pending

    def receive(self) -> PendingUnroll | None:
        """Returns the oldest request in flight, which must be ready, with its message; None if the worker failed.

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
        """Restarts the worker and resubmits the requests in flight."""
        self.start()
        for pending in self.in_flight:
            pending.reference = resubmit(pending)

    def excuse_stall(self) -> None:
        """Restarts the timeout of the pending result, after a delay that another process caused."""
        self._progress_at = time.monotonic()

    def stalled_seconds(self) -> float | None:
        """Seconds since the last progress if the pending result is overdue, else None."""
        seconds = time.monotonic() - self._progress_at
        return seconds if self.in_flight and seconds > self.worker.result_limit else None
