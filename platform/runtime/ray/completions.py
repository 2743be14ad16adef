"""Calls under way, each handled when Ray reports its end; the cost of one does not depend on how many others wait."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from queue import Empty, SimpleQueue
from typing import Any

from ray import ObjectRef


class Completions:
    """A queue of calls that have ended. `watch` and `handle` belong to one thread."""

    def __init__(self) -> None:
        self._ended: SimpleQueue[Callable[[], None]] = SimpleQueue()
        self.watched = 0  # calls under way

    def watch(self, reference: ObjectRef[Any], handle: Callable[[], None]) -> Future[Any]:
        """Makes `handle_ended` call `handle` after the call has ended; returns the future of its result."""
        future: Future[Any] = reference.future()
        self.watched += 1
        future.add_done_callback(lambda _: self._ended.put(handle))
        return future

    def handle_ended(self, timeout: float) -> int:
        """Handles the calls that have ended by now; waits up to `timeout` seconds for the first. Returns how many."""
        try:
            ended = [self._ended.get(timeout=timeout)]
        except Empty:
            return 0
        ended += [self._ended.get_nowait() for _ in range(self._ended.qsize())]
        self.watched -= len(ended)
        for handle in ended:
            handle()
        return len(ended)
