"""Where marks of people go: those of ordinary items into the run's store, all of them with how they were set."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from interplay.episodes.episode import EpisodeMeta, Mark
from interplay.episodes.store import EpisodeStore
from interplay.studio.marks.assignment import KEPT_IN_STORE, Assignment
from interplay.studio.people.studio_database import StudioDatabase

ON_UTTERANCE = "SELECT mark FROM shown WHERE assignment = ? AND utterance = ? AND undone IS NULL"


class RefusedMark(ValueError):
    """The mark does not fit its episode, its id is taken by another mark, or its item has been finished."""


@dataclass(frozen=True)
class PlacedMark:
    """A mark as a rater sees it: at the frame that was on screen, or on what the solver said."""

    id: str
    shown: int
    sign: int
    utterance: int | None  # number of the utterance in the episode; None: a mark of the moment


class MarkKeeper:
    """Adds and undoes marks. A mark is safe once a method returns; adding it again changes nothing.

    An utterance has one mark: the one that arrived last, also where two tabs or browsers of a rater send different
    ones.
    """

    def __init__(self, database: StudioDatabase, store: EpisodeStore) -> None:
        self._database = database
        self._store = store
        self._adding = threading.Lock()  # of two marks at a time, each would replace the other one, or neither would

    def add(self, given: Assignment, meta: EpisodeMeta, mark: PlacedMark, details: Mapping[str, Any]) -> None:
        """Keeps a mark with the details of how it was set. One on an utterance replaces the earlier mark on it.

        Raises:
            RefusedMark: the mark can't be kept; the message states why.
        """
        with self._adding:
            self._add(given, meta, mark, details)

    def _add(self, given: Assignment, meta: EpisodeMeta, mark: PlacedMark, details: Mapping[str, Any]) -> None:
        frame = stored_frame(meta, mark)
        earlier = self._database.rows("SELECT assignment, frame, sign FROM shown WHERE mark = ?", mark.id)
        if earlier:
            if tuple(earlier[0]) != (given.id, mark.shown, mark.sign):
                raise RefusedMark("the id of this mark belongs to another one")
            return
        _refuse_finished(given)
        if given.kind in KEPT_IN_STORE:
            self._store.add_marks([Mark(given.episode, given.person, frame, mark.sign, id=mark.id)])
            kept = {kept.id for kept in self._store.marks([given.episode], given.person)}
            if mark.id not in kept:  # the store leaves an existing mark of the same id unchanged
                raise RefusedMark("the id of this mark belongs to another one")
        for replaced in self._database.rows(ON_UTTERANCE, given.id, mark.utterance):
            self._hide(given, replaced["mark"])
        placed = {"mark": mark.id, "frame": mark.shown, "sign": mark.sign, "utterance": mark.utterance}
        how = {"details": json.dumps(dict(details)), "at": time.time()}
        self._database.insert("shown", assignment=given.id, **placed, **how)

    def undo(self, given: Assignment, mark: str) -> None:
        """Hides a mark of this assignment.

        Raises:
            KeyError: it has no such mark.
            RefusedMark: it has been finished.
        """
        rows = self._database.rows("SELECT undone FROM shown WHERE assignment = ? AND mark = ?", given.id, mark)
        if not rows:
            raise KeyError(f"there is no mark {mark!r} to undo")
        if rows[0]["undone"] is None:
            _refuse_finished(given)
            self._hide(given, mark)

    def marks(self, given: Assignment) -> list[PlacedMark]:
        """The marks of an assignment that were not undone, in the order of their frames."""
        rows = self._database.rows(
            "SELECT mark, frame, sign, utterance FROM shown WHERE assignment = ? AND undone IS NULL ORDER BY frame, at",
            given.id,
        )
        return [PlacedMark(row["mark"], row["frame"], row["sign"], row["utterance"]) for row in rows]

    def _hide(self, given: Assignment, mark: str) -> None:
        if given.kind in KEPT_IN_STORE:
            self._store.undo(mark)
        self._database.write(
            "UPDATE shown SET undone = ? WHERE assignment = ? AND mark = ?", time.time(), given.id, mark
        )


def _refuse_finished(given: Assignment) -> None:
    """Refuses a change of an item that its rater has finished, as from another tab: its checks have been graded."""
    if given.state == "finished":
        raise RefusedMark("you have finished this recording; its marks stay as they are")


def stored_frame(meta: EpisodeMeta, mark: PlacedMark) -> int:
    """The frame at which a mark is stored: that before the one on screen, so that it lies at the first row showing it.

    A mark on an utterance lies at the first row in which it is heard, whatever is on screen.

    Raises:
        RefusedMark: there is no such frame or utterance of the solver.
    """
    if not 0 <= mark.shown <= meta.frames:
        raise RefusedMark(f"the recording has frames 0 to {meta.frames}, got {mark.shown}")
    if mark.utterance is None:
        return max(mark.shown - 1, 0)
    if not 0 <= mark.utterance < len(meta.utterances):
        raise RefusedMark(f"the recording has {len(meta.utterances)} utterances, got number {mark.utterance}")
    spoken = meta.utterances[mark.utterance]
    return min(spoken.frame + meta.frames_per_step, meta.frames) - 1
