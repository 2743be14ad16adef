"""stdout and stderr that survive EPIPE and EIO, so that a closed pipe or terminal cannot kill a run before it saves."""

from __future__ import annotations

import errno
import io
import os
import sys
from typing import Any, TextIO

GONE = (errno.EPIPE, errno.EIO)  # the reader of a pipe has ended; the terminal was closed


class _SafeFile(io.FileIO):
    """A file descriptor whose output is discarded once its reader is gone."""

    def write(self, data: Any) -> int:
        """Writes all of `data`, which is bytes."""
        rest = memoryview(data)
        while len(rest):
            try:
                rest = rest[super().write(rest) :]
            except OSError as error:
                if error.errno not in GONE:
                    raise
                devnull = os.open(os.devnull, os.O_WRONLY)
                os.dup2(devnull, self.fileno())
                os.close(devnull)
        return len(data)


def outlive_readers() -> None:
    """Makes stdout and stderr of this process survive their readers. Replaced streams, as in tests, are left alone."""
    if sys.stdout is sys.__stdout__ and sys.stdout is not None:
        sys.stdout = lasting(sys.stdout)
    if sys.stderr is sys.__stderr__ and sys.stderr is not None:
        sys.stderr = lasting(sys.stderr)


def lasting(stream: TextIO) -> TextIO:
    """An unbuffered stream to the same descriptor that survives its reader, and escapes what its encoding lacks, as
    ASCII the name of a run.

    A buffered one would refuse the output of a signal handler that interrupts a write.
    """
    stream.flush()
    raw: Any = _SafeFile(stream.fileno(), "w", closefd=False)
    return io.TextIOWrapper(raw, encoding=stream.encoding, errors="backslashreplace", write_through=True)
