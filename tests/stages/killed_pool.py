"""A pool whose processes write their ids into the folder that is named, and then wait; to be killed by a test."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path

from interplay.stages.process_pool import map_in_processes


def waiting(folder: str, stopped: Callable[[], bool]) -> Callable[[int], int]:
    """Work that never ends by itself."""

    def work(unit: int) -> int:
        Path(folder, str(os.getpid())).touch()
        threading.Event().wait()
        return unit

    return work


if __name__ == "__main__":
    list(map_in_processes(partial(waiting, sys.argv[1]), range(4), workers=2))
