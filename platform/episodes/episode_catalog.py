"""The catalog of a store, in one SQLite file: a search index of the episodes, and their marks and deletions.

The index is derived from the episode files and can be rebuilt from them. Marks and deletions are primary; each change
of them is also appended to a journal (see `catalog_journal`), so that they survive the loss of the catalog. The journal
alone is forced to disk for each change: what a power cut takes from the catalog is applied again when it is opened.

Processes of one host may open a catalog (SQLite's write-ahead log does not work on network filesystems), and the
threads of a process may share it. Processes of other hosts read a snapshot. In a folder that can't be written, a
catalog is only read.
"""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from urllib.parse import quote

from interplay.core.sqlite_transaction import transaction
from interplay.core.typed_name import typed_name
from interplay.episodes.catalog_index import (
    DELETED_TABLE,
    FLAG_TABLE,
    INDEX_TABLES,
    JOURNALED_TABLE,
    MARK_TABLE,
    RATING_TABLE,
    CatalogEntry,
    DamagedCatalog,
    EpisodeFilter,
    EpisodeIndex,
    check_integrity,
    damage_reported,
    insert_entry,
    sql_condition,
)
from interplay.episodes.catalog_journal import JOURNAL, CatalogJournal, Change, apply_change, changes_of
from interplay.episodes.encoding import UnknownEpisode

CATALOG_VERSION = 2
CATALOG = "catalogue.db"
TABLES = {"episodes", "seats", "marks", "deleted", "flags"}


