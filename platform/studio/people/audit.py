"""The audit log, `audit.jsonl`: one line for each login, invitation, change of a study, gold and deletion."""

from __future__ import annotations

import threading
import time
from pathlib import Path
from typing import Any

from interplay.core.files import JsonLines


class AuditLog:
    """Lines that are only ever appended, by several threads. Codes and texts of people are not written."""

    def __init__(self, path: Path) -> None:
        self._lines = JsonLines(path, key="time")
        self._lock = threading.Lock()

    def note(self, event: str, person: str, **details: Any) -> None:
        """Appends an event of a person."""
        with self._lock:
            self._lines.append({"time": time.time(), "event": event, "person": person, **details})

    def newest(self, count: int) -> list[dict[str, Any]]:
        """The last events, the newest first."""
        with self._lock:
            return self._lines.newest(count)[::-1]
