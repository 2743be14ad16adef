"""Transactions of SQLite, on connections that begin none themselves (`isolation_level=None`)."""

from __future__ import annotations

import errno
import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

# Errors of the system that SQLite reports under names of its own.
SYSTEM_ERRORS = {
    "SQLITE_FULL": errno.ENOSPC,
    "SQLITE_IOERR_SHMSIZE": errno.ENOSPC,  # of the file through which connections share a log, also to read
    "SQLITE_IOERR_WRITE": errno.EIO,
    "SQLITE_READONLY": errno.EACCES,
}


@contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[sqlite3.Connection]:
    """One transaction: committed on leaving, and rolled back after any exception, also one of the commit itself."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield connection
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:  # on a full disk, SQLite may have undone it already
            connection.execute("ROLLBACK")
        raise


def system_error(error: Exception, path: Path) -> OSError | None:
    """The error of the system, such as a full disk, that this error of SQLite about the file `path` reports, if any."""
    name = getattr(error, "sqlite_errorname", "")
    number = SYSTEM_ERRORS.get(name)
    if name.startswith("SQLITE_CANTOPEN") and path.parent.is_dir() and not os.access(path.parent, os.W_OK):
        number = errno.EACCES  # a catalog is also read by writing, into files next to it
    return None if number is None else OSError(number, os.strerror(number), str(path))
