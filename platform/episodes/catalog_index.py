"""The index of a store's episodes: entries, filters, and the SQLite tables. Damage to the SQLite files is reported with
its remedy instead of a database error.

The tables `episodes` and `seats` are derived from the episode files. `marks`, `ratings` (which rater watched which
episode, with or without marking it), `deleted` and `flags` are primary. A catalog holds all six, a snapshot all but
`deleted` and `flags`; files of earlier versions have no `ratings`.
"""

from __future__ import annotations

import json
import sqlite3
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from interplay.core.renamed_settings import RENAMED_TASK_KINDS
from interplay.core.sqlite_transaction import system_error
from interplay.episodes.episode import EpisodeMeta, Mark

CHECKED_BYTES = 32 * 2**20  # files up to this size are checked whole when opened: 0.1 s at most

# SQLite's messages about damaged or foreign files, as opposed to "database is locked" or a full disk.
_DAMAGE = ("SQLITE_CORRUPT", "SQLITE_NOTADB", "SQLITE_CANTOPEN", "SQLITE_ERROR", "SQLITE_FORMAT", "SQLITE_IOERR_SHORT")


class DamagedCatalog(ValueError):
    """A catalog or a snapshot can't be read; the message says how to get it back."""


@contextmanager
def damage_reported(path: Path, remedy: str) -> Iterator[None]:
    """Raises DamagedCatalog in place of the errors that SQLite or row parsing raises for a damaged file, OSError in
    place of those about a full disk or missing rights, and ValueError in place of that about a closed file."""
    try:
        yield
    except sqlite3.ProgrammingError as error:  # a mistake of the caller
        if "closed database" in str(error):
            raise ValueError(f"{path} has been closed; open its store or snapshot again") from error
        raise
    except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
        if (failed := system_error(error, path)) is not None:
            raise failed from error
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
RATING_COLUMNS = "(episode TEXT NOT NULL, rater TEXT NOT NULL, at REAL NOT NULL, PRIMARY KEY (episode, rater))"
RATING_TABLE = f"CREATE TABLE IF NOT EXISTS ratings {RATING_COLUMNS} WITHOUT ROWID;"
DELETED_TABLE = "CREATE TABLE deleted (episode TEXT PRIMARY KEY, at REAL NOT NULL, purged REAL) WITHOUT ROWID;"

FLAG_TABLE = """
CREATE TABLE IF NOT EXISTS flags (episode TEXT PRIMARY KEY, reason TEXT NOT NULL, at REAL NOT NULL) WITHOUT ROWID;
"""
# How many bytes of the journal the catalog holds.
JOURNALED_TABLE = "CREATE TABLE IF NOT EXISTS journaled (id INTEGER PRIMARY KEY, bytes INTEGER NOT NULL);"


@dataclass(frozen=True)
class EpisodeFilter:
    """A filter of episodes; all given conditions must hold.

    `kinds`: by role, kinds of players; at least one of them steered the role at some time. `tasks`: kinds of tasks; at
    least one was given. `only_tasks`: kinds of tasks; at least one was given, and no task of another kind. `marked`:
    episodes with (True) or without (False) a mark. `flagged`: flagged episodes, too; a snapshot holds those that it was
    made with. `rated`: episodes that a rater watched (True), with or without marking; readers with such a filter list
    raters without a mark, too.
    """

    split: str | None = None
    round: int | None = None
    rounds_before: int | None = None
    world: str | None = None
    kinds: Mapping[str, Collection[str]] = field(default_factory=dict)
    tasks: Collection[str] = ()
    only_tasks: Collection[str] = ()
    marked: bool | None = None
    flagged: bool = False
    rated: bool | None = None


@dataclass(frozen=True)
class CatalogEntry:
    """The entry of one episode; `path` is relative to the root of the store."""

    id: str
    path: str
    sha256: str
    created: float
    world: str
    split: str
    round: int
    steps: int
    task_kinds: tuple[str, ...]
    seats: tuple[tuple[str, str], ...]  # (role, kind) of each player that steered it


SEATINGS = ("human-human", "human-agent", "shared-control", "agent-human", "agent-agent")


def seating(entry: CatalogEntry) -> str:
    """The kinds of setter and solver, as "human-agent"; scripted players count as people.

    "shared-control": the solver was steered by an agent and by a person, in turn.
    """
    setter, solver = _kinds(entry, "setter"), _kinds(entry, "solver")
    if "agent" in solver and len(solver) > 1:
        return "shared-control"
    return f"{'agent' if 'agent' in setter else 'human'}-{'agent' if 'agent' in solver else 'human'}"


