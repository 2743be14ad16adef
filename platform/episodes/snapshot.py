"""A frozen, read-only list of episodes and marks: the training data of a run.

The file never changes once written, so any number of processes on any number of hosts can read it without locks, and
the hash of its bytes identifies the training data exactly.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import logging
import sqlite3
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any
from urllib.parse import quote

from interplay.core.files import write_whole
from interplay.episodes.catalog_index import (
    INDEX_TABLES,
    MARK_TABLE,
    RATING_COLUMNS,
    RATING_TABLE,
    CatalogEntry,
    EpisodeFilter,
    EpisodeIndex,
    check_integrity,
    damage_reported,
    insert_entry,
    insert_marks,
    insert_ratings,
    mark_row,
    players,
)
from interplay.episodes.encoding import DamagedEpisode, UnknownFormat, decode, load_meta, read_bytes
from interplay.episodes.episode import Episode, EpisodeMeta, Mark

log = logging.getLogger(__name__)

SNAPSHOT_VERSION = 1


class Snapshot(EpisodeIndex):
    """An opened snapshot. Its store's root is the folder above `snapshots/`.

    Raises:
        ValueError: there is no such file, or a newer version of the platform wrote it.
        DamagedCatalog: it can't be read; the message says what to do. Any method may raise it.
    """

    def __init__(self, path: Path | str) -> None:
        self.path = Path(path).resolve()
        if not self.path.is_file():
            raise ValueError(f"there is no snapshot {self.path}; EpisodeStore.snapshot(name) makes one")
        self._database = sqlite3.connect(
            f"file:{quote(str(self.path))}?mode=ro&immutable=1", uri=True, check_same_thread=False
        )
        try:
            self._check()
        except BaseException:
            self._database.close()
            raise

    @property
    def root(self) -> Path:
        """The store's folder."""
        return self.path.parent.parent

    @cached_property
    def hash(self) -> str:
        """The sha256 of the file, which identifies the training data."""
        return hashlib.sha256(self.path.read_bytes()).hexdigest()

    @cached_property
    def ids(self) -> tuple[str, ...]:
        """All its episodes, oldest first."""
        return tuple(self.select(EpisodeFilter()))

    def __len__(self) -> int:
        return len(self.ids)

    def composition(self, split: str | None = None) -> dict[str, int]:
        """The number of its episodes of each kind of `players` and round, as "scripted-agent@1", of one split or of
        all."""
        counts = Counter(f"{players(entry)}@{entry.round}" for entry in self.entries(EpisodeFilter(split=split)))
        return dict(sorted(counts.items()))

    def condition(self) -> dict[str, Any]:
        """The filter that its episodes satisfy; also the shares in which they are read (`mix`), if it states any."""
        found: dict[str, Any] = json.loads(self._rows("SELECT condition FROM chosen")[0][0])
        return found

    def read(self, episode: str) -> Episode:
        """Reads an episode by its id and verifies its hash.

        Raises:
            KeyError: the snapshot does not list it.
            DamagedEpisode, UnknownFormat: its file can't be read, or has changed.
        """
        found = self._rows("SELECT path, sha256 FROM episodes WHERE id = ?", [episode])
        if not found:
            raise KeyError(f"snapshot {self.path} does not list episode {episode!r}")
        path = self.root / str(found[0][0])
        data = read_bytes(path)
        if hashlib.sha256(data).hexdigest() != found[0][1]:
            raise DamagedEpisode(
                f"{path} has changed since the snapshot was made (its hash differs); restore it from a copy"
            )
        return decode(data, source=str(path), trusted=True)

    def metas(self, where: EpisodeFilter) -> Iterator[EpisodeMeta]:
        """The metadata of its readable episodes that satisfy `where`, oldest first.

        Arrays are not read, and hashes not verified."""
        condition, values = self._condition(where)
        for (path,) in self._rows(f"SELECT path FROM episodes WHERE {condition} ORDER BY id", values):
            try:
                yield load_meta(self.root / str(path))
            except (DamagedEpisode, UnknownFormat) as error:
                log.warning("skipped: %s", error)

    def close(self) -> None:
        """Closes the file."""
        self._database.close()

    def _check(self) -> None:
        with self._reading() as database:
            version = database.execute("PRAGMA user_version").fetchone()[0]
            if version == SNAPSHOT_VERSION:
                check_integrity(database, self.path, {"episodes", "seats", "marks", "chosen"})
                if not database.execute("SELECT 1 FROM sqlite_master WHERE name = 'ratings'").fetchone():
                    # Of an earlier version: an empty table, in memory.
                    database.execute(f"CREATE TEMP TABLE ratings {RATING_COLUMNS}")
        if version != SNAPSHOT_VERSION:
            raise ValueError(f"{self.path} has format version {version}, this platform reads {SNAPSHOT_VERSION}")

    @contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection]:
        remedy = (
            "restore it from a copy. Or remove it and type the command of its stage again: the same episodes and marks "
            "are frozen again, unless some were added since; then the stage has to be trained again, too"
        )
        with damage_reported(self.path, remedy):
            yield self._database


def freeze(
    path: Path,
    entries: Sequence[CatalogEntry],
    marks: Sequence[Mark],
    raters: Mapping[str, Sequence[str]],
    where: EpisodeFilter,
    mix: Mapping[str, float] | None = None,
) -> None:
    """Writes a snapshot that states `where` and `mix`. Raises FileExistsError if the name is taken.

    Raters without a mark are in a table of their own, without which the file is one of earlier versions.
    """
    if path.exists():
        raise FileExistsError(f"{path} exists already; a snapshot never changes, choose another name")
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as database:
        database.executescript(f"{INDEX_TABLES} {MARK_TABLE} CREATE TABLE chosen (condition TEXT NOT NULL);")
        database.execute("BEGIN")
        database.execute("INSERT INTO chosen VALUES (?)", [_as_json(where, mix or {})])
        for entry in entries:
            insert_entry(database, entry)
        insert_marks(database, map(mark_row, marks))
        silent = {(episode, rater) for episode, each in raters.items() for rater in each}
        silent -= {(mark.episode, mark.rater) for mark in marks}
        if silent:
            database.execute(RATING_TABLE)
            insert_ratings(database, [(*each, 0.0) for each in sorted(silent)])
        database.execute("COMMIT")
        database.execute(f"PRAGMA user_version = {SNAPSHOT_VERSION}")
        write_whole(path, database.serialize())
    path.chmod(0o444)


def _as_json(where: EpisodeFilter, mix: Mapping[str, float]) -> str:
    fields: dict[str, Any] = dataclasses.asdict(where)
    fields["kinds"] = {
        role: [kinds] if isinstance(kinds, str) else sorted(kinds) for role, kinds in where.kinds.items()
    }
    fields["tasks"] = sorted(where.tasks)
    fields["only_tasks"] = sorted(where.only_tasks)
    for added in ("flagged", "only_tasks"):  # snapshots of earlier versions have neither
        if not fields[added]:
            del fields[added]
    return json.dumps(fields | ({"mix": dict(mix)} if mix else {}))
