"""How far a person is in a study in which people play."""

from __future__ import annotations

import json

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

    def begun(self, study: Study) -> int:
        """The sessions of a study that were opened."""
        return len(self._database.rows("SELECT 1 FROM sessions WHERE study = ?", study.name))
