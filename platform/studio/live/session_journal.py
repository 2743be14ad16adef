"""The journal of a live session: what is needed to execute it again after a kill, one JSON line a step.

The first line is the head: the settings, the id of the episode and the state of its start. Then each step has a line
with its rows, its utterances and a hash of where they led, and what people typed and judged has lines of its own, so
that a kill loses the frames of the step under way and nothing else. The last line says why the session ended. Lines are
forced to disk each second.
"""

from __future__ import annotations

import base64
import json
import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

SYNC_SECONDS = 1.0
SUFFIX = ".journal"


class SessionJournal:
    """A journal that is being written; it continues an existing file."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        kept = whole_lines(path)
        self._file = path.open("r+b" if path.exists() else "w+b")
        self._file.seek(kept)
        self._file.truncate()
        self._synced = time.monotonic()

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


def whole_lines(path: Path) -> int:
    """The bytes of the complete lines of a file; 0 without one."""
    return path.read_bytes().rfind(b"\n") + 1 if path.exists() else 0


def read_journal(path: Path) -> list[dict[str, Any]]:
    """The complete lines.

    Raises:
        ValueError: a line is no JSON object.
    """
    lines = path.read_bytes()[: whole_lines(path)].split(b"\n")[:-1]
    rows = [json.loads(line) for line in lines]
    if not all(isinstance(row, dict) for row in rows):
        raise ValueError(f"{path} is no journal of a session; move it away, and its episode is lost")
    return rows


def to_text(data: bytes) -> str:
    """Bytes as JSON carries them."""
    return base64.b64encode(data).decode()


def from_text(text: str) -> bytes:
    """The bytes of `to_text`."""
    return base64.b64decode(text)