class EpisodeCatalog(EpisodeIndex):
    """The open catalog of the store in `root`. Every method is one transaction.

    `rebuild` creates a catalog that is missing or empty although there are episodes or a journal, and checks all of an
    existing one, however large it is.

    Raises:
        DamagedCatalog: the file can't be read; the message says what to type. Any method may raise it.
        ValueError: a newer version of the platform wrote it.
    """

    def __init__(self, root: Path, *, rebuild: bool = False) -> None:
        self._path = root / CATALOG
        self._lock = threading.RLock()
        self._journal = CatalogJournal(root / JOURNAL)
        if not rebuild:
            self._refuse_lost_catalog()
        with damage_reported(self._path, self._remedy):
            self._database = self._connect()
            try:
                self._prepare(check_all=rebuild)
            except BaseException:
                self._database.close()
                raise

    def put(self, entries: Iterable[CatalogEntry]) -> None:
        """Adds episodes to the index, or replaces them there."""
        with self._writing() as database:
            for entry in entries:
                insert_entry(database, entry)

    def drop(self, ids: Collection[str]) -> None:
        """Removes episodes from the index; their marks stay."""
        with self._writing() as database:
            for table, column in (("episodes", "id"), ("seats", "episode")):
                database.executemany(f"DELETE FROM {table} WHERE {column} = ?", [(id_,) for id_ in ids])

    def paths(self) -> dict[str, str]:
        """The path of every episode in the index, deleted ones included, by id."""
        return dict(self._rows("SELECT id, path FROM episodes"))

    def path(self, episode: str) -> str:
        """The path of one episode, relative to the root. Raises UnknownEpisode if the index does not list it."""
        rows = self._rows("SELECT path FROM episodes WHERE id = ?", [episode])
        if not rows:
            raise UnknownEpisode(
                f"the store has no episode {episode!r}: it was deleted, or another process has added its file, "
                "which interplay reindex lists"
            )
        return str(rows[0][0])

    def entry(self, episode: str) -> CatalogEntry:
        """The index entry of one episode. Raises UnknownEpisode if the store has none of this id, or it is deleted."""
        condition = "id = ? AND id NOT IN (SELECT episode FROM deleted)"
        if not self._rows(f"SELECT 1 FROM episodes WHERE {condition}", [episode]):
            raise UnknownEpisode(f"the store has no episode {episode!r}")
        return self._entries([episode])[0]

    def __len__(self) -> int:
        """The number of episodes that are not deleted."""
        return int(self._rows("SELECT count(*) FROM episodes WHERE id NOT IN (SELECT episode FROM deleted)")[0][0])

    def flags(self) -> dict[str, str]:
        """Flagged episodes, and why."""
        return dict(self._rows("SELECT episode, reason FROM flags"))

    def deleted(self) -> list[str]:
        """The ids of all deleted episodes, purged ones included."""
        return [str(row[0]) for row in self._rows("SELECT episode FROM deleted ORDER BY episode")]

    def wipe_marks(self, rater: str) -> None:
        """Deletes the marks and ratings of a rater, so that no byte of them stays in the catalog or in the journal."""
        with self._reading() as database:
            database.execute("PRAGMA secure_delete = ON")
        with self._writing() as database:
            for table in ("marks", "ratings"):
                database.execute(f"DELETE FROM {table} WHERE rater = ?", [rater])
            self._journal.replace(changes_of(database))
            self._note_journaled(database)
        with self._reading() as database:
            database.execute("VACUUM")
            database.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def version(self) -> tuple[int, int]:
        """Another value after each change, also by other processes; only values of the same open catalog compare."""
        with self._reading() as database:
            (by_others,) = database.execute("PRAGMA data_version").fetchone()
            return database.total_changes, int(by_others)

    def count_marks(self) -> int:
        """The number of marks, undone ones included."""
        return int(self._rows("SELECT count(*) FROM marks")[0][0])

    def change(self, change: Change) -> None:
        """Applies a change of marks, ratings or deletions, and appends it to the journal before it is committed."""
        change = {"time": time.time(), **change}
        with self._writing(durable=False) as database:  # the journal is durable
            apply_change(database, change)
            self._journal.append(change)
            self._note_journaled(database)

    def replay(self, changes: Sequence[Change]) -> None:
        """Applies changes that are journaled already; those already applied have no effect."""
        with self._writing() as database:
            for change in changes:
                apply_change(database, change)

    def rewrite_journal(self) -> None:
        """Replaces the journal by the shortest one that leads to the present marks and deletions."""
        with self._writing() as database:
            self._journal.replace(changes_of(database))
            self._note_journaled(database)

    def close(self) -> None:
        """Closes the file."""
        with self._lock:
            self._database.close()

    @cached_property  # every access to the catalog passes it on, and files are looked up for it
    def _remedy(self) -> str:
        run = typed_name(self._path.resolve().parent.parent)
        return (
            f"the episodes are in files of their own, and marks and deletions in {JOURNAL}: rebuild the catalog from "
            f"them with: interplay reindex {run}"
        )

    def _connect(self) -> sqlite3.Connection:
        """Opens the file. SQLite reads it by writing into files next to it, and on a read-only disk by declaring that
        nothing changes it; changes that a killed process has left in its log would be missed then. The file may be a
        link to one on such a disk."""
        found = self._path.resolve()
        log = found.with_name(f"{found.name}-wal")
        frozen = found.exists() and not log.exists() and not os.access(found.parent, os.W_OK)
        address = f"file://{quote(os.fsencode(self._path.absolute()))}?mode=ro&immutable=1" if frozen else self._path
        return sqlite3.connect(address, uri=frozen, check_same_thread=False, isolation_level=None)

    def _refuse_lost_catalog(self) -> None:
        """Refuses a missing or empty file of an existing store: SQLite would create one without episodes and marks."""
        if self._journal.exists() and not self._journal.path.is_file():
            raise DamagedCatalog(f"{self._journal.path} is not a file; {self._remedy}")
        missing = not self._path.exists()
        if not missing and not (self._path.is_file() and not self._path.stat().st_size):
            return
        if self._journal.exists() or any(self._path.parent.glob("episodes/*/*.npz")):
            raise DamagedCatalog(f"{self._path} is {'missing' if missing else 'damaged (it is empty)'}; {self._remedy}")

    def _prepare(self, *, check_all: bool) -> None:
        """Creates the tables of a new file; refuses a file of a newer version."""
        version = self._rows("PRAGMA user_version")[0][0]
        if version > CATALOG_VERSION:
            raise ValueError(
                f"{self._path} has format version {version}, this platform reads up to {CATALOG_VERSION}; "
                "update the platform to open it"
            )
        if version:
            known = TABLES if version == CATALOG_VERSION else TABLES - {"flags"}
            check_integrity(self._database, self._path, known, check_all=check_all)
        self._rows("PRAGMA journal_mode = WAL")
        self._rows("PRAGMA synchronous = FULL")  # a power cut must not take an episode's entry
        if version != CATALOG_VERSION:
            # Version 1 is the same without flags. A new catalog has read nothing of an existing journal.
            tables = f"{INDEX_TABLES} {MARK_TABLE} {DELETED_TABLE} {FLAG_TABLE} {JOURNALED_TABLE}"
            new = FLAG_TABLE if version == 1 else f"{tables} INSERT INTO journaled VALUES (0, 0);"
            self._database.executescript(f"BEGIN; {new} PRAGMA user_version = {CATALOG_VERSION}; COMMIT;")
        for table in (RATING_TABLE, JOURNALED_TABLE):  # catalogs of earlier versions lack them
            self._rows(table)
        if (
            version
            and not self._journal.exists()
            and any(self._rows(f"SELECT 1 FROM {table} LIMIT 1") for table in ("marks", "ratings", "deleted", "flags"))
        ):
            self.rewrite_journal()  # a store of a version without a journal
        self._catch_up()

    def _catch_up(self) -> None:
        """Applies the changes of the journal that the catalog lacks, so that opening it shows them."""
        if self._rows("SELECT bytes FROM journaled") != [(self._journal.size(),)]:
            with self._writing() as database:
                self._note_journaled(database)

    def _apply_journaled(self, database: sqlite3.Connection) -> None:
        """Applies, within a transaction, the changes of the journal that the catalog lacks: they were lost in a power
        cut, or not committed, as on a full disk."""
        noted = database.execute("SELECT bytes FROM journaled").fetchone()
        if noted is None or noted[0] == self._journal.size():
            return
        for change in self._journal.read(noted[0])[0]:
            apply_change(database, change)
        self._note_journaled(database)

    def _note_journaled(self, database: sqlite3.Connection) -> None:
        """Notes, within a transaction, that the catalog has all of the journal."""
        database.execute("INSERT OR REPLACE INTO journaled VALUES (0, ?)", [self._journal.size()])

    def _condition(self, where: EpisodeFilter) -> tuple[str, list[object]]:
        """Deleted episodes are left out, and flagged ones unless `where` asks for them."""
        condition, values = sql_condition(where)
        condition += " AND id NOT IN (SELECT episode FROM deleted)"
        return condition + ("" if where.flagged else " AND id NOT IN (SELECT episode FROM flags)"), values

    @contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection]:
        with self._lock, damage_reported(self._path, self._remedy):
            yield self._database

    @contextmanager
    def _writing(self, *, durable: bool = True) -> Iterator[sqlite3.Connection]:
        """One transaction; unless `durable`, a power cut may take it."""
        with self._reading() as database:
            database.execute(f"PRAGMA synchronous = {'FULL' if durable else 'NORMAL'}")
            with transaction(database):
                self._apply_journaled(database)
                yield database
