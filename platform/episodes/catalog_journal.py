"""The journal of a store's catalog: every change of marks, ratings, deletions and flags, in its order.

A lost catalog gets them back from `marks.jsonl`. One line a change: {"time": 1763900000.0, "change": "mark", "marks":
[[id, episode, rater, frame, sign, created], ...]}; "rate" with "ratings": [[episode, rater], ...]; "undo" with "mark";
"delete" and "restore" with "episode"; "flag" and "unflag" with "episode" and "reason"; "purge" with "episodes"; and
"crc32", a checksum of the rest. Applying a change twice is the same as applying it once.
"""

from __future__ import annotations

import json
import sqlite3
import zlib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from interplay.core.files import JsonLines, sync, write_whole
from interplay.episodes.catalog_index import insert_marks, insert_ratings, is_mark_row

JOURNAL = "marks.jsonl"
Change = Mapping[str, Any]


class CatalogJournal:
    """Appends to `path`; a change is on disk when `append` returns."""

    def __init__(self, path: Path) -> None:
        self._lines = JsonLines(path, key="time")
        self.path = path

    def exists(self) -> bool:
        """Whether any change has been journaled."""
        return self.path.exists()

    def append(self, change: Change) -> None:
        """Writes one change."""
        new = not self.exists()
        self._lines.append(_sealed(change))
        sync(self.path)
        if new:
            sync(self.path.parent)

    def size(self) -> int:
        """Bytes of its complete lines; 0 before the first change, and for a folder in its place, as in `read`."""
        return self._lines.length() if self.path.is_file() else 0

    def read(self, start: int = 0) -> tuple[list[Change], int]:
        """The changes that can be read from byte `start` on, and the number of lines that can't."""
        try:
            rows, damaged = self._lines.readable(start)
        except OSError:  # a folder, for example
            return [], 1
        sound: list[Change] = [row for row in rows if row == _sealed(row)]
        return sound, damaged + len(rows) - len(sound)

    def replace(self, changes: Iterable[Change]) -> None:
        """Replaces the journal by these changes."""
        write_whole(self.path, "".join(json.dumps(_sealed(change)) + "\n" for change in changes))


def apply_change(database: sqlite3.Connection, change: Change) -> None:
    """Carries out one change in the tables `marks`, `ratings` and `deleted`."""
    when = change["time"]
    match change["change"]:
        case "mark":
            insert_marks(database, change["marks"])
        case "rate":
            insert_ratings(database, [(episode, rater, when) for episode, rater in change["ratings"]])
        case "undo":
            database.execute("UPDATE marks SET undone = coalesce(undone, ?) WHERE id = ?", [when, change["mark"]])
        case "delete":
            database.execute("INSERT OR IGNORE INTO deleted VALUES (?, ?, NULL)", [change["episode"], when])
        case "restore":
            database.execute("DELETE FROM deleted WHERE episode = ? AND purged IS NULL", [change["episode"]])
        case "flag":
            values = [change["episode"], change["reason"], when]
            database.execute("INSERT OR REPLACE INTO flags VALUES (?, ?, ?)", values)
        case "unflag":
            database.execute("DELETE FROM flags WHERE episode = ?", [change["episode"]])
        case _:  # "purge"
            rows = [(when, episode) for episode in change["episodes"]]
            database.executemany("UPDATE deleted SET purged = coalesce(purged, ?) WHERE episode = ?", rows)


def changes_of(database: sqlite3.Connection) -> list[Change]:
    """The changes that lead from an empty catalog to these tables."""
    return [
        *mark_changes(database.execute("SELECT * FROM marks")),
        *rating_changes(database.execute("SELECT * FROM ratings ORDER BY at")),
        *deletion_changes(database.execute("SELECT * FROM deleted")),
        *flag_changes(database.execute("SELECT * FROM flags")),
    ]


def mark_changes(rows: Iterable[tuple[Any, ...]]) -> list[Change]:
    """The changes that lead to these rows of the table `marks`; invalid rows are left out."""
    changes: list[Change] = []
    for *mark, undone in rows:
        if not is_mark_row(mark):
            continue
        changes.append({"time": mark[-1], "change": "mark", "marks": [mark]})
        if undone is not None:
            changes.append({"time": undone, "change": "undo", "mark": mark[0]})
    return changes


def rating_changes(rows: Iterable[tuple[Any, ...]]) -> list[Change]:
    """The changes that lead to these rows of the table `ratings`, one for each time; invalid rows are left out."""
    by_time: dict[float, list[list[str]]] = {}
    for episode, rater, when in rows:
        if isinstance(episode, str) and isinstance(rater, str) and isinstance(when, int | float):
            by_time.setdefault(when, []).append([episode, rater])
    return [{"time": when, "change": "rate", "ratings": ratings} for when, ratings in by_time.items()]


def deletion_changes(rows: Iterable[tuple[Any, ...]]) -> list[Change]:
    """The changes that lead to these rows of the table `deleted`; a row without an episode is left out."""
    changes: list[Change] = []
    for episode, when, purged in rows:
        if not isinstance(episode, str):
            continue
        changes.append({"time": when, "change": "delete", "episode": episode})
        if purged is not None:
            changes.append({"time": purged, "change": "purge", "episodes": [episode]})
    return changes


def flag_changes(rows: Iterable[tuple[Any, ...]]) -> list[Change]:
    """The changes that lead to these rows of the table `flags`; a row without an episode is left out."""
    return [
        {"time": when, "change": "flag", "episode": episode, "reason": str(reason)}
        for episode, reason, when in rows
        if isinstance(episode, str)
    ]


def _sealed(change: Change) -> Change:
    """The change with a checksum of its other fields."""
    fields = {name: value for name, value in change.items() if name != "crc32"}
    return {**fields, "crc32": zlib.crc32(json.dumps(fields, sort_keys=True).encode())}
