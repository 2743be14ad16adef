"""The calls to one actor that makes numbered unrolls, a bounded number of them in flight, none lost with the actor."""

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
from interplay.runtime.ray.worker import WorkerHandle


@dataclass
class PendingUnroll:
    """One unroll, from when it is asked for until it is learned from."""

    pipeline: int  # the index of its actor
    number: int  # of the actor's unrolls
    version: int
    reference: ObjectRef[Any]
    message: UnrollMessage | None = None  # once it has come


class ActorPipeline:
    """Asks one part for one unroll after the other, from unroll `number`, after the state `after`.

    Where the part goes down, the calls in flight are made again by its successor, which goes on after the last message
    that came.
    """

    def __init__(self, index: int, worker: WorkerHandle, *, number: int, after: bytes | None) -> None:
        self.index = index
        self.worker = worker
        self.asked = number  # the number of the next unroll to be asked for
        self.in_flight: deque[PendingUnroll] = deque()
        self.episodes: list[str] = []  # of the last unroll that came
        self._after = after
        self._moved = time.monotonic()

    def start(self) -> None:
        """Makes the part."""
        self._moved = time.monotonic()
        self.worker.start(self._after)

    def ask(self, version: int, what: str, *arguments: Any) -> PendingUnroll:
        """Asks for the next unroll; `arguments` follow its number."""
        if not self.in_flight:
            self._moved = time.monotonic()
        reference = self.worker.ask("unroll", f"{what} {self.asked}", self.asked, *arguments)
        pending = PendingUnroll(self.index, self.asked, version, reference)
        self.asked += 1
        self.in_flight.append(pending)
        return pending

    def receive(self) -> PendingUnroll | None:
        """The oldest call in flight, whose reference is ready, with its message; None where the part went down.

        Raises:
            WorkerFailed: it went down more often than it may.
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
        self._after, self.episodes, self._moved = message.after, message.episodes, time.monotonic()
        self.worker.completed += 1
        return pending

    def restart(self, ask_again: Callable[[PendingUnroll], ObjectRef[Any]]) -> None:
        """Starts the part anew and asks again for what was in flight."""
        self.start()
        for pending in self.in_flight:
            pending.reference = ask_again(pending)

    def excuse_stall(self) -> None:
        """What the part owes is owed from now on: it was not its fault."""
        self._moved = time.monotonic()

    def stalled_seconds(self) -> float | None:
        """Seconds that the part has owed an unroll, where they are too many."""
        seconds = time.monotonic() - self._moved
        return seconds if self.in_flight and seconds > self.worker.result_limit else None
