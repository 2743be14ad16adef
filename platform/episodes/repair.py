"""Rebuilds the catalog of a store from the episode files, the journal, and what a damaged catalog still yields."""

from __future__ import annotations

import logging
import shutil
import sqlite3
import tempfile
import time
from collections.abc import Collection, Iterator
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from interplay.core.counted import counted
from interplay.core.files import check_links
from interplay.episodes.catalog_index import DamagedCatalog
from interplay.episodes.catalog_journal import (
    JOURNAL,
    CatalogJournal,
    Change,
    deletion_changes,
    flag_changes,
    mark_changes,
    rating_changes,
)
from interplay.episodes.encoding import DamagedEpisode, UnknownFormat, load_meta
from interplay.episodes.episode_catalog import CATALOG, EpisodeCatalog
from interplay.episodes.store import EpisodeStore, Reindexed

log = logging.getLogger(__name__)

CATALOG_FILES = (CATALOG, f"{CATALOG}-wal", f"{CATALOG}-shm")


@dataclass(frozen=True)
class Repair:
    """What a repair found."""

    index: Reindexed
    damaged_episodes: tuple[str, ...]  # what is wrong with the files of listed episodes
    episodes: int  # in the catalog now
    marks: int  # in the catalog now, undone ones aside
    salvaged: int  # marks that only the damaged catalog still had
    journaled: bool  # there was a journal
    damaged_lines: int  # of the journal
    moved: Path | None  # the folder that the damaged files were moved to; None if nothing was damaged

    def sentences(self) -> list[str]:
        """The findings, for a terminal."""
        lines = [f"The catalog lists {counted(self.episodes, 'episode')} and {counted(self.marks, 'mark')}."]
        added, missing = len(self.index.added), len(self.index.missing)
        lines += [f"Files of episodes that were not listed, and are now: {added:,}."] * bool(added)
        lines += [f"Listed episodes without a file, which are left out now: {missing:,}."] * bool(missing)
        lines += [f"Can't be read, left out: {path}" for path in self.index.unreadable]
        lines += [f"Listed, but {problem}" for problem in self.damaged_episodes]
        if self.moved is not None:
            lines.append(f"The damaged files are kept in {self.moved}.")
            lines.append(f"{counted(self.salvaged, 'mark')} came from the damaged catalog, the others from {JOURNAL}.")
        if self.moved is not None and not self.journaled:
            lines.append(f"There was no {JOURNAL}: marks and deletions that could not be read there are lost.")
        if self.damaged_lines:
            lines.append(
                f"{self.damaged_lines:,} lines of {JOURNAL} could not be read; what they alone recorded is lost."
            )
        return lines


def repair(root: Path) -> Repair:
    """Updates the catalog of a store from its episode files and its journal; a damaged catalog is rebuilt.

    Damaged files are moved into `damaged/`, never removed.

    Raises:
        ValueError: there is no store, or it is a link to a missing folder, or a newer version wrote its catalog.
    """
    if not (root / "episodes").is_dir():
        check_links(root / "episodes")
        raise ValueError(
            f"{root} is not an episode store: it has no folder episodes; name a run that has recordings with "
            "run.name=NAME and, if it is not in runs/, run.dir=FOLDER"
        )
    moved = root / "damaged" / time.strftime("%Y%m%d-%H%M%S", time.gmtime())
    journal = CatalogJournal(root / JOURNAL)
    journaled = journal.exists()
    changes, damaged_lines = journal.read()
    marks, deletions = _salvaged(root, moved)
    if damaged_lines:
        _move(root / JOURNAL, moved)
    trusted = journaled and not damaged_lines
    with closing(EpisodeCatalog(root, rebuild=True)) as catalog:
        catalog.replay([*changes, *([] if trusted else deletions)])
        before = catalog.count_marks()
        catalog.replay(marks)
        salvaged = catalog.count_marks() - before
        catalog.rewrite_journal()
    with EpisodeStore(root) as store:
        index = store.reindex()
        return Repair(
            index=index,
            damaged_episodes=tuple(_damaged_episodes(store, set(index.added))),
            episodes=len(store),
            marks=len(store.marks()),
            salvaged=salvaged,
            journaled=journaled,
            damaged_lines=damaged_lines,
            moved=moved if moved.exists() else None,
        )


def _damaged_episodes(store: EpisodeStore, just_read: Collection[str]) -> Iterator[str]:
    """What is wrong with the files of listed episodes, as far as their metadata show it."""
    paths = [path for episode, path in store.paths().items() if episode not in just_read]
    log.info("reading the metadata of %s listed episodes", f"{len(paths):,}")  # some 0.6 ms each
    for path in paths:
        try:
            load_meta(store.root / path)
        except (DamagedEpisode, UnknownFormat) as error:
            yield str(error)


def _salvaged(root: Path, moved: Path) -> tuple[list[Change], list[Change]]:
    """Moves a damaged catalog aside; returns the marks, and the deletions and flags, that it still yields."""
    try:
        EpisodeCatalog(root, rebuild=True).close()
    except DamagedCatalog:
        for name in CATALOG_FILES:
            _move(root / name, moved)
    else:
        return [], []
    if not (moved / CATALOG).is_file():
        return [], []
    with tempfile.TemporaryDirectory() as folder:  # read a copy: SQLite writes to the files that it opens
        for file in moved.iterdir():
            if file.is_file():
                shutil.copy(file, folder)
        with closing(sqlite3.connect(Path(folder) / CATALOG)) as database:
            database.text_factory = lambda text: text.decode(errors="replace")
            marks = _yielded(database, "marks", "id", "id, episode, rater, frame, sign, created, undone")
            ratings = _yielded(database, "ratings", "episode, rater", "episode, rater, at")
            deletions = _yielded(database, "deleted", "episode", "episode, at, purged")
            flags = _yielded(database, "flags", "episode", "episode, reason, at")
    return [*mark_changes(marks), *rating_changes(ratings)], [*deletion_changes(deletions), *flag_changes(flags)]


def _yielded(database: sqlite3.Connection, table: str, key: str, columns: str) -> list[tuple[Any, ...]]:
    """The rows of a table that can be read before the first damage, from its start and from its end."""
    found: dict[Any, tuple[Any, ...]] = {}
    ordered, keys = ", ".join(f"{name} {{0}}" for name in key.split(", ")), key.count(",") + 1
    for order in ("ASC", "DESC"):
        with suppress(sqlite3.DatabaseError, UnicodeDecodeError):
            for row in database.execute(f"SELECT {columns} FROM {table} ORDER BY {ordered.format(order)}"):
                found[row[:keys]] = row
    return list(found.values())


def _move(path: Path, to: Path) -> None:
    if path.exists():
        to.mkdir(parents=True, exist_ok=True)
        path.rename(to / path.name)
