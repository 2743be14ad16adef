"""Prefetcher: a thread that produces items ahead of their use.

In process it runs at most one item ahead, so the lag is exactly one whatever the machine's speed, and results do not
depend on timing (`Lookahead`)::

    main     | learn 1      | learn 2      | learn 3 (nothing ahead: a checkpoint follows)
    thread   | make 2       | make 3       |
"""

from __future__ import annotations

import faulthandler
import logging
import threading
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from queue import Empty, SimpleQueue
from typing import Generic, TypeVar

import torch

from interplay.core.running_clock import RunningClock
from interplay.core.stall_watch import stack_of
from interplay.runtime.interruption import StopRequested

logger = logging.getLogger(__name__)

Item = TypeVar("Item")

POLL_SECONDS = 0.02  # that a source under Ray waits at a time
LOG_WAIT_SECONDS = 120.0  # between two log messages about an item that takes long
CLOSE_SECONDS = 10.0  # that `close` waits for the thread
QUIET_SECONDS = 1.0  # of `CLOSE_SECONDS`, without a log message
STDERR_DESCRIPTOR = 2  # `sys.stderr` is not a file in a learner under Ray

_abandoned: list[threading.Thread] = []  # threads that had not ended when they were closed


def has_abandoned_thread() -> bool:
    """Whether the thread of a closed prefetcher still runs.

    Python can't exit normally then: with a thread inside torch, that would abort the process.
    """
    return any(thread.is_alive() for thread in _abandoned)


