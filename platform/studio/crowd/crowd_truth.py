"""Ground truth for synthetic raters, which the pages do not show: the episode of an item, and the tasks in it.

People at the studio see an item without its origin. A synthetic rater needs the true progress, so it looks up the
episode of an item in the files of the run, and of a continuation whether the test of its task held. Requests of
synthetic setters are utterances of people to the studio, which records no task for them; the crowd notes their tasks in
`studio/crowd.jsonl`.
"""

from __future__ import annotations

import sqlite3
import threading
import time
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from interplay.core.files import JsonLines
from interplay.episodes.episode import Episode, EpisodeMeta
from interplay.episodes.store import EpisodeStore
from interplay.studio.judging.continuations import Continuations, RecordedContinuation

ASKED, ENDED = "asked", "ended"


@dataclass(frozen=True)
class ItemTruth:
    """The episode of an item with the tasks that were asked in it, and whether the item shows another request."""

    episode: Episode
    swapped: bool


class CrowdTruth:
    """Reads the ground truth from the files of the run in the folder `root`."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._lock = threading.Lock()
        self._continuations = Continuations(root)
        self._tasks = JsonLines(root / "studio" / "crowd.jsonl", key="time")

    def note(self, episode: str, frame: int, what: str, value: Any) -> None:
        """Notes the task that a synthetic setter ASKED for in the step that starts at `frame`, or how it ENDED it."""
        with self._lock:
            self._tasks.append({"time": time.time(), "episode": episode, "frame": frame, what: value})

    def of_item(self, item: str) -> ItemTruth:
        """The truth about an item. Raises KeyError if the studio has no such item, or the store no such episode."""
        name, kind = self._assigned(item)
        with EpisodeStore(self._root / "store") as store:
            episode = store.read(name)
        return ItemTruth(replace(episode, meta=self._with_tasks(episode.meta)), kind == "swapped")

    def continuation(self, item: str) -> RecordedContinuation:
        """The continuation that an item of judging shows. Raises KeyError if it was deleted."""
        name, _ = self._assigned(item)
        with self._lock:
            return self._continuations.find(name)

    def _assigned(self, item: str) -> tuple[str, str]:
        """The episode and the kind of an item."""
        source = f"file:{self._root / 'studio' / 'studio.db'}?mode=ro"
        with closing(sqlite3.connect(source, uri=True)) as database:
            row = database.execute("SELECT episode, kind FROM assignments WHERE id = ?", (item,)).fetchone()
        if row is None:
            raise KeyError(item)
        episode, kind = row
        return episode, kind

    def _with_tasks(self, meta: EpisodeMeta) -> EpisodeMeta:
        """The metadata with the noted tasks; those that were recorded come first."""
        if meta.tasks:
            return meta
        with self._lock:
            rows = [row for row in self._tasks.read() if row["episode"] == meta.id and row["frame"] < meta.frames]
        tasks = tuple((row["frame"], row[ASKED]) for row in rows if ASKED in row)
        endings = tuple((row["frame"], row[ENDED]) for row in rows if ENDED in row)
        return replace(meta, tasks=tasks, endings=endings)
