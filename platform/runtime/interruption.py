"""Asking work to stop: the first Ctrl-C, SIGTERM or closed terminal lets it save, another signal stops it at once."""

from __future__ import annotations

import logging
import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType, TracebackType
from typing import Any, ClassVar

logger = logging.getLogger(__name__)

Handler = Callable[[int, FrameType | None], None]


INTERRUPTED = 130  # what shells report for a process that Ctrl-C ended


class Interrupted(Exception):
    """The work was asked to stop; it has saved what it had. The message says how to go on."""


class StopRequest:
    """While entered, turns the first SIGINT, SIGTERM or SIGHUP into a request that a loop reads with `requested`::

    with StopRequest() as stop:
        while not finished and not stop.requested:
            ...

    Within another one it is for a part of that one's work: what was asked before is asked of it, too, and what it was
    asked is left to the other at its end, for it may have come too late for this part. A SIGHUP that was ignored
    before, as under nohup, stays so. One never counts as the second: shells repeat it.
    """

    _entered: ClassVar[list[StopRequest]] = []  # in this process; a signal is for all of it, and so is `ask_to_stop`

    def __init__(self, told: Callable[[int], None] = lambda number: None) -> None:
        """`told`: called with the number of the first signal that it gets itself."""
        self.requested = False
        self._told = told
        self._previous: dict[signal.Signals, Any] = {}
        self._terminals: list[int] = []

    def __enter__(self) -> StopRequest:
        self._previous, self._terminals = _handled(self._ask), _terminals()
        self.requested = self.requested or self.asked()
        self._entered.append(self)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._entered.remove(self)
        _put_back(self._previous)
        self._previous = {}
        if self.requested and self._entered:
            self._entered[-1].requested = True

    @classmethod
    def ask(cls) -> bool:
        """Asks from another thread what a first signal asks; False where nothing listens yet."""
        for request in cls._entered:
            request.requested = True
        return bool(cls._entered)

    @classmethod
    def asked(cls) -> bool:
        """Has anybody in this process been asked?"""
        return any(request.requested for request in cls._entered)

    def _ask(self, number: int, frame: FrameType | None) -> None:
        if number == signal.SIGHUP:
            _leave(self._terminals)
        if self.requested and number != signal.SIGHUP:
            raise KeyboardInterrupt
        if not self.requested:
            self.requested = True
            logger.warning("stopping: saving first (once more to stop at once and lose what is not saved)")
            self._told(number)


@contextmanager
def signals_as_keyboard_interrupt() -> Iterator[None]:
    """While entered, SIGTERM and SIGHUP do what Ctrl-C does: where no `StopRequest` listens, they raise it."""
    terminals = _terminals()

    def stop(number: int, frame: FrameType | None) -> None:
        if number == signal.SIGHUP:
            _leave(terminals)
        raise KeyboardInterrupt

    previous = _handled(stop)
    try:
        yield
    finally:
        _put_back(previous)


def _handled(handler: Handler) -> dict[signal.Signals, Any]:
    """Lets a handler have the signals; returns what they did before. Only the main thread may: a stage run from another
    one is stopped by whoever runs it."""
    if threading.current_thread() is not threading.main_thread():
        return {}
    numbers = [signal.SIGINT, signal.SIGTERM]
    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
        numbers.append(signal.SIGHUP)
    return {number: signal.signal(number, handler) for number in numbers}


def _put_back(previous: dict[signal.Signals, Any]) -> None:
    for number, handler in previous.items():
        signal.signal(number, handler)


def _terminals() -> list[int]:
    """Of standard input, output and error, those that are one."""
    return [descriptor for descriptor in (0, 1, 2) if os.isatty(descriptor)]


def _leave(terminals: list[int]) -> None:
    """They are gone: what is said to them from now on goes nowhere, instead of failing and ending the work unsaved."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    for descriptor in terminals:
        os.dup2(nowhere, descriptor)
    os.close(nowhere)
