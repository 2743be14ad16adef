"""Captured output of a worker process, kept in the run's folder: its last lines may explain a failure."""

from __future__ import annotations

import logging
import os
import re
import sys
import threading
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

logger = logging.getLogger(__name__)

MAX_LOG_BYTES = 2**20  # of a worker's file; a longer one is cut to the newer half of this
TAIL_LINES = 20  # quoted in a crash report
MAX_LINE_CHARACTERS = 500  # of each of them

_TRUNCATION_LOCK = threading.Lock()  # a worker truncates between calls, and when its heartbeat is read


class WorkerLog:
    """`folder`/<name>.txt: the output of all processes of one worker, each after a line with its start time."""

    def __init__(self, folder: Path, name: str) -> None:
        self.file = folder / f"{name}.txt"
        self._name = name

    def write_header(self) -> None:
        """Appends the start line; called by the process that starts the worker, before it starts.

        It separates the output of the new process from that of earlier ones. If the file can't be written, as on a full
        disk, that is logged: the worker runs without it.
        """
        when = datetime.now(UTC).isoformat(timespec="seconds")
        try:
            self.file.parent.mkdir(parents=True, exist_ok=True)
            with self.file.open("a", encoding="utf-8") as opened:
                opened.write(f"=== {when} {self._name} starts\n")
        except OSError as error:
            logger.error("%s can't be written (%s)", self.file, error)

    def capture_output(self) -> None:
        """Redirects stdout and stderr of this process to the file, including the output of C libraries.

        The file descriptors are replaced, so nothing is buffered and lost even if the process is killed next.
        """
        self.file = self.file.resolve()  # the process may change its working directory
        self.file.parent.mkdir(parents=True, exist_ok=True)
        opened = os.open(self.file, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
        for stream, descriptor in ((sys.stdout, 1), (sys.stderr, 2)):
            stream.flush()
            os.dup2(opened, descriptor)
        os.close(opened)

    def truncate(self) -> None:
        """Drops the oldest output if the file has grown too long; to be called from time to time."""
        with _TRUNCATION_LOCK, suppress(OSError):  # a failing disk must not end the worker
            if self.file.stat().st_size <= MAX_LOG_BYTES:
                return
            with self.file.open("rb") as opened:
                opened.seek(-MAX_LOG_BYTES // 2, os.SEEK_END)
                newer = opened.read()
            os.truncate(self.file, 0)
            with self.file.open("ab") as opened:  # output that arrives meanwhile is appended, too
                opened.write(newer)

    def tail(self) -> str:
        """Returns the last lines of the newest process; empty if it has printed none."""
        if not self.file.exists():
            return ""
        text = self.file.read_text(encoding="utf-8", errors="replace")
        newest = re.split(rf"^=== \S+ {re.escape(self._name)} starts$", text, flags=re.MULTILINE)[-1]
        return "\n".join(line[:MAX_LINE_CHARACTERS] for line in newest.strip().splitlines()[-TAIL_LINES:])
