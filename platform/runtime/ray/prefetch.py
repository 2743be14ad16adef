"""A thread that fills batches ahead of the learner. Whatever is raised in it is raised where a batch is taken."""

from __future__ import annotations

import faulthandler
import threading
import time
from collections import deque
from collections.abc import Callable
from typing import Generic, TypeVar

from interplay.runtime.heartbeat import Heartbeat

Batch = TypeVar("Batch")

TICK = 0.02  # seconds that `advance` may wait at a time
LONGEST_CLOSE = 10.0
PRINTED = 2  # where the process prints its errors: Python's own `sys.stderr` is no file in the learner


class Prefetch(Generic[Batch]):
    """Calls `advance` again and again in a thread of its own, and keeps what it returns until it is taken.

    `advance` returns a batch, or None where there is none yet; it waits for at most about `TICK` seconds, and not at
    all where there is nothing to wait for: then the thread itself does, until it is woken.
    """

    def __init__(self, name: str, advance: Callable[[], Batch | None], limit: float) -> None:
        self._advance = advance
        self._limit = limit  # seconds that one call of `advance` may take
        self._ready: deque[Batch] = deque()
        self._changed = threading.Condition()
        self._closed = False
        self._raised: BaseException | None = None
        self._ticked = time.monotonic()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self.wait_seconds = 0.0  # seconds that takers have

    @property
    def ready(self) -> int:
        """How many batches can be taken at once."""
        with self._changed:
            return len(self._ready)

    def take(self, heartbeat: Heartbeat, what: str) -> Batch:
        """The next batch.

        Raises:
            RuntimeError: the thread has not moved for too long; the process has printed its stacks.
            Exception: what `advance` raised.
        """
        started = time.monotonic()
        heartbeat.waits(what)
        with self._changed:
            if not self._thread.is_alive() and not self._closed and self._raised is None:
                self._thread.start()
            while not self._ready and self._raised is None:
                self._changed.wait(timeout=1.0)
                if time.monotonic() - max(self._ticked, started) > self._limit:
                    raise self._stuck()
            if not self._ready and self._raised is not None:
                raise self._raised
            batch = self._ready.popleft()
            self._changed.notify_all()
        self.wait_seconds += time.monotonic() - started
        heartbeat.works("learns")
        return batch

    def wake(self) -> None:
        """There may be something to do again."""
        with self._changed:
            self._changed.notify_all()

    def idle(self) -> None:
        """Called by `advance` where there is nothing to wait for."""
        with self._changed:
            if not self._closed:
                self._changed.wait(timeout=TICK)

    def close(self) -> None:
        """Ends the thread."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        if self._thread.is_alive():
            self._thread.join(timeout=LONGEST_CLOSE)

    def _stuck(self) -> RuntimeError:
        faulthandler.dump_traceback(PRINTED, all_threads=True)
        return RuntimeError(
            f"{self._thread.name} has not moved for {self._limit:g} seconds; the stack of every thread is among what "
            "the learner printed, in crashes/logs/learner.txt of the run"
        )

    def _run(self) -> None:
        try:
            while not self._closed:
                self._ticked = time.monotonic()
                batch = self._advance()
                if batch is not None:
                    with self._changed:
                        self._ready.append(batch)
                        self._changed.notify_all()
        except BaseException as error:  # noqa: BLE001 - raised again by `take`, in the thread that can do something about it
            with self._changed:
                self._raised = error
                self._changed.notify_all()
