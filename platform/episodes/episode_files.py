"""The episode files of a store: how they come into place whole, and how they are found again.

Any process on any host may put files here; the process that owns the catalog then finds them with a reindex.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from interplay.core.files import UNFINISHED, write_whole
from interplay.episodes.encoding import encode
from interplay.episodes.episode import Episode

SUFFIX = ".npz"


@dataclass(frozen=True)
class StoredFile:
    """A file in its place: where, relative to the store's root, and the hash of its bytes."""

    path: str
    sha256: str


class EpisodeFiles:
    """`root`/episodes/<day>/<id>.npz, one immutable file an episode."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def place(self, episode: Episode) -> StoredFile:
        """Writes an episode so that its file is either whole or not there, even after a power cut.

        Raises:
            FileExistsError: an episode of this id is there already: nothing is edited in place.
            ValueError: the arrays and the metadata of the episode disagree.
        """
        data = encode(episode)
        path = self._root / "episodes" / _day(episode.meta.created) / f"{episode.meta.id}{SUFFIX}"
        if path.exists():
            raise FileExistsError(f"{path} exists already; episodes are immutable, give the new one its own id")
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, data)
        return StoredFile(str(path.relative_to(self._root)), hashlib.sha256(data).hexdigest())

    def found(self) -> Iterator[tuple[str, Path]]:
        """Every episode file as (path relative to the root, path)."""
        for path in sorted((self._root / "episodes").glob(f"*/*{SUFFIX}")):
            yield str(path.relative_to(self._root)), path

    def sweep(self, *, older_than: float) -> int:
        """Removes what killed writers left behind, where untouched for `older_than` seconds; returns how many."""
        swept = 0
        for path in (self._root / "episodes").glob(f"*/*{UNFINISHED}"):
            if time.time() - path.stat().st_mtime >= older_than:
                path.unlink()
                swept += 1
        return swept


def _day(created: float) -> str:
    return datetime.fromtimestamp(created, UTC).strftime("%Y%m%d")
