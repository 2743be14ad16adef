"""How far a person is in a study in which people play, and which agent plays next in an evaluation."""

from __future__ import annotations

import json
import zlib
from collections import Counter

import numpy as np

from interplay.studio.marks.standing import StudyStanding
from interplay.studio.people.consent import Consents
from interplay.studio.people.person import Person
from interplay.studio.people.studio_database import StudioDatabase
from interplay.studio.studies.study import Study


class LiveProgression:
    """Counts the episodes of studies in which people play."""

    def __init__(self, consents: Consents, database: StudioDatabase) -> None:
        self._consents = consents
        self._database = database

    def standing(self, person: Person, study: Study) -> StudyStanding:
        """Consent, play, or over: paused, closed, or all that is wanted of the person or the study is played."""
        if not self._consents.given(person.id, study.name, study.consent.version):
            return StudyStanding("consent")
        if person.paused or not study.open:
            return StudyStanding("over", paused=person.paused or "closed")
        enough = study.most_episodes and self.played(study, person.id) >= study.most_episodes
        if enough or (study.goal and self.played(study) >= study.goal):
            return StudyStanding("over", outcome="complete")
        return StudyStanding("play")

    def played(self, study: Study, person: str = "") -> int:
        """The stored episodes of a study, or those in which this person had a seat."""
        rows = self._database.rows("SELECT seats FROM sessions WHERE study = ? AND episode IS NOT NULL", study.name)
        return sum(not person or person in json.loads(row["seats"]).values() for row in rows)

    def next_agent(self, study: Study, seed: int) -> str:
        """The agent of an evaluation's next session: every block of as many sessions as agents has each agent once.

        The block is what the rows of this version of the study hold, so an agent whose session was deleted is drawn
        again.
        """
        rows = self._database.rows(
            "SELECT agent FROM sessions WHERE study = ? AND version = ?", study.name, study.version
        )
        drawn = Counter(row["agent"] for row in rows)
        fewest = min(drawn[agent] for agent in study.live.agents)
        left = [agent for agent in study.live.agents if drawn[agent] == fewest]
        rng = np.random.default_rng([seed, zlib.crc32(study.name.encode()), study.version, len(rows)])
        return left[int(rng.integers(len(left)))]
