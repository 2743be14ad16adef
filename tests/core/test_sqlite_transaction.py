"""Transactions that fail leave a connection on which the next one succeeds, and raise what went wrong."""

from __future__ import annotations

import errno
import os
import resource
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from interplay.core.sqlite_transaction import system_error, transaction


@pytest.fixture
def connection(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(tmp_path / "some.db", isolation_level=None)) as opened:
        opened.execute("CREATE TABLE rows (row TEXT)")
        yield opened


def rows(connection: sqlite3.Connection) -> list[str]:
    return [row for (row,) in connection.execute("SELECT row FROM rows")]


def add(connection: sqlite3.Connection, row: str) -> None:
    with transaction(connection):
        connection.execute("INSERT INTO rows VALUES (?)", [row])


def test_a_full_disk_undoes_a_transaction_and_not_the_next(connection: sqlite3.Connection) -> None:
    connection.execute("PRAGMA max_page_count = 4")
    with pytest.raises(sqlite3.OperationalError, match="full"):
        add(connection, "x" * 100_000)
    add(connection, "short")
    assert rows(connection) == ["short"]


def test_a_commit_that_fails_is_undone(connection: sqlite3.Connection) -> None:
    connection.execute("PRAGMA foreign_keys = ON")
    connection.execute("CREATE TABLE keys (key TEXT PRIMARY KEY)")
    deferred = "key TEXT REFERENCES keys(key) DEFERRABLE INITIALLY DEFERRED"  # checked by the commit
    connection.execute(f"CREATE TABLE needing ({deferred})")
    with pytest.raises(sqlite3.IntegrityError, match="FOREIGN KEY"), transaction(connection):
        connection.execute("INSERT INTO needing VALUES ('absent')")
    add(connection, "short")
    assert rows(connection) == ["short"] and not connection.execute("SELECT * FROM needing").fetchall()


def test_an_exception_undoes_a_transaction(connection: sqlite3.Connection) -> None:
    with pytest.raises(ZeroDivisionError), transaction(connection):
        connection.execute("INSERT INTO rows VALUES ('x')")
        raise ZeroDivisionError
    assert rows(connection) == []


def test_a_folder_without_the_right_to_write_is_not_called_damage(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(sqlite3.OperationalError, match="unable to open") as raised:
        sqlite3.connect(f"file:{tmp_path}/none.db?mode=ro", uri=True)
    assert system_error(raised.value, tmp_path / "none.db") is None
    monkeypatch.setattr(os, "access", lambda path, mode: False)  # root, as whom tests may run, has every right
    found = system_error(raised.value, tmp_path / "none.db")
    assert isinstance(found, PermissionError) and found.filename == str(tmp_path / "none.db")


def test_a_disk_too_full_to_read_a_log_is_not_called_damage(tmp_path: Path) -> None:
    """SQLite writes a file of 32 KB next to a database with a log before it reads one row."""
    path = tmp_path / "some.db"
    with closing(sqlite3.connect(path)) as opened:
        opened.execute("PRAGMA journal_mode = WAL")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    with closing(sqlite3.connect(path)) as opened:
        resource.setrlimit(resource.RLIMIT_FSIZE, (16_384, limits[1]))
        try:
            with pytest.raises(sqlite3.OperationalError, match="disk I/O error") as raised:
                opened.execute("PRAGMA user_version")
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    found = system_error(raised.value, path)
    assert found is not None and (found.errno, found.filename) == (errno.ENOSPC, str(path))
