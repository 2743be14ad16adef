"""What Ray takes outside its processes' memory: its object store, and the folder of its session."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from pathlib import Path

from watching.processes import GONE, PROC, Process

MEGABYTE = float(1 << 20)
BLOCK = 512  # bytes, of st_blocks
SESSION = re.compile(r"--(?:session[-_]dir|log_dir)=(/.*?/session_[^/]+)")
PINNED = re.compile(r"pinned objects size: (\d+)")


def session_folder(processes: Iterable[Process]) -> Path | None:
    """Where Ray writes its logs, from the command lines of its processes."""
    for process in processes:
        for word in process.words:
            found = SESSION.match(word)
            if found is not None:
                return Path(found[1])
    return None


def pinned(session: Path) -> float | None:
    """MB that objects take in the store, as its raylet wrote down some seconds ago; None where it has not yet."""
    file = session / "logs" / "debug_state.txt"
    found = PINNED.search(file.read_text()) if file.exists() else None
    return None if found is None else int(found[1]) / MEGABYTE


def shared_memory(pids: Iterable[int]) -> float:
    """MB of /dev/shm behind the files that these processes hold open, each counted once: the store's pages."""
    blocks: dict[int, int] = {}
    for pid in pids:
        try:
            opened = list((PROC / str(pid) / "fd").iterdir())
        except GONE:
            continue
        for link in opened:
            try:
                if str(link.readlink()).startswith("/dev/shm/"):
                    seen = link.stat()
                    blocks[seen.st_ino] = seen.st_blocks
            except GONE:
                continue
    return sum(blocks.values()) * BLOCK / MEGABYTE


def on_disk(folder: Path) -> float:
    """MB of all files under a folder."""
    total = 0
    for where, _, names in os.walk(folder):
        for name in names:
            try:
                total += (Path(where) / name).lstat().st_size
            except FileNotFoundError:
                continue
    return total / MEGABYTE
