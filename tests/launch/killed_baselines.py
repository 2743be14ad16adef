"""Trains the baselines of a run, and writes the id of their process to a file; to be killed by a test."""

from __future__ import annotations

import multiprocessing
import sys
import threading
from pathlib import Path

from tiny_runs import opened

from interplay.launch.concurrent_baselines import ConcurrentBaselines

if __name__ == "__main__":
    file, *settings = sys.argv[1:]
    with ConcurrentBaselines(opened(settings)) as baselines:
        baselines.reached("clone")
        (child,) = multiprocessing.active_children()
        Path(file).write_text(f"{child.pid}\n")
        threading.Event().wait()
