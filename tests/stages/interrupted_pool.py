"""A pool whose server receives the signals of a terminal while it imports this file; to be run by a test."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable

from interplay.stages.process_pool import map_in_processes

if __name__ == "__mp_main__":  # in the server, which multiprocessing calls so
    for number in (signal.SIGINT, signal.SIGHUP):
        os.kill(os.getpid(), number)


def doubling(stopped: Callable[[], bool]) -> Callable[[int], int]:
    """Work of one line."""
    return lambda unit: 2 * unit


if __name__ == "__main__":
    sys.stdout.write(f"{list(map_in_processes(doubling, range(3), workers=1))}\n")
