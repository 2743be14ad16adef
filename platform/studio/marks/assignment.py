"""Assignments: which recording a person was given to mark or to judge, why, and how it ended."""

from __future__ import annotations

import secrets
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from interplay.studio.people.studio_database import StudioDatabase
from interplay.studio.studies.study import Study

LEASE_SECONDS = 2 * 3600.0  # after which another person may be given the episode; marks stay

# `mark`: an ordinary item. `gold`: one with adjudicated marks. `swapped`: with another request. `qualify`: a gold of
# the qualification. `practice`: one whose answers are shown. `judge`: a continuation of an agent.
ItemKind = Literal["mark", "gold", "swapped", "qualify", "practice", "judge"]
KEPT_IN_STORE = ("mark", "gold")  # kinds whose marks train the reward model
TESTS = ("practice", "qualify")  # kinds that come before the first ordinary item


@dataclass(frozen=True)
class Choice:
    """The episode that a person is to be given: by which rule, and its score under it.

    `probability` is that of the episode among all items of its kind in this draw. It is exact except for `swapped`: one
    over the number of episodes that are still wanted, whether or not their requests can be exchanged.
    """

    episode: str
    kind: ItemKind
    rule: str
    probability: float
    score: float | None = None
    request: str | None = None  # of a swapped item: the request that is shown


@dataclass(frozen=True)
class Assignment:
    """A choice that was given to a person. `id` is all that the browser sees of it."""

    id: str
    study: str
    version: int
    person: str
    episode: str
    kind: ItemKind
    request: str | None
    state: str  # open, finished, skipped, unusable
    created: float
    ended: float | None

    @property
    def counts(self) -> bool:
        """Whether it counts as a finished recording of its person; those of the qualification do not."""
        return self.state == "finished" and self.kind not in TESTS


class Assignments:
    """The assignments of `studio.db`."""

    def __init__(self, database: StudioDatabase) -> None:
        self._database = database

    def give(self, person: str, study: str, version: int, choice: Choice) -> Assignment:
        """Gives a person an item."""
        name, now = secrets.token_hex(8), time.time()
        to = {"id": name, "study": study, "version": version, "person": person, "state": "open"}
        self._database.insert("assignments", **to, **vars(choice), created=now, expires=now + LEASE_SECONDS)
        return Assignment(name, study, version, person, choice.episode, choice.kind, choice.request, "open", now, None)

    def find(self, name: str, person: str) -> Assignment | None:
        """An assignment of this person."""
        rows = self._database.rows("SELECT * FROM assignments WHERE id = ? AND person = ?", name, person)
        return _assignment(rows[0]) if rows else None

    def open_one(self, person: str, study: str) -> Assignment | None:
        """The assignment that the person has not ended yet, if any; its lease begins again."""
        rows = self._database.rows(
            "SELECT * FROM assignments WHERE person = ? AND study = ? AND state = 'open' ORDER BY created",
            person,
            study,
        )
        if not rows:
            return None
        self._database.write(
            "UPDATE assignments SET expires = ? WHERE id = ?", time.time() + LEASE_SECONDS, rows[0]["id"]
        )
        return _assignment(rows[0])

    def end(self, name: str, state: str, reason: str = "") -> None:
        """Ends an open assignment; one that has ended stays as it ended."""
        self._database.write(
            "UPDATE assignments SET state = ?, reason = ?, ended = ? WHERE id = ? AND state = 'open'",
            *(state, reason, time.time(), name),
        )

    def of_person(self, person: str, study: str) -> list[Assignment]:
        """Everything that a person was given in a study, oldest first."""
        rows = self._database.rows(
            "SELECT * FROM assignments WHERE person = ? AND study = ? ORDER BY created", person, study
        )
        return [_assignment(row) for row in rows]

    def wanted(self, person: str, study: Study, recordings: Sequence[str]) -> list[str]:
        """The recordings of a study that this person may be given next.

        Left out are recordings that the person has had, skipped ones included, those with enough raters, and those that
        someone called unusable.
        """
        had = self.of_person(person, study.name)
        if study.most_episodes and sum(each.counts for each in had) >= study.most_episodes:
            return []
        taken, unusable = self.taken(study.name), self.unusable(study.name)
        usable = [each for each in recordings if each not in unusable]
        # Then only further raters of these are wanted. Recordings that are gone do not count.
        enough = bool(study.goal) and sum(each in taken for each in usable) >= study.goal
        hidden = {each.episode for each in had}
        return [
            each for each in usable if each not in hidden and taken[each] < study.raters and (taken[each] or not enough)
        ]

    def progress(self, study: Study, recordings: Sequence[str]) -> tuple[int, int]:
        """How many times the recordings of a study were rated, and how many times are wanted."""
        unusable, finished = self.unusable(study.name), self.finished(study.name)
        usable = [each for each in recordings if each not in unusable]
        have = sum(min(finished[each], study.raters) for each in usable)
        return have, min(study.goal or len(usable), len(usable)) * study.raters

    def taken(self, study: str) -> Counter[str]:
        """The number of people that have marked each episode in a study or are doing so."""
        return self._people_by_episode(study, "state = 'finished' OR (state = 'open' AND expires > ?)", time.time())

    def finished(self, study: str) -> Counter[str]:
        """The number of people that have marked each episode in a study."""
        return self._people_by_episode(study, "state = 'finished'")

    def unusable(self, study: str) -> set[str]:
        """The episodes that someone called unusable."""
        rows = self._database.rows(
            "SELECT DISTINCT episode FROM assignments WHERE study = ? AND state = 'unusable'", study
        )
        return {row["episode"] for row in rows}

    def _people_by_episode(self, study: str, condition: str, *values: float) -> Counter[str]:
        rows = self._database.rows(
            "SELECT episode, count(DISTINCT person) AS people FROM assignments WHERE study = ? AND kind IN ('mark', "
            f"'gold', 'judge') AND ({condition}) GROUP BY episode",
            *(study, *values),
        )
        return Counter({row["episode"]: row["people"] for row in rows})


def _assignment(row: Any) -> Assignment:
    return Assignment(*(row[field] for field in Assignment.__dataclass_fields__))