class Prefetcher(Generic[Item]):
    """Calls `produce` repeatedly in a thread and keeps its results until they are taken.

    `produce` returns an item, or None if none is ready. It waits at most a second, or with `idle` if nothing
    else is to be awaited. If it raises, the thread ends, and `take` raises the same after the items before it.
    """

    def __init__(
        self,
        name: str,
        produce: Callable[[], Item | None],
        *,
        time_limit: float | None = None,
        clock: Callable[[], float] | None = None,
    ) -> None:
        """
        Args:
            time_limit: seconds that one call of `produce` may take; None for no limit, but a log message if it is long.
            clock: that measures them; by default the time in which this process runs.
        """
        self._produce = produce
        self._time_limit = time_limit
        self._ready: deque[Item] = deque()
        self._error: BaseException | None = None
        self._changed = threading.Condition()
        self._closed = False
        self._clock = clock or RunningClock()
        self._call_started = self._clock()
        # A daemon, so that a call that hangs does not keep the process from exiting.
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self.wait_seconds = 0.0  # that callers of `await_item` and `take` have waited

    @property
    def ready(self) -> int:
        """How many items can be taken at once."""
        with self._changed:
            return len(self._ready)

    def take(self) -> Item:
        """Returns the next item; raises as `await_item`, without a stop."""
        self.await_item()
        with self._changed:
            return self._ready.popleft()

    def await_item(self, stopped: Callable[[], bool] = lambda: False, *, count: int = 1) -> None:
        """Returns when the next item, or this many, can be taken.

        Raises:
            StopRequested: `stopped` returned True before.
            RuntimeError: one call of `produce` has exceeded the time limit; the stacks have been printed.
            Exception: what `produce` raised.
        """
        began, started, log_after = time.monotonic(), self._clock(), LOG_WAIT_SECONDS
        self.start()
        with self._changed:
            while len(self._ready) < count and self._error is None:
                if stopped():
                    raise StopRequested
                self._changed.wait(timeout=min(1.0, LOG_WAIT_SECONDS))
                waited = self._clock() - max(self._call_started, started)
                if self._time_limit is not None and waited > self._time_limit:
                    raise self._stuck(self._time_limit)
                if self._time_limit is None and waited > log_after:
                    self._log_stack(f"waiting for the next item for {waited:.0f} s")
                    log_after += LOG_WAIT_SECONDS
            self.wait_seconds += time.monotonic() - began
            if len(self._ready) < count and self._error is not None:
                raise self._error

    def start(self) -> None:
        """Starts the thread, unless it has been started already."""
        if self._thread.ident is None and not self._closed:
            self._thread.start()

    def wake(self) -> None:
        """Ends the waiting of `idle`: there may be something to do."""
        with self._changed:
            self._changed.notify_all()

    def idle(self) -> None:
        """Waits up to `POLL_SECONDS` for `wake`; to be called by `produce` if there is nothing else to wait for."""
        with self._changed:
            if not self._closed:
                self._changed.wait(timeout=POLL_SECONDS)

    def stop(self) -> None:
        """Makes the thread end after the present call of `produce`."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    def close(self) -> None:
        """Stops the thread and waits for its end."""
        self.stop()
        self.await_end()

    def await_end(self) -> None:
        """Waits for the end of the thread. One that takes longer than `CLOSE_SECONDS` is abandoned, and logged."""
        if self._thread.ident is None:
            return
        self._thread.join(timeout=min(QUIET_SECONDS, CLOSE_SECONDS))
        if self._thread.is_alive():
            logger.info("waiting up to %.0f s for the end of the item under way", CLOSE_SECONDS)
            self._thread.join(timeout=CLOSE_SECONDS)
        if self._thread.is_alive():
            self._log_stack(f"the item under way has not ended in {CLOSE_SECONDS:.0f} s, and its thread is abandoned")
            _abandoned.append(self._thread)

    def _run(self) -> None:
        try:
            while not self._closed:
                self._call_started = self._clock()
                item = self._produce()
                if item is not None:
                    with self._changed:
                        self._ready.append(item)
                        self._changed.notify_all()
                del item  # it holds arrays
        except BaseException as error:  # noqa: BLE001 - raised again by `take`, in the thread that can handle it
            with self._changed:
                self._error = error
                self._changed.notify_all()

    def _stuck(self, limit: float) -> RuntimeError:
        faulthandler.dump_traceback(STDERR_DESCRIPTOR, all_threads=True)
        return RuntimeError(
            f"{self._thread.name} has not moved for {limit:g} seconds; the stack of every thread is in the learner's "
            "output, in crashes/logs/learner.txt of the run"
        )

    def _log_stack(self, message: str) -> None:
        logger.warning("%s; the stack of its thread:\n%s", message, stack_of(self._thread))


class Lookahead(Generic[Item]):
    """Runs one function after another, at most one of them ahead of its use.

    Without `overlap` nothing runs in another thread, so a debugger steps through all of it.
    """

    def __init__(self, overlap: bool) -> None:
        self._overlap = overlap
        self._functions: SimpleQueue[Callable[[], Item] | None] = SimpleQueue()  # None ends the thread
        self._prefetcher: Prefetcher[Future[Item]] = Prefetcher("lookahead", self._produce)
        self._begun = False

    def await_item(self, make: Callable[[], Item], stopped: Callable[[], bool]) -> None:
        """Returns when `take` no longer waits; begins the item with `make` if none was begun. Without `overlap` it
        returns at once, as nothing could interrupt `make`.

        Raises:
            StopRequested: `stopped` returned True before.
        """
        if self._overlap:
            if not self._begun:
                self.begin(make)
            self._prefetcher.await_item(stopped)

    def take(self, make: Callable[[], Item]) -> Item:
        """Returns the item that was begun ahead, otherwise calls `make`. Raises what making it raised."""
        if not self._overlap:
            return make()
        if not self._begun:
            self.begin(make)
        future, self._begun = self._prefetcher.take(), False
        return future.result(timeout=0.0)

    def begin(self, make: Callable[[], Item]) -> None:
        """Begins the next item. What `make` uses must not be touched until `take` returns it."""
        assert not self._begun, "one item ahead, not two"
        if self._overlap:
            self._begun = True
            self._functions.put(make)
            self._prefetcher.start()

    def close(self) -> None:
        """Ends the thread after the item that was begun; see `Prefetcher.await_end`."""
        self._functions.put(None)
        self._prefetcher.await_end()

    def _produce(self) -> Future[Item] | None:
        try:
            make = self._functions.get(timeout=1.0)
        except Empty:
            return None
        if make is None:
            self._prefetcher.stop()
            return None
        torch.set_num_threads(1)  # two busy threads on two cores: torch's own would only get in their way
        future: Future[Item] = Future()
        try:
            future.set_result(make())
        except BaseException as error:  # noqa: BLE001 - raised again by `take`, in the consumer's thread
            future.set_exception(error)
        return future