def players(entry: CatalogEntry) -> str:
    """As `seating`, with scripted players named, as "scripted-agent"."""
    kinds = seating(entry)
    if kinds == "shared-control":
        return kinds
    named = zip(("setter", "solver"), kinds.split("-"), strict=True)
    return "-".join("scripted" if _kinds(entry, role) == {"scripted"} else kind for role, kind in named)


def _kinds(entry: CatalogEntry, role: str) -> set[str]:
    return {kind for seat, kind in entry.seats if seat == role}


def entry_of(meta: EpisodeMeta, path: str, sha256: str) -> CatalogEntry:
    """Builds the entry of an episode."""
    seats = {(role, player["kind"]) for role, player in meta.players.items() if "kind" in player}
    seats |= {(role, who) for role, runs in meta.control.items() for _, who in runs}
    kinds = _current_kinds(str(task["kind"]) for _, task in meta.tasks if "kind" in task)
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


def _current_kinds(kinds: Iterable[str]) -> tuple[str, ...]:
    """The different kinds of tasks, in their order, under their present names."""
    return tuple(dict.fromkeys(RENAMED_TASK_KINDS.get(kind, kind) for kind in kinds))


def insert_entry(database: sqlite3.Connection, entry: CatalogEntry) -> None:
    """Adds one episode to the index tables, or replaces it there."""
    database.execute(
        "INSERT OR REPLACE INTO episodes VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        [*(getattr(entry, column) for column in INDEX_COLUMNS), json.dumps(entry.task_kinds)],
    )
    database.execute("DELETE FROM seats WHERE episode = ?", [entry.id])
    database.executemany("INSERT INTO seats VALUES (?, ?, ?)", [(entry.id, *seat) for seat in entry.seats])


def mark_row(mark: Mark) -> list[Any]:
    """The values of a mark, as the marks table and the journal hold them."""
    return [mark.id, mark.episode, mark.rater, mark.frame, mark.sign, mark.created]


def insert_marks(database: sqlite3.Connection, rows: Iterable[Sequence[Any]]) -> None:
    """Adds marks, as `mark_row` makes them, to the marks table; known ones stay as they are."""
    database.executemany("INSERT OR IGNORE INTO marks VALUES (?, ?, ?, ?, ?, ?, NULL)", rows)


def _entry(row: tuple[Any, ...], seats: tuple[tuple[str, str], ...]) -> CatalogEntry:
    *columns, task_kinds = row
    named = dict(zip(INDEX_COLUMNS, columns, strict=True))
    try:
        return CatalogEntry(**named, task_kinds=_current_kinds(json.loads(task_kinds)), seats=seats)
    except (ValueError, TypeError) as error:
        raise sqlite3.DatabaseError(f"its row of episode {row[0]!r} is wrong") from error


_AMONG = "IN (SELECT value FROM json_each(?))"  # the value is that of `_listed`


def _listed(ids: Collection[str]) -> str:
    """Ids as one value of a query."""
    return json.dumps(list(ids))


def _rated(condition: str = "1") -> str:
    """The query of all pairs of an episode and a rater that watched it, where `condition` holds.

    A rater with a mark has watched the episode, also in stores of versions that recorded no ratings. The condition is
    in both parts, because SQLite does not pass one on the union down to the indices.
    """
    ratings = f"SELECT episode, rater FROM ratings WHERE {condition}"
    return f"{ratings} UNION SELECT episode, rater FROM marks WHERE {condition} AND undone IS NULL"


def insert_ratings(database: sqlite3.Connection, ratings: Iterable[Sequence[Any]]) -> None:
    """Adds (episode, rater, time) to the table of ratings; known ones keep their time."""
    database.executemany("INSERT OR IGNORE INTO ratings VALUES (?, ?, ?)", ratings)


def is_mark_row(row: Sequence[object]) -> bool:
    """Whether these are the values of a mark: id, episode, rater, frame, sign, created."""
    match row:
        case [str(), str(), str(), int(), 1 | -1, int() | float()]:
            return True
    return False


