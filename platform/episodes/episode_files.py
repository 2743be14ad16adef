"""The episode files of a store.

Any process on any host may add files; the process that owns the catalog indexes them with `EpisodeStore.reindex`.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from interplay.core.files import TEMPORARY_SUFFIX, write_whole
from interplay.episodes.encoding import encode
from interplay.episodes.episode import Episode

EPISODE_SUFFIX = ".npz"


@dataclass(frozen=True)
class StoredFile:
    """A stored file: its path relative to the root of the store, and the hash of its bytes."""

    path: str
    sha256: str


class EpisodeFiles:
    """`root`/episodes/<day>/<id>.npz, one immutable file per episode."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def place(self, episode: Episode) -> StoredFile:
        """Writes an episode atomically: after a power cut, its file is complete or absent.

        Raises:
            FileExistsError: an episode with this id exists; files are never changed.
            ValueError: the arrays and the metadata of the episode disagree.
        """
        data = encode(episode)
        path = self._root / "episodes" / _day(episode.meta.created) / f"{episode.meta.id}{EPISODE_SUFFIX}"
        if path.exists():
            raise FileExistsError(f"{path} exists already; episodes are immutable, give the new one its own id")
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, data)
        return StoredFile(str(path.relative_to(self._root)), hashlib.sha256(data).hexdigest())

    def found(self) -> Iterator[tuple[str, Path]]:
        """Every episode file as (path relative to the root, path)."""
        for path in sorted((self._root / "episodes").glob(f"*/*{EPISODE_SUFFIX}")):
            yield str(path.relative_to(self._root)), path

    def sweep(self, *, older_than: float) -> int:
        """Removes temporary files of killed writers, untouched for `older_than` seconds; returns their number."""
        swept = 0
        for path in (self._root / "episodes").glob(f"*/*{TEMPORARY_SUFFIX}"):
            if time.time() - path.stat().st_mtime >= older_than:
                path.unlink()
                swept += 1
        return swept


def _day(created: float) -> str:
    return datetime.fromtimestamp(created, UTC).strftime("%Y%m%d")
