"""Warns when a thread makes no progress for long, with its stack."""

from __future__ import annotations

import logging
import sys
import threading
import traceback
import weakref
from types import TracebackType

from interplay.core.running_clock import MAX_GAP_SECONDS, RunningClock

logger = logging.getLogger(__name__)

STALL_SECONDS = 120.0  # until the first warning; the next come at twice the time, four times, ...


def stack_of(thread: threading.Thread) -> str:
    """What a thread executes now, as lines of text."""
    frame = sys._current_frames().get(thread.ident or 0)
    return "".join(traceback.format_stack(frame)) if frame is not None else "  none: the thread has ended\n"


class StallWatch:
    """Watches the thread that enters it, and logs its stack if it does not call `beat` for `STALL_SECONDS`."""

    def __init__(self, stalled: str) -> None:
        """
        Args:
            stalled: begins the warning, such as "clone has finished no updates".
        """
        self._pulse = _Pulse(stalled)

    def __enter__(self) -> StallWatch:
        self._pulse.watched = threading.current_thread()
        self.beat()
        threading.Thread(target=self._pulse.watch, name="stall-watch", daemon=True).start()
        weakref.finalize(self, self._pulse.end)  # also of a watch that is never left
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, stack: TracebackType | None
    ) -> None:
        self._pulse.end()

    def beat(self) -> None:
        """Reports progress, which postpones the warning."""
        self._pulse.beat_at = self._pulse.clock()


class _Pulse:
    """The state that a watch shares with its thread, which must not keep the watch itself alive."""

    def __init__(self, stalled: str) -> None:
        self._stalled = stalled
        self._ended = threading.Event()
        self.watched = threading.current_thread()
        self.clock = RunningClock()  # a process that was suspended has not stalled
        self.beat_at = self.clock()  # the last beat

    def watch(self) -> None:
        """Warns until `end` is called."""
        seen, limit = self.beat_at, STALL_SECONDS
        while not self._ended.wait(min(max(0.0, seen + limit - self.clock()), MAX_GAP_SECONDS / 2)):
            if self.beat_at != seen:
                seen, limit = self.beat_at, STALL_SECONDS
            quiet = self.clock() - seen
            if quiet < limit:
                continue
            limit = 2 * quiet
            logger.warning("%s for %.0f s; the stack of its thread:\n%s", self._stalled, quiet, stack_of(self.watched))

    def end(self) -> None:
        """Ends the thread."""
        self._ended.set()
