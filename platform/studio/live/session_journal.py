"""The journal of a live session: what is needed to execute it again after a kill, one JSON line a step.

The first line holds the settings, the id of the episode and its initial state. Each step has a line with its rows, its
utterances and a hash of the resulting state, and typed texts and verdicts have lines of their own, so a kill loses only
the frames of the current step. The last line states why the session ended. Lines are forced to disk each second. One
process at a time writes a journal.
"""

from __future__ import annotations

import fcntl
import json
import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

SYNC_SECONDS = 1.0
SUFFIX = ".journal"
HELD_SECONDS = 60.0  # for an earlier process of the session to end
HELD_PAUSE_SECONDS = 0.02


class SessionJournal:
    """A journal that is being written; it continues an existing file.

    It waits for the end of an earlier process of the session that still holds the file: after a kill of the web process
    that process may live for a moment longer than the next start of the studio takes.

    Raises:
        TimeoutError: another process holds the file for longer than `HELD_SECONDS`.
    """

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._path = path
        self._file = path.open("r+b" if path.exists() else "w+b")
        self._hold()
        self._file.seek(whole_bytes(self._file.read()))
        self._file.truncate()
        self._synced = time.monotonic()

    def _hold(self) -> None:
        until = time.monotonic() + HELD_SECONDS
        while True:
            try:
                fcntl.lockf(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return
            except BlockingIOError as error:
                if time.monotonic() > until:
                    self._file.close()
                    raise TimeoutError(
                        f"{self._path} is held by another process of the session, which does not end; stop that "
                        "process (fuser names it) and start the studio again"
                    ) from error
            time.sleep(HELD_PAUSE_SECONDS)

    def lines(self) -> list[dict[str, Any]]:
        """The lines so far. Raises ValueError as `read_journal` does."""
        end = self._file.tell()
        self._file.seek(0)
        return _rows(self._file.read(end), self._path)

    def write(self, line: Mapping[str, Any], *, durable: bool = False) -> None:
        """Appends a line; it survives the end of the process at once, and a power cut within a second."""
        self._file.write(json.dumps(line, separators=(",", ":")).encode() + b"\n")
        self._file.flush()
        now = time.monotonic()
        if durable or now - self._synced >= SYNC_SECONDS:
            os.fsync(self._file.fileno())
            self._synced = now

    def close(self) -> None:
        """Closes the file."""
        self._file.close()


def whole_bytes(data: bytes) -> int:
    """The bytes of the complete lines."""
    return data.rfind(b"\n") + 1


def is_begun(path: Path) -> bool:
    """Whether a session has written its start, from which it can be executed again."""
    return path.exists() and whole_bytes(path.read_bytes()) > 0


def read_journal(path: Path) -> list[dict[str, Any]]:
    """The complete lines.

    Raises:
        ValueError: a line is no JSON object.
    """
    return _rows(path.read_bytes(), path)


def _rows(data: bytes, path: Path) -> list[dict[str, Any]]:
    rows = [json.loads(line) for line in data[: whole_bytes(data)].split(b"\n")[:-1]]
    if not all(isinstance(row, dict) for row in rows):
        raise ValueError(f"{path} is not a journal of a session; move it away, and its episode is lost")
    return rows
