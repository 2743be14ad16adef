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
        """Replaces a pseudonym everywhere in the log, also in lists of people and in reasons; the events stay."""
        with self._lock:
            rows = self._lines.read()
            kept = [{key: _without(value, person) for key, value in row.items()} for row in rows]
            write_whole(self._lines.path, "".join(json.dumps(row) + "\n" for row in kept))

    def newest(self, count: int) -> list[dict[str, Any]]:
        """The last events, the newest first."""
        with self._lock:
            return self._lines.newest(count)[::-1]


def without(text: str, person: str) -> str:
    """A text in which a pseudonym is replaced by `FORGOTTEN`."""
    return re.sub(rf"(?<![\w-]){re.escape(person)}(?![\w-])", FORGOTTEN, text)


def _without(value: Any, person: str) -> Any:
    return without(value, person) if isinstance(value, str) else value
