"""A screen that may go: where whoever reads it is gone, as `tee` after Ctrl-C, the work goes on and is saved."""

from __future__ import annotations

import errno
import io
import os
import sys
from typing import Any, TextIO

GONE = (errno.EPIPE, errno.EIO)  # of a pipe that nobody reads; of a terminal that was closed


class _Lasting(io.FileIO):
    """Writes to a descriptor; once nobody is there to read, what is written goes nowhere."""

    def write(self, data: Any) -> int:
        """All of it, bytes."""
        rest = memoryview(data)
        while len(rest):
            try:
                rest = rest[super().write(rest) :]
            except OSError as error:
                if error.errno not in GONE:
                    raise
                nowhere = os.open(os.devnull, os.O_WRONLY)
                os.dup2(nowhere, self.fileno())
                os.close(nowhere)
        return len(data)


def outlive_readers() -> None:
    """Lets this process' standard output and error outlive whoever reads them. Where others have put something else in
    their place, as a test does, it stays."""
    if sys.stdout is sys.__stdout__ and sys.stdout is not None:
        sys.stdout = lasting(sys.stdout)
    if sys.stderr is sys.__stderr__ and sys.stderr is not None:
        sys.stderr = lasting(sys.stderr)


def lasting(stream: TextIO) -> TextIO:
    """A stream to the same descriptor that outlives its reader.

    Nothing is buffered: a buffer refuses what a signal's handler says where the signal came in the midst of a line.
    """
    stream.flush()
    raw: Any = _Lasting(stream.fileno(), "w", closefd=False)
    return io.TextIOWrapper(raw, encoding=stream.encoding, errors=stream.errors, write_through=True)
