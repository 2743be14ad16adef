"""What the learner says on its stderr, kept until its driver comes for it and says it there."""

from __future__ import annotations

import io
import threading

MAX_BUFFERED_CHARACTERS = 1_000_000  # characters that nobody has come for


class StderrRelay(io.TextIOBase):
    """A stream that looks to its writers like the driver's own stderr: a terminal, or a file."""

    def __init__(self, terminal: bool) -> None:
        self._terminal = terminal
        self._text = ""
        self._lock = threading.Lock()

    def isatty(self) -> bool:
        return self._terminal

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        with self._lock:
            self._text = (self._text + text)[-MAX_BUFFERED_CHARACTERS:]
        return len(text)

    def take(self) -> str:
        """What was said since the last call."""
        with self._lock:
            text, self._text = self._text, ""
        return text
