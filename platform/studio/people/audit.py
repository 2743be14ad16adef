"""The audit log, `audit.jsonl`: one line for each login, invitation, change of a study, gold and deletion."""

from __future__ import annotations

import json
import re
import threading
import time
from pathlib import Path
from typing import Any

from interplay.core.files import JsonLines, write_whole

FORGOTTEN = "someone"  # in place of the pseudonym of a person that was deleted


class AuditLog:
    """Lines that are appended by several threads. Neither codes nor what people type are written."""

    def __init__(self, path: Path) -> None:
        self._lines = JsonLines(path, key="time")
        self._lock = threading.Lock()

    def note(self, event: str, person: str, **details: Any) -> None:
        """Appends an event of a person."""
        with self._lock:
            self._lines.append({"time": time.time(), "event": event, "person": person, **details})

    def forget(self, person: str) -> None:
        """Replaces a pseudonym everywhere in the log, also in lists of people, in reasons and in a damaged line; the
        events stay.
        """
        path = self._lines.path
        with self._lock:
            if not path.exists():
                return
            kept = path.read_bytes()[: self._lines.length()]  # a line that a kill cut short is dropped, as by an append
            write_whole(path, b"".join(_line_without(line, person) for line in kept.split(b"\n")[:-1]))

    def newest(self, count: int) -> list[dict[str, Any]]:
        """The last events, the newest first, without lines that a failure of the disk has damaged."""
        with self._lock:
            return self._lines.readable()[0][-count:][::-1]


def without(text: str, person: str) -> str:
    """A text in which a pseudonym is replaced by `FORGOTTEN`."""
    return re.sub(rf"(?<![\w-]){re.escape(person)}(?![\w-])", FORGOTTEN, text)


def _line_without(line: bytes, person: str) -> bytes:
    """A line of the log, given without its newline; in one that is no row, as after a failure of the disk, the text is
    replaced."""
    try:
        row = json.loads(line)
    except ValueError:
        row = None
    if not isinstance(row, dict):
        return without(line.decode(errors="surrogateescape"), person).encode(errors="surrogateescape") + b"\n"
    kept = {key: without(value, person) if isinstance(value, str) else value for key, value in row.items()}
    return json.dumps(kept).encode() + b"\n"
