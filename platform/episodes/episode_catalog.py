"""What the store knows about its episodes, in one SQLite file: a search index, and marks and deletions.

The tables `episodes` and `seats` are derived from the episode files and can be rebuilt from them. `marks` and
`deleted` are primary: they exist nowhere else, so a rebuilt index resurrects nothing and loses no mark.

One process, on one host, opens a catalog (SQLite's write-ahead log does not work on network filesystems); its
threads may share it. Everyone else reads a snapshot.
"""

from __future__ import annotations

import json
import sqlite3
import threading
import time
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from interplay.episodes.episode import EpisodeMeta, Mark

CATALOG_VERSION = 1

INDEX_TABLES = """
CREATE TABLE episodes (
    id TEXT PRIMARY KEY, path TEXT NOT NULL, sha256 TEXT NOT NULL, created REAL NOT NULL, world TEXT NOT NULL,
    split TEXT NOT NULL, round INTEGER NOT NULL, steps INTEGER NOT NULL, task_kinds TEXT NOT NULL
) WITHOUT ROWID;
CREATE INDEX by_split_and_round ON episodes (split, round);
CREATE TABLE seats (
    episode TEXT NOT NULL, role TEXT NOT NULL, kind TEXT NOT NULL, PRIMARY KEY (episode, role, kind)
) WITHOUT ROWID;
CREATE INDEX by_kind ON seats (role, kind);
"""
INDEX_COLUMNS = ("id", "path", "sha256", "created", "world", "split", "round", "steps")
MARK_TABLE = """
CREATE TABLE marks (
    id TEXT PRIMARY KEY, episode TEXT NOT NULL, rater TEXT NOT NULL, frame INTEGER NOT NULL,
    sign INTEGER NOT NULL CHECK (sign IN (-1, 1)), created REAL NOT NULL, undone REAL
) WITHOUT ROWID;
CREATE INDEX by_episode ON marks (episode, rater, frame);
"""
DELETED_TABLE = "CREATE TABLE deleted (episode TEXT PRIMARY KEY, at REAL NOT NULL, purged REAL) WITHOUT ROWID;"


@dataclass(frozen=True)
class EpisodeFilter:
    """Which episodes: every condition that is given must hold.

    `kinds` names, for a role, the kinds of players one of which steered it at some time; `tasks` the kinds of tasks
    one of which was asked; `marked` asks for episodes with (True) or without (False) a mark.
    """

    split: str | None = None
    round: int | None = None
    rounds_before: int | None = None
    world: str | None = None
    kinds: Mapping[str, Collection[str]] = field(default_factory=dict)
    tasks: Collection[str] = ()
    marked: bool | None = None


@dataclass(frozen=True)
class CatalogEntry:
    """One episode as the index knows it; `path` is relative to the store's root."""

    id: str
    path: str
    sha256: str
    created: float
    world: str
    split: str
    round: int
    steps: int
    task_kinds: tuple[str, ...]
    seats: tuple[tuple[str, str], ...]  # (role, kind of player) of everyone who ever steered it


def entry_of(meta: EpisodeMeta, path: str, sha256: str) -> CatalogEntry:
    """The index's entry of an episode."""
    seats = {(role, player["kind"]) for role, player in meta.players.items() if "kind" in player}
    seats |= {(role, who) for role, runs in meta.control.items() for _, who in runs}
    kinds = tuple(dict.fromkeys(str(task["kind"]) for _, task in meta.tasks if "kind" in task))
    return CatalogEntry(
        id=meta.id,
        path=path,
        sha256=sha256,
        created=meta.created,
        world=meta.world,
        split=meta.split,
        round=meta.round,
        steps=meta.steps,
        task_kinds=kinds,
        seats=tuple(sorted(seats)),
    )


