"""The file with the tracebacks of errors that were reported in one line."""

from __future__ import annotations

import traceback
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

NAME = "error.txt"


def keep_traceback(run: Path, command: Sequence[str], error: BaseException) -> Path | None:
    """Appends the time, the command and the complete traceback to `run`/error.txt, and returns its path.

    Returns None if the run has no folder or the file can't be written; the message itself has been printed by then.
    """
    file = run / NAME
    text = "".join(traceback.format_exception(error))
    when = datetime.now(UTC).isoformat(timespec="seconds")
    try:
        with file.open("a", encoding="utf-8") as opened:
            opened.write(f"{when}  interplay {' '.join(command)}\n{text}\n")
    except OSError:
        return None
    return file
