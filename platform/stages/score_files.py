"""The files of `interplay score` in a run's folder `studio`, which deletions change as well."""

from __future__ import annotations

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from interplay.core.files import private_folder

SCORES, MEMORIES = "scores.json", "memories.npz"
LOCK = ".scores.lock"


@contextmanager
def changing_scores(folder: Path) -> Iterator[None]:
    """Keeps other processes and threads from changing the files in `folder` during the block.

    A deletion first removes an episode from the store, then its score; scoring lists the episodes of the store and
    writes their scores within one block. So no score of a deleted episode stays, whichever of both comes first.
    """
    private_folder(folder)
    with (folder / LOCK).open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
