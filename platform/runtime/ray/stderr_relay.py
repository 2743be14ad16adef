"""Relay of the learner's stderr: buffers it until the driver fetches it and prints it on its own."""

from __future__ import annotations

import io
import threading

MAX_BUFFERED_CHARACTERS = 1_000_000  # not yet fetched; the oldest are dropped


class StderrRelay(io.TextIOBase):
    """Stream that looks to its writers like the driver's stderr: a terminal, or a file."""

    def __init__(self, is_tty: bool) -> None:
        self._is_tty = is_tty
        self._text = ""
        self._lock = threading.Lock()

    def isatty(self) -> bool:
        return self._is_tty

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        with self._lock:
            self._text = (self._text + text)[-MAX_BUFFERED_CHARACTERS:]
        return len(text)

    def take(self) -> str:
        """Returns and clears the text written since the last call."""
        with self._lock:
            text, self._text = self._text, ""
        return text
