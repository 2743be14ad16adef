"""The episode store: a folder of ordinary files.

    store/episodes/20261121/<id>.npz    one immutable file per episode
    store/catalogue.db                  search, marks, ratings (which rater watched what), deletions
    store/marks.jsonl                   every change of marks, ratings and deletions once more, to rebuild the catalog
    store/snapshots/<name>.db           a frozen list of episodes and marks, for one training run

An episode is safe once `append` returns. A process killed during an append loses at most that episode, and `reindex`
corrects the catalog. Files can be read while others are appended.

Any process on any host may add episode files; the process that owns the catalog indexes them with
`EpisodeStore.reindex`.
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from fnmatch import fnmatchcase
from pathlib import Path
from typing import NamedTuple, Self

from interplay.core.files import TEMPORARY_SUFFIX, check_links, remove_leftovers, write_whole
from interplay.episodes.catalog_index import CatalogEntry, EpisodeFilter, entry_of, mark_row
from interplay.episodes.catalog_journal import JOURNAL
from interplay.episodes.encoding import DamagedEpisode, UnknownFormat, decode, encode, load, load_meta, read_bytes
from interplay.episodes.episode import Episode, EpisodeMeta, Mark
from interplay.episodes.episode_catalog import CATALOG, EpisodeCatalog
from interplay.episodes.snapshot import Snapshot, freeze

EPISODE_SUFFIX = ".npz"


class EpisodeFiles:
    """`root`/episodes/<day>/<id>.npz, one immutable file per episode."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def place(self, episode: Episode) -> CatalogEntry:
        """Writes an episode atomically: after a power cut, its file is complete or absent. Returns its catalog entry.

        Raises:
            FileExistsError: an episode with this id exists; files are never changed.
            ValueError: the arrays and the metadata of the episode disagree.
        """
        data = encode(episode)
        day = datetime.fromtimestamp(episode.meta.created, UTC).strftime("%Y%m%d")
        path = self._root / "episodes" / day / f"{episode.meta.id}{EPISODE_SUFFIX}"
        if path.exists():
            raise FileExistsError(f"{path} exists already; episodes are immutable, give the new one its own id")
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, data, is_new=True)
        return self._entry(path, data, episode.meta)

    def found(self) -> Iterator[tuple[str, Path]]:
        """Every episode file as (path relative to the root, path)."""
        for path in sorted((self._root / "episodes").glob(f"*/*{EPISODE_SUFFIX}")):
            yield str(path.relative_to(self._root)), path

    def entry(self, path: Path) -> CatalogEntry:
        """The catalog entry of a file, whose episode is checked. Raises DamagedEpisode or UnknownFormat."""
        data = read_bytes(path)
        return self._entry(path, data, decode(data, source=str(path)).meta)

    def sweep(self) -> int:
        """Removes the temporary files of killed writers; returns their number."""
        return remove_leftovers((self._root / "episodes").glob(f"*/*{TEMPORARY_SUFFIX}"))

    def _entry(self, path: Path, data: bytes, meta: EpisodeMeta) -> CatalogEntry:
        return entry_of(meta, str(path.relative_to(self._root)), hashlib.sha256(data).hexdigest())


log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Reindexed:
    """The result of a reindex: ids added, ids without a file, unreadable files, temporary files removed."""

    added: tuple[str, ...]
    missing: tuple[str, ...]
    unreadable: tuple[str, ...]
    swept: int


class Held(NamedTuple):
    """What a store held at an earlier time."""

    episodes: Collection[str]
    marks: Collection[str]
    ratings: Collection[tuple[str, str]]  # (episode, rater)


def is_named(rater: str, patterns: Collection[str]) -> bool:
    """Whether one of the patterns fits; without patterns, all raters are named."""
    return not patterns or any(fnmatchcase(rater, pattern) for pattern in patterns)


