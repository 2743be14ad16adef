"""One look at a run: what every process of it takes, what Ray stores, and how far it has come."""

from __future__ import annotations

import json
import os
import shutil
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from watching.processes import Process, Use, by_name, tree, use_of
from watching.store import MEGABYTE, on_disk, pinned, session_folder, shared_memory


@dataclass(frozen=True)
class Sample:
    """What was seen at one moment."""

    seconds: float  # since the watch began
    uses: dict[str, Use]  # by part
    objects: float  # MB in the object store
    pages: float  # MB of /dev/shm behind the store and whatever else the run shares
    machine: float  # MB of /dev/shm in use, by all on this machine
    session: float  # MB on disk, of Ray's session: its logs
    folder: float  # MB on disk, of the stage: its checkpoints, its record
    updates: int
    taken: int  # unrolls that the ledger says were learned from
    lost: tuple[str, ...]  # what the ledger says of unrolls that are not there, or are twice
    restarts: int  # of parts


class Ledger:
    """Reads a ledger while it is written: how many unrolls were learned from, and was each the next of its actor?"""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._inode = 0
        self._begin()

    def _begin(self) -> None:
        self._offset = 0
        self._next: dict[tuple[str, int], int] = {}
        self.taken = 0
        self.lost: list[str] = []  # or twice there

    def read(self) -> None:
        """What was written since the last time."""
        if not self._path.exists():
            return
        with self._path.open("rb") as file:
            inode = os.fstat(file.fileno()).st_ino
            if inode != self._inode:  # it is written anew where a run goes on from a checkpoint
                self._begin()
                self._inode = inode
            file.seek(self._offset)
            for line in file:
                if not line.endswith(b"\n"):  # it is being written
                    break
                self._offset += len(line)
                self._add(json.loads(line))

    def _add(self, row: dict[str, Any]) -> None:
        for kind in ("played", "demonstrated"):
            for actor, number, *_ in row[kind]:
                expected = self._next.get((kind, actor), 0)
                if number != expected:
                    self.lost.append(f"update {row['update']}: {kind} unroll {number} of actor {actor}, not {expected}")
                self._next[kind, actor] = number + 1
                self.taken += 1


class Watch:
    """Looks at one run, the driver of which is the process `root`."""

    def __init__(self, root: int, stage: Path) -> None:
        self._root = root
        self._stage = stage
        self._ledger = Ledger(stage / "ledger.jsonl")
        self._began = time.monotonic()

    def begin(self) -> None:
        """The watch begins now."""
        self._began = time.monotonic()

    def look(self) -> Sample:
        """What there is now."""
        processes, status = tree(self._root), self.status()
        session = session_folder(processes)
        self._ledger.read()
        objects = None if session is None else pinned(session)
        return Sample(
            seconds=time.monotonic() - self._began,
            uses=_uses(processes, self._root, status),
            objects=objects or 0.0,
            pages=shared_memory(process.pid for process in processes),
            machine=shutil.disk_usage("/dev/shm").used / MEGABYTE,
            session=0.0 if session is None else on_disk(session),
            folder=on_disk(self._stage),
            updates=int(status["update"]),
            taken=self._ledger.taken,
            lost=tuple(self._ledger.lost),
            restarts=sum(part["restarts"] for part in status["workers"]),
        )

    def status(self) -> dict[str, Any]:
        """What the run says of itself; of one that has not said anything yet: no update, no parts."""
        file = self._stage / "status.json"
        found: dict[str, Any] = json.loads(file.read_text()) if file.exists() else {"update": 0, "workers": []}
        return found


def _uses(processes: list[Process], root: int, status: dict[str, Any]) -> dict[str, Use]:
    parts = {part["pid"]: part["name"] for part in status["workers"] if part["pid"]}
    found: dict[str, Use] = {}
    for name, pids in by_name(processes, root, parts).items():
        uses = [use for use in map(use_of, pids) if use is not None]
        if uses:
            found[name] = sum(uses[1:], uses[0])
    return found