def _mark(row: Sequence[Any]) -> Mark:
    episode, rater, frame, sign, id_, created = row
    if not is_mark_row([id_, episode, rater, frame, sign, created]):
        raise sqlite3.DatabaseError(f"its row of mark {id_!r} is wrong")
    return Mark(episode, rater, frame, sign, id_, created)


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
        require(f"id IN (SELECT episode FROM seats WHERE role = ? AND kind IN ({_placeholders(kinds)}))", role, *kinds)
    for named, negated in ((where.tasks, ""), (where.only_tasks, ""), (where.only_tasks, "NOT ")):
        if named:
            kinds = [*named, *(old for old, new in RENAMED_TASK_KINDS.items() if new in named)]
            among = f"value {negated}IN ({_placeholders(kinds)})"
            require(f"{negated}EXISTS (SELECT 1 FROM json_each(task_kinds) WHERE {among})", *kinds)
    if where.marked is not None:
        require(f"id {'' if where.marked else 'NOT '}IN (SELECT episode FROM marks WHERE undone IS NULL)")
    if where.rated is not None:
        require(f"id {'' if where.rated else 'NOT '}IN (SELECT episode FROM ({_rated()}))")
    return " AND ".join(conditions), values


def _placeholders(values: Collection[object]) -> str:
    return ", ".join("?" for _ in values)


class EpisodeIndex(ABC):
    """The open file of a catalog or of a snapshot: what is read from its tables."""

    @abstractmethod
    def _reading(self) -> AbstractContextManager[sqlite3.Connection]:
        """Context in which damage to the file is reported with its remedy."""

    def _condition(self, where: EpisodeFilter) -> tuple[str, list[object]]:
        """The condition of the episodes that `select` lists, as SQL, and its values."""
        return sql_condition(where)

    def select(self, where: EpisodeFilter) -> list[str]:
        """The ids of the episodes that satisfy `where`, oldest first."""
        condition, values = self._condition(where)
        return [str(row[0]) for row in self._rows(f"SELECT id FROM episodes WHERE {condition} ORDER BY id", values)]

    def entries(self, where: EpisodeFilter | None = None) -> list[CatalogEntry]:
        """The entries of the episodes that satisfy `where`, oldest first."""
        return self._entries(self.select(where or EpisodeFilter()))

    def marks(self, episodes: Collection[str] | None = None, rater: str | None = None) -> list[Mark]:
        """Marks that were not undone, by episode, rater and frame; of these episodes and this rater if given."""
        query = "SELECT episode, rater, frame, sign, id, created FROM marks WHERE undone IS NULL"
        values: list[object] = []
        if rater is not None:
            query, values = query + " AND rater = ?", [rater]
        if episodes is not None:
            query, values = query + f" AND episode {_AMONG}", [*values, _listed(episodes)]
        return [_mark(row) for row in self._rows(query + " ORDER BY episode, rater, frame, id", values)]

    def mark_counts(self) -> dict[str, int]:
        """The number of marks that were not undone, by rater."""
        return dict(self._rows("SELECT rater, count(*) FROM marks WHERE undone IS NULL GROUP BY rater"))

    def raters(self, episodes: Collection[str] | None = None) -> dict[str, tuple[str, ...]]:
        """The raters that watched each episode, sorted, with or without marking it; unrated ones are left out."""
        query, values = _rated(), list[object]()
        if episodes is not None:
            query, values = _rated(f"episode {_AMONG}"), [_listed(episodes)] * 2
        found: dict[str, tuple[str, ...]] = {}
        for episode, rater in self._rows(f"SELECT * FROM ({query}) ORDER BY episode, rater", values):
            found[episode] = (*found.get(episode, ()), rater)
        return found

    def _entries(self, ids: Collection[str]) -> list[CatalogEntry]:
        """The entries of these episodes, in the order of their ids."""
        listed = [_listed(ids)]
        seats: dict[str, list[tuple[str, str]]] = {}
        query = f"SELECT episode, role, kind FROM seats WHERE episode {_AMONG} ORDER BY episode, role, kind"
        for episode, role, kind in self._rows(query, listed):
            seats.setdefault(episode, []).append((role, kind))
        rows = self._rows(f"SELECT * FROM episodes WHERE id {_AMONG} ORDER BY id", listed)
        return [_entry(row, tuple(seats.get(row[0], ()))) for row in rows]

    def _rows(self, query: str, values: Iterable[object] = ()) -> list[Any]:
        with self._reading() as database:
            return database.execute(query, tuple(values)).fetchall()
