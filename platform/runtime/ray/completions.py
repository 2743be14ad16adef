"""Calls under way, each handled when Ray reports its end; the cost of one does not depend on how many others wait."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import Future
from queue import Empty, SimpleQueue
from typing import Any

import ray
from ray import ObjectRef

LOST_CHECK_SECONDS = 2.0  # between two looks for results that were not handed over
LOST_CHECKS = 5  # looks after which such a result counts as lost: on busy cores, Ray's thread may be late


class Completions:
    """A queue of calls that have ended. `watch` and `handle_ended` belong to one thread."""

    def __init__(self) -> None:
        self._ended: SimpleQueue[tuple[Future[Any], Callable[[], None]]] = SimpleQueue()
        self._under_way: dict[Future[Any], ObjectRef[Any]] = {}
        self._late: Counter[Future[Any]] = Counter()  # in how many looks a result was there and not handed over
        self._looked_at = time.monotonic()

    @property
    def watched(self) -> int:
        """How many calls are under way."""
        return len(self._under_way)

    def watch(self, reference: ObjectRef[Any], handle: Callable[[], None]) -> Future[Any]:
        """Makes `handle_ended` call `handle` after the call has ended; returns the future of its result."""
        future: Future[Any] = reference.future()
        self._under_way[future] = reference
        future.add_done_callback(lambda done: self._ended.put((done, handle)))
        return future

    def handle_ended(self, timeout: float) -> int:
        """Handles the calls that have ended by now; waits up to `timeout` seconds for the first. Returns how many.

        Raises:
            MemoryError: a call has ended, and Ray could not hand over its result.
        """
        if time.monotonic() - self._looked_at >= LOST_CHECK_SECONDS:
            self._look_for_lost()
        try:
            ended = [self._ended.get(timeout=timeout)]
        except Empty:
            return 0
        ended += [self._ended.get_nowait() for _ in range(self._ended.qsize())]
        for future, _ in ended:
            del self._under_way[future]
        for _, handle in ended:
            handle()
        return len(ended)

    def _look_for_lost(self) -> None:
        """Raises MemoryError if results have arrived that were not handed over: Ray's thread for that fails silently in
        a process without memory."""
        waiting = {reference: future for future, reference in self._under_way.items() if not future.done()}
        arrived = ray.wait(list(waiting), num_returns=len(waiting), timeout=0)[0] if waiting else []
        late = [waiting[reference] for reference in arrived]
        self._late = Counter({future: self._late[future] + 1 for future in late})
        self._looked_at = time.monotonic()
        if max(self._late.values(), default=0) >= LOST_CHECKS:
            raise MemoryError("a result has arrived, and Ray could not hand it over to this process")
