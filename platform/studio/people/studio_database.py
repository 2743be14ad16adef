"""The studio's own database, `studio.db`: people, how they came in, what they agreed to, and what they were given.

Episodes and marks are not in it: they go into the run's store, as those of scripts do. The threads of the web process
share one connection; the verbs that invite, export and make a crowd open the file as well.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

from interplay.core.files import private_file
from interplay.core.sqlite_transaction import transaction

STUDIO_VERSION = 3

TABLES = """
CREATE TABLE people (id TEXT PRIMARY KEY, created REAL NOT NULL, roles TEXT NOT NULL,
    settings TEXT NOT NULL DEFAULT '{}', paused TEXT);
CREATE TABLE identities (person TEXT NOT NULL, platform TEXT NOT NULL, name TEXT NOT NULL,
    PRIMARY KEY (platform, name));
CREATE TABLE invitations (code TEXT PRIMARY KEY, roles TEXT NOT NULL, study TEXT NOT NULL, uses INTEGER NOT NULL,
    used INTEGER NOT NULL DEFAULT 0, expires REAL NOT NULL, created REAL NOT NULL, person TEXT);
CREATE TABLE logins (token TEXT PRIMARY KEY, person TEXT NOT NULL, created REAL NOT NULL, expires REAL NOT NULL);
CREATE INDEX logins_of ON logins (person);
CREATE TABLE consents (person TEXT NOT NULL, study TEXT NOT NULL, version INTEGER NOT NULL, text TEXT NOT NULL,
    answers TEXT NOT NULL, at REAL NOT NULL, PRIMARY KEY (person, study, version));
CREATE TABLE assignments (id TEXT PRIMARY KEY, study TEXT NOT NULL, version INTEGER NOT NULL, person TEXT NOT NULL,
    episode TEXT NOT NULL, kind TEXT NOT NULL, request TEXT, rule TEXT NOT NULL, score REAL,
    probability REAL NOT NULL, created REAL NOT NULL, expires REAL NOT NULL, state TEXT NOT NULL, reason TEXT,
    ended REAL);
CREATE INDEX assignments_of ON assignments (person, study);
CREATE INDEX assignments_to ON assignments (study, episode);
CREATE TABLE shown (assignment TEXT NOT NULL, mark TEXT NOT NULL, frame INTEGER NOT NULL, sign INTEGER NOT NULL,
    utterance INTEGER, details TEXT NOT NULL, at REAL NOT NULL, undone REAL, PRIMARY KEY (assignment, mark));
CREATE TABLE sessions (id TEXT PRIMARY KEY, study TEXT NOT NULL, version INTEGER NOT NULL, started REAL NOT NULL,
    ended REAL, outcome TEXT, episode TEXT, seats TEXT NOT NULL, agent TEXT);
CREATE TABLE checks (assignment TEXT PRIMARY KEY, person TEXT NOT NULL, study TEXT NOT NULL, kind TEXT NOT NULL,
    passed INTEGER NOT NULL, result TEXT NOT NULL, at REAL NOT NULL);
CREATE INDEX checks_of ON checks (person, study);
"""
MARK_INDEX = "CREATE INDEX IF NOT EXISTS shown_marks ON shown (mark);"  # files of earlier starts lack it
AGENT_COLUMN = "ALTER TABLE sessions ADD COLUMN agent TEXT;"  # drawn for an evaluation; since version 2
# How each person's last session of a study has ended, as JSON; since version 3.
ENDINGS = """
CREATE TABLE endings (person TEXT NOT NULL, study TEXT NOT NULL, session TEXT NOT NULL, ending TEXT NOT NULL,
    PRIMARY KEY (person, study));
"""
CHANGES = {0: TABLES + ENDINGS, 1: AGENT_COLUMN + ENDINGS, 2: ENDINGS}  # what a file of each version lacks


class StudioDatabase:
    """The open database; every method is one transaction, and what it wrote survives a power cut.

    Raises:
        ValueError: a newer version of the platform wrote the file.
    """

    def __init__(self, path: Path) -> None:
        self._lock = threading.RLock()
        private_file(path)  # SQLite gives its two companions the permissions of the file
        self._connection = sqlite3.connect(path, check_same_thread=False, isolation_level=None)
        self._connection.row_factory = sqlite3.Row
        (version,) = self._connection.execute("PRAGMA user_version").fetchone()
        if version > STUDIO_VERSION:
            self._connection.close()
            raise ValueError(
                f"{path} has version {version}, this platform reads up to {STUDIO_VERSION}; update the platform"
            )
        for setting in ("journal_mode = WAL", "synchronous = FULL", "secure_delete = ON"):
            self._connection.execute(f"PRAGMA {setting}")
        if version < STUDIO_VERSION:
            change = CHANGES[version]
            self._connection.executescript(f"BEGIN; {change} PRAGMA user_version = {STUDIO_VERSION}; COMMIT;")
        self._connection.execute(MARK_INDEX)

    def rows(self, query: str, *values: Any) -> list[sqlite3.Row]:
        """The rows of a query."""
        with self._lock:
            return self._connection.execute(query, values).fetchall()

    def insert(self, table: str, conflict: Literal["ABORT", "IGNORE", "REPLACE"] = "ABORT", /, **values: Any) -> None:
        """Adds a row. If its key exists, `conflict` selects an error, no change, or replacement of the row."""
        columns, places = ", ".join(values), ", ".join("?" for _ in values)
        self.write(f"INSERT OR {conflict} INTO {table} ({columns}) VALUES ({places})", *values.values())

    def write(self, statement: str, *values: Any) -> int:
        """Executes one statement; returns the number of rows it changed."""
        with self.writing() as connection:
            return connection.execute(statement, values).rowcount

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """One transaction of several statements; an exception undoes it."""
        with self._lock, transaction(self._connection):
            yield self._connection

    def erase(self, statements: Iterable[tuple[str, tuple[Any, ...]]]) -> None:
        """Deletes rows so that no byte of them stays in the file or in its write-ahead log."""
        with self.writing() as connection:
            for statement, values in statements:
                connection.execute(statement, values)
        with self._lock:
            self._connection.execute("VACUUM")
            self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def close(self) -> None:
        """Closes the file."""
        with self._lock:
            self._connection.close()
