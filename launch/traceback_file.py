"""The file with the tracebacks of errors that were reported in one line."""

from __future__ import annotations

import sysconfig
import traceback
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import interplay.env
import interplay.launch

NAME = "error.txt"
PLATFORM = (Path(interplay.launch.__file__).parent, Path(interplay.env.__file__).parent.parent)
INSTALLED = tuple(Path(sysconfig.get_path(name)) for name in ("stdlib", "purelib", "platlib"))


def keep_traceback(run: Path, command: Sequence[str], error: BaseException) -> Path | None:
    """Appends the time, the command and the complete traceback to `run`/error.txt, and returns its path.

    Returns None if the run has no folder or the file can't be written; the message itself has been printed by then.
    """
    file = run / NAME
    text = "".join(traceback.format_exception(error))
    when = datetime.now(UTC).isoformat(timespec="seconds")
    try:
        with file.open("a", encoding="utf-8", errors="backslashreplace") as opened:
            opened.write(f"{when}  interplay {' '.join(command)}\n{text}\n")
    except OSError:
        return None
    return file


def is_of_another_package(error: BaseException) -> bool:
    """Whether the error passed through code outside the platform and installed packages, as that of a new world."""
    frames = traceback.extract_tb(error.__traceback__)
    files = [Path(frame.filename).resolve() for frame in frames if not frame.filename.startswith("<")]
    return not all(any(file.is_relative_to(folder) for folder in (*PLATFORM, *INSTALLED)) for file in files)
