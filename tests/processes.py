"""What tests ask about other processes."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path

TIMEOUT_SECONDS = 600.0  # some of them have a low priority, with which a start takes minutes on a busy machine


def becomes_true(condition: Callable[[], bool]) -> bool:
    """Whether a condition holds within the time limit; looks often."""
    ends, pause = time.monotonic() + TIMEOUT_SECONDS, threading.Event()
    while not condition() and time.monotonic() < ends:
        pause.wait(0.02)
    return condition()


def is_running(process: int) -> bool:
    """Whether a process exists and is not a zombie."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return False
