"""Damage to the SQLite files of a store, reported with its remedy instead of a database error."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path

CHECKED_BYTES = 32 * 2**20  # files up to this size are checked whole when opened: 0.1 s at most

# SQLite's messages about damaged or foreign files, as opposed to "database is locked" or a full disk.
_DAMAGE = ("SQLITE_CORRUPT", "SQLITE_NOTADB", "SQLITE_CANTOPEN", "SQLITE_ERROR", "SQLITE_FORMAT", "SQLITE_IOERR_SHORT")


class DamagedCatalog(ValueError):
    """A catalog or a snapshot can't be read; the message says how to get it back."""


@contextmanager
def damage_reported(path: Path, remedy: str) -> Iterator[None]:
    """Raises DamagedCatalog in place of the errors that SQLite or row parsing raises for a damaged file."""
    try:
        yield
    except sqlite3.ProgrammingError:  # a mistake of the caller, such as a closed database
        raise
    except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
        if not getattr(error, "sqlite_errorname", "SQLITE_FORMAT").startswith(_DAMAGE):
            raise
        raise DamagedCatalog(f"{path} is damaged ({error}); {remedy}") from error


def check_integrity(
    database: sqlite3.Connection, path: Path, tables: Collection[str], *, check_all: bool = False
) -> None:
    """Raises sqlite3.DatabaseError if a table is missing or, in a file of up to `CHECKED_BYTES` or with
    `check_all`, a page is wrong."""
    present = {name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    if missing := sorted(set(tables) - present):
        raise sqlite3.DatabaseError(f"it has no table {', '.join(missing)}")
    if check_all or path.stat().st_size <= CHECKED_BYTES:
        (problem,) = database.execute("PRAGMA integrity_check(1)").fetchone()
        if problem != "ok":
            raise sqlite3.DatabaseError(" ".join(str(problem).split()))
