"""Stop requests: after the first Ctrl-C, SIGTERM or closed terminal the work saves; another signal stops it at once."""

from __future__ import annotations

import logging
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing import resource_tracker
from types import FrameType
from typing import Any, ClassVar

logger = logging.getLogger(__name__)

Handler = Callable[[int, FrameType | None], None]

GRACE_SECONDS = 20.0  # for work under way after a stop request; preempted machines wait little longer
INTERRUPTED = 130  # exit status that shells report after Ctrl-C


def saving_after(work: str = "what is under way") -> str:
    """The notice of a `StopRequest` whose loop ends this work, and saves, before it stops."""
    return f"stopping: saving after {work} (once more to stop at once and lose what is not saved)"


class Interrupted(Exception):
    """The work was stopped and has saved its progress. The message says how to continue."""


class StopRequested(Exception):
    """A stop was requested while the work waited for its next batch, which has not been taken."""


class StopRequest:
    """While entered, turns the first SIGINT, SIGTERM or SIGHUP into a request that a loop reads with `requested`::

    with StopRequest() as stop:
        while not finished and not stop.requested:
            ...

    Nestable: an inner request inherits a pending stop and hands its own to the outer one on exit, as it may have come
    too late for the inner loop. A SIGHUP that was ignored before, as under nohup, stays ignored. SIGHUP never counts as
    the second signal, because shells repeat it.
    """

    _entered: ClassVar[list[StopRequest]] = []  # in this process; a signal stops all of them

    def __init__(self, on_signal: Callable[[int], None] = lambda number: None, *, notice: str = "") -> None:
        """`on_signal` is called with the number of the first signal that arrives inside the block; `notice`, by default
        that of `saving_after`, is logged then."""
        self.requested = False
        self._notice = notice or saving_after()
        self._on_signal = on_signal
        self._previous: dict[signal.Signals, Any] = {}
        self._terminals: list[int] = []

    def __enter__(self) -> StopRequest:
        self._previous, self._terminals = _install(self._handle), _terminals()
        self.requested = self.requested or self.is_requested()
        self._entered.append(self)
        return self

    def __exit__(self, *raised: object) -> None:
        self._entered.remove(self)
        _restore(self._previous)
        self._previous = {}
        if self.requested and self._entered:
            self._entered[-1].requested = True

    @classmethod
    def request_stop(cls) -> bool:
        """Requests a stop from another thread, as a first signal does; False if no block is entered yet."""
        for request in cls._entered:
            request.requested = True
        return bool(cls._entered)

    @classmethod
    def is_requested(cls) -> bool:
        """Whether a stop is requested anywhere in this process."""
        return any(request.requested for request in cls._entered)

    def _handle(self, number: int, frame: FrameType | None) -> None:
        if number == signal.SIGHUP:
            _redirect_to_null(self._terminals)
        if self.requested and number != signal.SIGHUP:
            raise KeyboardInterrupt
        if not self.requested:
            self.requested = True
            logger.warning("%s", self._notice)
            self._on_signal(number)


def grace_period(stopped: Callable[[], bool], awaited: str, *, keeps_all: bool = True) -> Callable[[], bool]:
    """A function that returns True once `GRACE_SECONDS` have passed since it first noticed a stop request.

    The caller then gives up the work under way, which the next start repeats.

    Args:
        stopped: whether a stop is requested.
        awaited: the work under way, as a log message names it when the stop request is noticed.
        keeps_all: whether all other work is saved by then. If not, the function never returns True, and logs after that
            time how to stop.
    """
    noticed: list[float] = []
    told: list[bool] = []

    def over() -> bool:
        if not noticed:
            if not stopped():
                return False
            noticed.append(time.monotonic())
            limit = f" for up to {GRACE_SECONDS:.0f} s" if keeps_all else ""
            logger.warning("waiting%s for %s", limit, awaited)
        waited = time.monotonic() - noticed[0]
        if waited < GRACE_SECONDS or keeps_all:
            return waited >= GRACE_SECONDS
        if not told:
            told.append(True)
            logger.warning(
                "%s: not ended %.0f s after the request to stop, and still waited for, as only what was done up to the "
                "newest checkpoint is saved; another Ctrl-C or SIGTERM stops at once, and the same command continues "
                "from that checkpoint",
                *(awaited, waited),
            )
        return False

    return over


@contextmanager
def signals_as_keyboard_interrupt() -> Iterator[None]:
    """Makes SIGTERM and SIGHUP raise KeyboardInterrupt inside the block, unless a `StopRequest` handles them."""
    terminals = _terminals()

    def stop(number: int, frame: FrameType | None) -> None:
        if number == signal.SIGHUP:
            _redirect_to_null(terminals)
        raise KeyboardInterrupt

    previous = _install(stop)
    try:
        yield
    finally:
        _restore(previous)


def terminate_at_hangup() -> None:
    """Makes SIGHUP, unless it is ignored, send SIGTERM to this process, as for a library that handles that alone."""
    terminals = _terminals()

    def terminate(number: int, frame: FrameType | None) -> None:
        _redirect_to_null(terminals)
        signal.raise_signal(signal.SIGTERM)

    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
        signal.signal(signal.SIGHUP, terminate)


@contextmanager
def signals_blocked() -> Iterator[None]:
    """Blocks the signals that ask for a stop, in this thread, and for good in processes that it starts inside."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGHUP})
    try:
        resource_tracker.ensure_running()  # a process that survives a closed terminal; starting it unblocks the others
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM})
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _install(handler: Handler) -> dict[signal.Signals, Any]:
    """Installs a signal handler; returns the previous ones. Does nothing outside the main thread, as Python requires:
    a stage that runs in another thread is stopped by its caller."""
    if threading.current_thread() is not threading.main_thread():
        return {}
    numbers = [signal.SIGINT, signal.SIGTERM]
    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
        numbers.append(signal.SIGHUP)
    return {number: signal.signal(number, handler) for number in numbers}


def _restore(previous: dict[signal.Signals, Any]) -> None:
    for number, handler in previous.items():
        signal.signal(number, handler)


def _terminals() -> list[int]:
    """Descriptors among standard input, output and error that are terminals."""
    return [descriptor for descriptor in (0, 1, 2) if os.isatty(descriptor)]


def _redirect_to_null(terminals: list[int]) -> None:
    """Redirects closed terminals to /dev/null: writing to them would fail and end the work unsaved."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    for descriptor in terminals:
        os.dup2(nowhere, descriptor)
    os.close(nowhere)
