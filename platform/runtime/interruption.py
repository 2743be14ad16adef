"""Ctrl-C and SIGTERM: the first asks the work to save and stop, the second stops it at once."""

from __future__ import annotations

import logging
import signal
import threading
from types import FrameType, TracebackType
from typing import ClassVar

logger = logging.getLogger(__name__)


class Interrupted(Exception):
    """The work was asked to stop; it has saved what it had. The message says how to go on."""


class StopRequest:
    """While entered, turns the first SIGINT or SIGTERM into a request that a loop reads with `requested`::

    with StopRequest() as stop:
        while not finished and not stop.requested:
            ...
    """

    _entered: ClassVar[list[StopRequest]] = []  # in this process; a signal is for all of it, and so is `ask_to_stop`

    def __init__(self) -> None:
        self.requested = False
        self._previous: dict[signal.Signals, object] = {}

    def __enter__(self) -> StopRequest:
        # Only the main thread may set handlers; a stage run from another one is stopped by whoever runs it.
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGINT, signal.SIGTERM):
                self._previous[number] = signal.signal(number, self._ask)
        self._entered.append(self)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._entered.remove(self)
        for number, handler in self._previous.items():
            signal.signal(number, handler)  # type: ignore[arg-type]  # what signal() returned, it takes back
        self._previous.clear()

    @classmethod
    def ask(cls) -> bool:
        """Asks from another thread what a first signal asks; False where nothing listens yet."""
        for request in cls._entered:
            request.requested = True
        return bool(cls._entered)

    def _ask(self, number: int, frame: FrameType | None) -> None:
        if self.requested:
            raise KeyboardInterrupt
        self.requested = True
        logger.warning("stopping: saving first (once more to stop at once and lose what is not saved)")