class EpisodeCatalog:
    """The open catalog of a store. Every method is one transaction."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.RLock()
        self._database = sqlite3.connect(path, check_same_thread=False, isolation_level=None)
        self._prepare()

    def put(self, entries: Iterable[CatalogEntry]) -> None:
        """Adds episodes to the index, or replaces them there."""
        with self._writing() as database:
            for entry in entries:
                insert_entry(database, entry)

    def drop(self, ids: Collection[str]) -> None:
        """Takes episodes out of the index; their marks stay."""
        with self._writing() as database:
            for table, column in (("episodes", "id"), ("seats", "episode")):
                database.executemany(f"DELETE FROM {table} WHERE {column} = ?", [(id_,) for id_ in ids])

    def paths(self) -> dict[str, str]:
        """The path of every episode in the index, deleted ones included, by id."""
        return dict(self._rows("SELECT id, path FROM episodes"))

    def path(self, episode: str) -> str:
        """The path of one episode, relative to the root. Raises KeyError where the index does not know it."""
        rows = self._rows("SELECT path FROM episodes WHERE id = ?", [episode])
        if not rows:
            raise KeyError(f"the store has no episode {episode!r}; reindex() finds files put there by others")
        return str(rows[0][0])

    def ids(self, where: EpisodeFilter) -> list[str]:
        """The episodes that satisfy `where` and are not deleted, oldest first."""
        condition, values = sql_condition(where)
        condition += " AND id NOT IN (SELECT episode FROM deleted)"
        return [row[0] for row in self._rows(f"SELECT id FROM episodes WHERE {condition} ORDER BY id", values)]

    def entries(self, where: EpisodeFilter) -> list[CatalogEntry]:
        """As `ids`, with everything that the index knows."""
        wanted = self.ids(where)
        with self._lock:
            return read_entries(self._database, wanted)

    def count(self) -> int:
        """How many episodes are not deleted."""
        return int(self._rows("SELECT count(*) FROM episodes WHERE id NOT IN (SELECT episode FROM deleted)")[0][0])

    def delete(self, episode: str) -> None:
        """Flags an episode as deleted; its file stays until it is purged."""
        with self._writing() as database:
            database.execute("INSERT OR IGNORE INTO deleted VALUES (?, ?, NULL)", [episode, time.time()])

    def restore(self, episode: str) -> None:
        """Takes the flag away again, unless the file has been purged."""
        with self._writing() as database:
            database.execute("DELETE FROM deleted WHERE episode = ? AND purged IS NULL", [episode])

    def deleted(self) -> list[str]:
        """Episodes with the flag whose bytes are still to be purged."""
        return [row[0] for row in self._rows("SELECT episode FROM deleted WHERE purged IS NULL")]

    def purged(self, episodes: Collection[str]) -> None:
        """Notes that the bytes of deleted episodes are gone."""
        with self._writing() as database:
            moments = [(time.time(), episode) for episode in episodes]
            database.executemany("UPDATE deleted SET purged = ? WHERE episode = ?", moments)

    def add_marks(self, marks: Iterable[Mark]) -> None:
        """Adds marks; one that is already there (the same id) is left as it is."""
        with self._writing() as database:
            insert_marks(database, marks)

    def undo_mark(self, mark: str) -> None:
        """Hides a mark for good. Raises KeyError where there is none with this id."""
        with self._writing() as database:
            found = database.execute("UPDATE marks SET undone = coalesce(undone, ?) WHERE id = ?", [time.time(), mark])
            if not found.rowcount:
                raise KeyError(f"there is no mark {mark!r} to undo")

    def marks(self, episodes: Collection[str] | None = None, rater: str | None = None) -> list[Mark]:
        """Marks that stand, by episode, rater and frame."""
        with self._lock:
            return read_marks(self._database, episodes, rater)

    def close(self) -> None:
        """Closes the file."""
        with self._lock:
            self._database.close()

    def _prepare(self) -> None:
        """Creates the tables of a new file; refuses one of a newer platform."""
        version = self._rows("PRAGMA user_version")[0][0]
        if version > CATALOG_VERSION:
            self._database.close()
            raise ValueError(
                f"{self._path} has format version {version}, this platform knows up to {CATALOG_VERSION}; "
                "update the platform to open it"
            )
        self._rows("PRAGMA journal_mode = WAL")
        self._rows("PRAGMA synchronous = FULL")  # marks are nowhere else: a power cut must not take them
        if version == 0:
            self._database.executescript(
                f"BEGIN; {INDEX_TABLES} {MARK_TABLE} {DELETED_TABLE} PRAGMA user_version = {CATALOG_VERSION}; COMMIT;"
            )

    def _rows(self, query: str, values: Iterable[object] = ()) -> list[Any]:
        with self._lock:
            return self._database.execute(query, tuple(values)).fetchall()

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        with self._lock:
            self._database.execute("BEGIN IMMEDIATE")
            try:
                yield self._database
            except BaseException:
                self._database.execute("ROLLBACK")
                raise
            self._database.execute("COMMIT")


def insert_entry(database: sqlite3.Connection, entry: CatalogEntry) -> None:
    """Adds one episode to the index tables, or replaces it there."""
    database.execute(
        "INSERT OR REPLACE INTO episodes VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        [
            entry.id,
            entry.path,
            entry.sha256,
            entry.created,
            entry.world,
            entry.split,
            entry.round,
            entry.steps,
            json.dumps(entry.task_kinds),
        ],
    )
    database.execute("DELETE FROM seats WHERE episode = ?", [entry.id])
    database.executemany("INSERT INTO seats VALUES (?, ?, ?)", [(entry.id, *seat) for seat in entry.seats])


def insert_marks(database: sqlite3.Connection, marks: Iterable[Mark]) -> None:
    """Adds marks to the marks table."""
    rows = [(mark.id, mark.episode, mark.rater, mark.frame, mark.sign, mark.created) for mark in marks]
    database.executemany("INSERT OR IGNORE INTO marks VALUES (?, ?, ?, ?, ?, ?, NULL)", rows)


def read_entries(database: sqlite3.Connection, ids: Collection[str]) -> list[CatalogEntry]:
    """The entries of these episodes, in the order of their ids."""
    seats: dict[str, list[tuple[str, str]]] = {}
    with closing(database.execute("SELECT episode, role, kind FROM seats ORDER BY episode, role, kind")) as rows:
        for episode, role, kind in rows:
            seats.setdefault(episode, []).append((role, kind))
    wanted = set(ids)
    with closing(database.execute("SELECT * FROM episodes ORDER BY id")) as rows:
        return [_entry(row, tuple(seats.get(row[0], ()))) for row in rows if row[0] in wanted]


def _entry(row: tuple[Any, ...], seats: tuple[tuple[str, str], ...]) -> CatalogEntry:
    *columns, task_kinds = row
    named = dict(zip(INDEX_COLUMNS, columns, strict=True))
    return CatalogEntry(**named, task_kinds=tuple(json.loads(task_kinds)), seats=seats)


def read_marks(
    database: sqlite3.Connection, episodes: Collection[str] | None = None, rater: str | None = None
) -> list[Mark]:
    """Marks that were not undone, by episode, rater and frame."""
    query, values = "SELECT episode, rater, frame, sign, id, created FROM marks WHERE undone IS NULL", []
    if rater is not None:
        query, values = query + " AND rater = ?", [rater]
    if episodes is not None and len(episodes) == 1:
        query, values = query + " AND episode = ?", [*values, *episodes]
    wanted = None if episodes is None else set(episodes)
    with closing(database.execute(f"{query} ORDER BY episode, rater, frame, id", values)) as rows:
        return [Mark(*row) for row in rows if wanted is None or row[0] in wanted]


def sql_condition(where: EpisodeFilter) -> tuple[str, list[object]]:
    """The condition as SQL over the index tables, and its values."""
    conditions: list[str] = ["1"]
    values: list[object] = []

    def require(condition: str, *new: object) -> None:
        conditions.append(condition)
        values.extend(new)

    if where.split is not None:
        require("split = ?", where.split)
    if where.round is not None:
        require("round = ?", where.round)
    if where.rounds_before is not None:
        require("round < ?", where.rounds_before)
    if where.world is not None:
        require("world = ?", where.world)
    for role, named in where.kinds.items():
        kinds = [named] if isinstance(named, str) else named
        require(f"id IN (SELECT episode FROM seats WHERE role = ? AND kind IN ({_marks_for(kinds)}))", role, *kinds)
    if where.tasks:
        require(
            f"EXISTS (SELECT 1 FROM json_each(task_kinds) WHERE value IN ({_marks_for(where.tasks)}))", *where.tasks
        )
    if where.marked is not None:
        require(f"id {'' if where.marked else 'NOT '}IN (SELECT episode FROM marks WHERE undone IS NULL)")
    return " AND ".join(conditions), values


def _marks_for(values: Collection[object]) -> str:
    return ", ".join("?" for _ in values)
