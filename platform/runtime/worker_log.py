"""What a part's process prints: kept in the run's folder, for its last lines may say why it went down."""

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

MAX_LOG_BYTES = 2**20  # bytes of a part's file; of one that is longer, the newer half of this is kept
TAIL_LINES = 20  # at the end of why a part went down
MAX_LINE_CHARACTERS = 500  # characters of one of them

_SHORTENING = threading.Lock()  # a part does so between its calls, and when its pulse is read


class WorkerLog:
    """`folder`/<part>.txt: one process of the part after the other, each below a line that says when it started."""

    def __init__(self, folder: Path, worker: str) -> None:
        self.file = folder / f"{worker}.txt"
        self._worker = worker

    def begin(self) -> None:
        """To be called by whoever starts the part, so that nothing of an earlier process passes for its last words.

        Where it can't be written, as on a full disk, it is logged: the part can do without.
        """
        when = datetime.now(UTC).isoformat(timespec="seconds")
        try:
            self.file.parent.mkdir(parents=True, exist_ok=True)
            with self.file.open("a", encoding="utf-8") as opened:
                opened.write(f"=== {when} {self._worker} starts\n")
        except OSError as error:
            logger.error("%s can't be written (%s)", self.file, error)

    def catch(self) -> None:
        """To be called in the part's process: what it prints goes into the file, by whatever language it is printed.

        Nothing stands between them, so the file holds it also where the process is killed in its next step.
        """
        self.file = self.file.resolve()  # wherever the process goes from here
        self.file.parent.mkdir(parents=True, exist_ok=True)
        opened = os.open(self.file, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
        for stream, descriptor in ((sys.stdout, 1), (sys.stderr, 2)):
            stream.flush()
            os.dup2(opened, descriptor)
        os.close(opened)

    def shorten(self) -> None:
        """Drops what is oldest where the file has grown too long. To be called now and then."""
        with _SHORTENING, suppress(OSError):  # as on a disk that is not there: the part can do without
            if self.file.stat().st_size <= MAX_LOG_BYTES:
                return
            with self.file.open("rb") as opened:
                opened.seek(-MAX_LOG_BYTES // 2, os.SEEK_END)
                newer = opened.read()
            os.truncate(self.file, 0)
            with self.file.open("ab") as opened:  # whoever prints meanwhile appends, too
                opened.write(newer)

    def last(self) -> str:
        """The last lines that the present process has printed; empty where it has printed none."""
        if not self.file.exists():
            return ""
        text = self.file.read_text(encoding="utf-8", errors="replace")
        own = re.split(rf"^=== \S+ {re.escape(self._worker)} starts$", text, flags=re.MULTILINE)[-1]
        return "\n".join(line[:MAX_LINE_CHARACTERS] for line in own.strip().splitlines()[-TAIL_LINES:])
