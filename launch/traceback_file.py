"""Keeps the traceback of an error that was told in one line, so that nothing about it is lost."""

from __future__ import annotations

import traceback
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

NAME = "error.txt"


def keep_traceback(run: Path, command: Sequence[str], error: BaseException) -> Path | None:
    """Appends the time, what was typed and the whole traceback to `run`/error.txt; returns its path.

    None where the run has no folder or it can't be written to: the message itself has been told then.
    """
    file = run / NAME
    told = "".join(traceback.format_exception(error))
    when = datetime.now(UTC).isoformat(timespec="seconds")
    try:
        with file.open("a", encoding="utf-8") as opened:
            opened.write(f"{when}  interplay {' '.join(command)}\n{told}\n")
    except OSError:
        return None
    return file