class EpisodeStore(EpisodeCatalog):
    """The open store: its catalog and its files. Other processes of the same host may have it open, too.

    `create` makes a store that does not exist yet.

    Raises:
        ValueError: there is no store in `root`, or it can't be made, or a newer version of the platform wrote it.
        DamagedCatalog: its catalog can't be read; the message says what to type. Any method may raise it.
    """

    def __init__(self, root: Path | str, *, create: bool = False) -> None:
        self.root = Path(root)
        if not create:
            self._refuse_missing()
        try:
            (self.root / "episodes").mkdir(parents=True, exist_ok=True)
            (self.root / "snapshots").mkdir(exist_ok=True)
        except OSError as error:
            check_links(Path(error.filename))
            raise ValueError(f"the store {self.root} can't be made ({error.strerror}: {error.filename})") from error
        self._files = EpisodeFiles(self.root)
        super().__init__(self.root)

    def _refuse_missing(self) -> None:
        """Refuses a folder that is not a store: a mistyped path must not become an empty store."""
        if any((self.root / part).exists() for part in ("episodes", CATALOG, JOURNAL)):
            return
        check_links(self.root / "episodes")
        store = self.root / "store"
        hint = f"; its store is {store}" if (store / "episodes").is_dir() else ", as runs/demo/store"
        raise ValueError(
            f"{self.root} is not an episode store: it has no folder episodes. Give the store of a run that has "
            f"recordings{hint}. To make a new one: EpisodeStore(path, create=True)"
        )

    def append(self, episode: Episode) -> None:
        """Stores an episode. Raises as `EpisodeFiles.place` does."""
        self.put([self._files.place(episode)])

    def read(self, episode: str) -> Episode:
        """An episode by its id.

        Raises:
            UnknownEpisode: the store has no episode of this id.
            DamagedEpisode, UnknownFormat: its file cannot be read.
        """
        return load(self.root / self.path(episode))

    def meta(self, episode: str) -> EpisodeMeta:
        """The metadata of an episode, without its arrays. Raises as `read` does."""
        return load_meta(self.root / self.path(episode))

    def intact_metas(self) -> Iterator[EpisodeMeta]:
        """Yields the metadata of the listed episodes whose files can be read as a whole, and logs the others.

        A file with the hash of its catalog entry is not decoded.
        """
        for entry in self.entries(EpisodeFilter()):
            path = self.root / entry.path
            try:
                data = read_bytes(path)
                same = hashlib.sha256(data).hexdigest() == entry.sha256
                yield load_meta(path, data) if same else decode(data, source=str(path)).meta
            except (DamagedEpisode, UnknownFormat) as error:
                log.warning("skipped: %s", error)

    def ids(
        self,
        *,
        split: str | None = None,
        round: int | None = None,  # noqa: A002 - the word for a round of the pipeline everywhere
        world: str | None = None,
        kinds: Mapping[str, Collection[str]] | None = None,
        tasks: Collection[str] = (),
        marked: bool | None = None,
    ) -> list[str]:
        """The ids of the episodes that satisfy every condition given, oldest first; see `EpisodeFilter`."""
        return self.select(EpisodeFilter(split, round, None, world, kinds or {}, tasks, marked=marked))

    def take_in(self, path: Path) -> str:
        """Lists an episode whose file another process placed with `EpisodeFiles`; returns its id.

        Raises:
            DamagedEpisode, UnknownFormat: the file cannot be read.
        """
        entry = self._files.entry(path)
        self.put([entry])
        return entry.id

    def flag(self, episode: str, reason: str) -> None:
        """Keeps an episode out of lists and later snapshots, unless their filter asks for flagged ones.

        Raises UnknownEpisode if the store has no such episode.
        """
        self.path(episode)
        self.change({"change": "flag", "episode": episode, "reason": reason})

    def unflag(self, episode: str) -> None:
        """Removes the flag of an episode."""
        self.change({"change": "unflag", "episode": episode})

    def delete(self, episode: str) -> None:
        """Hides an episode from all lists and later snapshots, also after a reindex; `purge` removes its file."""
        self.path(episode)  # an unknown id is an error
        self.change({"change": "delete", "episode": episode})

    def restore(self, episode: str) -> None:
        """Restores a deleted episode, unless it has been purged."""
        self.change({"change": "restore", "episode": episode})

    def purge(self) -> list[str]:
        """Removes the files of all deleted episodes, even if snapshots list them; returns their ids."""
        doomed = [str(row[0]) for row in self._rows("SELECT episode FROM deleted WHERE purged IS NULL")]
        paths = self.paths()
        for episode in doomed:
            if episode in paths:
                (self.root / paths[episode]).unlink(missing_ok=True)
        self.change({"change": "purge", "episodes": doomed})
        self.drop(doomed)
        return doomed

    def reindex(self) -> Reindexed:
        """Updates the index to match the files, including those of killed writers and of other processes."""
        swept = self._files.sweep()
        known = {path: episode for episode, path in self.paths().items()}
        entries: list[CatalogEntry] = []
        unreadable: list[str] = []
        for relative, path in self._files.found():
            if known.pop(relative, None) is not None:
                continue
            try:
                entries.append(self._files.entry(path))
            except (DamagedEpisode, UnknownFormat) as error:
                log.warning("left out of the catalog: %s", error)
                unreadable.append(relative)
        self.put(entries)
        self.drop(list(known.values()))
        return Reindexed(tuple(e.id for e in entries), tuple(known.values()), tuple(unreadable), swept)

    def add_marks(self, marks: Sequence[Mark]) -> None:
        """Stores marks; an existing mark of the same id is left unchanged.

        Raises:
            UnknownEpisode: the store has no such episode.
            DamagedEpisode, UnknownFormat: its file cannot be read.
            ValueError: a mark lies outside of its episode; none is stored.
        """
        frames = {episode: self.meta(episode).frames for episode in {mark.episode for mark in marks}}
        for mark in marks:
            if not 0 <= mark.frame < frames[mark.episode]:
                raise ValueError(
                    f"a mark of {mark.rater} is at frame {mark.frame}; episode {mark.episode} has the frames 0 to "
                    f"{frames[mark.episode] - 1}, and step n ends at frame (n + 1) * meta.frames_per_step - 1"
                )
        self.change({"change": "mark", "marks": [mark_row(mark) for mark in marks]})

    def add_ratings(self, ratings: Sequence[tuple[str, str]]) -> None:
        """Records which rater watched which episode, (episode, rater), also if it set no mark.

        Raises UnknownEpisode if the store has no such episode.
        """
        for episode in {episode for episode, _ in ratings}:
            self.path(episode)
        if ratings:
            self.change({"change": "rate", "ratings": [list(each) for each in ratings]})

    def undo(self, mark: str) -> None:
        """Hides a mark; existing snapshots keep it. Raises KeyError for an unknown id."""
        if not self._rows("SELECT 1 FROM marks WHERE id = ?", [mark]):
            raise KeyError(f"there is no mark {mark!r} to undo")
        self.change({"change": "undo", "mark": mark})

    def erase_marks(self, rater: str) -> list[str]:
        """Deletes every mark and rating of a rater for good, from the catalog and its journal.

        Returns the names of the snapshots that still hold the rater: snapshots never change. One that can't be read
        counts as one that does.
        """
        self.wipe_marks(rater)

        def holds(snapshot: Snapshot) -> bool:
            return any(rater in names for names in snapshot.raters().values()) or bool(snapshot.marks(rater=rater))

        return self._snapshots_that(holds)

    def snapshots_with(self, episodes: Collection[str]) -> list[str]:
        """The names of the snapshots that contain one of these episodes, or can't be read."""
        return self._snapshots_that(lambda snapshot: not set(snapshot.ids).isdisjoint(episodes))

    def _snapshots_that(self, holds: Callable[[Snapshot], bool]) -> list[str]:
        names = []
        for path in sorted((self.root / "snapshots").glob("*.db")):
            try:
                with closing(Snapshot(path)) as snapshot:
                    held = holds(snapshot)
            except ValueError as error:  # damaged, or of a newer version
                log.warning("it is unknown what a snapshot holds: %s", error)
                held = True
            if held:
                names.append(path.stem)
        return names

    def snapshot(
        self,
        name: str,
        where: EpisodeFilter | None = None,
        mix: Mapping[str, float] | None = None,
        raters: Collection[str] = (),
        keep: Callable[[CatalogEntry], bool] | None = None,
        held: Held | None = None,
        always: Collection[str] = (),
    ) -> Snapshot:
        """Freezes the episodes that satisfy `where`, with their marks, as snapshots/<name>.db, which also states `mix`.

        With `raters`, names or patterns as "p-*", only their marks are taken, and of marked episodes only theirs. With
        `keep`, only the episodes for which it is true. With `held`, only episodes, marks and ratings in it; those of
        the raters `always` count whenever they were made.

        Raises:
            FileExistsError: a snapshot of this name exists; snapshots never change.
        """
        chosen = where or EpisodeFilter()
        entries, marks, watched = self.selection(chosen, raters, keep, held, always)
        path = self.root / "snapshots" / f"{name}.db"
        freeze(path, entries, marks, watched, chosen, mix)
        return Snapshot(path)

    def selection(
        self,
        where: EpisodeFilter,
        raters: Collection[str] = (),
        keep: Callable[[CatalogEntry], bool] | None = None,
        held: Held | None = None,
        always: Collection[str] = (),
    ) -> tuple[list[CatalogEntry], list[Mark], dict[str, tuple[str, ...]]]:
        """What `snapshot` freezes: the episodes, their marks, and by episode the raters that watched it."""
        entries = [entry for entry in self.entries(where) if keep is None or keep(entry)]
        if held is not None:
            entries = [entry for entry in entries if entry.id in held.episodes]
        ids = [entry.id for entry in entries]
        marks = [mark for mark in self.marks(ids) if is_named(mark.rater, raters)]
        if held is not None:
            marks = [mark for mark in marks if mark.id in held.marks or mark.rater in always]
        rated = {(mark.episode, mark.rater) for mark in marks}
        rated.update(held.ratings if held is not None else self._rows("SELECT episode, rater FROM ratings"))
        watched = {
            episode: tuple(
                rater for rater in names if is_named(rater, raters) and ((episode, rater) in rated or rater in always)
            )
            for episode, names in self.raters(ids).items()
        }
        if where.marked or where.rated:
            kept = {mark.episode for mark in marks} if where.marked else {e for e, names in watched.items() if names}
            entries = [entry for entry in entries if entry.id in kept]
        return entries, marks, watched

    def held_at(self, time: float) -> Held:
        """What the store held at a time, in seconds since 1970, by the clocks that recorded and marked."""
        return Held(
            {entry.id for entry in self.entries(EpisodeFilter(flagged=True)) if entry.created <= time},
            {mark.id for mark in self.marks() if mark.created <= time},
            set(self._rows("SELECT episode, rater FROM ratings WHERE at <= ?", [time])),
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()
