"""How far a person is in a study: consent, then items with practice and qualification, or play, and the outcome."""

from __future__ import annotations

import json
import zlib
from collections import Counter
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from interplay.studio.judging.judge_choice import JudgeChoice
from interplay.studio.marks.assignment import TESTS, Assignments, Choice
from interplay.studio.marks.check_results import CheckResults
from interplay.studio.marks.mark_choice import MarkChoice
from interplay.studio.people.person import People, Person
from interplay.studio.people.studio_database import StudioDatabase
from interplay.studio.studies.study import Qualification, Study

StudyStage = Literal["consent", "practice", "qualify", "mark", "judge", "play", "over"]


@dataclass(frozen=True)
class StudyStanding:
    """The stage; with `over`, the outcome, or the reason for the pause."""

    stage: StudyStage
    outcome: str = ""  # complete, not_needed, screened_out
    paused: str = ""
    tries_left: int = 0

    def to_json(self, study: Study) -> dict[str, Any]:
        """The standing with the study's code and way back for the outcome."""
        return {
            "stage": self.stage,
            "outcome": self.outcome,
            "paused": self.paused,
            "tries_left": self.tries_left,
            **study.way_back(self.outcome),
        }


class Progression:
    """Moves people through studies. `database` holds the sessions that are played in them."""

    def __init__(
        self,
        people: People,
        assignments: Assignments,
        results: CheckResults,
        choice: MarkChoice,
        judging: JudgeChoice,
        database: StudioDatabase,
    ) -> None:
        self._people = people
        self._database = database
        self._assignments = assignments
        self._results = results
        self._choice = choice
        self._judging = judging

    def standing(self, person: Person, study: Study) -> StudyStanding:
        """How far a person is, as far as it can be seen without choosing the next item.

        A study in which nothing is left to do is over: it asks for no consent, practice or qualification.
        """
        if person.paused or not study.open:
            return StudyStanding("over", paused=person.paused or "closed")
        if study.kind == "judge":
            standing = StudyStanding("judge")
        else:
            standing = self._playing(person, study) if study.is_live else self._marking(person, study)
        if standing.stage == "over":
            return standing
        if not self._has_work(person, study):
            return self.nothing_left(person, study)
        has_agreed = self._people.has_agreed(person.id, study.name, study.consent.version)
        return standing if has_agreed else StudyStanding("consent")

    def _has_work(self, person: Person, study: Study) -> bool:
        """Whether a study that is not over has something to do for a person now, once it has qualified."""
        had = self._assignments.of_person(person.id, study.name)
        if study.is_live or any(each.state == "open" and each.kind not in TESTS for each in had):
            return True
        if study.kind == "judge":
            return bool(self._judging.wanted(person.id, study))
        qualification = self._qualification(study)
        tests = {*qualification.practice, *qualification.golds}  # which this person may not mark afterwards
        return any(entry.id not in tests for entry in self._choice.wanted(person.id, study))

    def finished(self, person: Person, study: Study) -> int:
        """The episodes of a study that a person has finished."""
        if study.is_live:
            return self.played(study, person.id)
        return sum(each.counts for each in self._assignments.of_person(person.id, study.name))

    def played(self, study: Study, person: str) -> int:
        """The stored episodes of a study in which this person had a seat."""
        rows = self._database.rows("SELECT seats FROM sessions WHERE study = ? AND episode IS NOT NULL", study.name)
        return sum(person in json.loads(row["seats"]).values() for row in rows)

    def usable(self, study: Study) -> int:
        """The stored episodes of a study in which people play, without those that were deleted or left out."""
        rows = self._database.rows("SELECT episode FROM sessions WHERE study = ? AND episode IS NOT NULL", study.name)
        return len({row["episode"] for row in rows} - self._choice.withdrawn())

    def next_agent(self, study: Study, seed: int) -> str:
        """The agent of an evaluation's next session: every block of as many sessions as agents has each agent once.

        The block is what the rows of this version of the study hold, so an agent whose session was deleted or has ended
        without an episode is drawn again.
        """
        rows = self._database.rows(
            "SELECT agent FROM sessions WHERE study = ? AND version = ? AND (ended IS NULL OR episode IS NOT NULL)",
            *(study.name, study.version),
        )
        drawn = Counter(row["agent"] for row in rows)
        fewest = min(drawn[agent] for agent in study.live.agents)
        left = [agent for agent in study.live.agents if drawn[agent] == fewest]
        rng = np.random.default_rng([seed, zlib.crc32(study.name.encode()), study.version, len(rows)])
        return left[int(rng.integers(len(left)))]

    def _playing(self, person: Person, study: Study) -> StudyStanding:
        """Play, or over once all that is wanted of the person or the study is played."""
        enough = study.most_episodes and self.played(study, person.id) >= study.most_episodes
        if enough or (study.goal and self.usable(study) >= study.goal):
            return self.nothing_left(person, study)
        return StudyStanding("play")

    def nothing_left(self, person: Person, study: Study) -> StudyStanding:
        """The end where nothing is left to do: `complete` only for those that have finished an episode."""
        return StudyStanding("over", outcome="complete" if self.finished(person, study) else "not_needed")

    def _marking(self, person: Person, study: Study) -> StudyStanding:
        """Practice, qualification or items, or over after the last try at the qualification.

        A person that was given an ordinary item has qualified, also where golds were deleted since.
        """
        qualification = self._qualification(study)
        had = self._assignments.of_person(person.id, study.name)
        practiced = {each.episode for each in had if each.kind == "practice" and each.state == "finished"}
        if set(qualification.practice) - practiced:
            return StudyStanding("practice")
        qualified = any(each.kind not in TESTS and each.version == study.version for each in had)
        if qualification.golds and not qualified:
            tries = self._tries(person.id, study.name, qualification)
            if not any(passed for passed, _ in tries):
                complete = sum(len(results) == len(qualification.golds) for _, results in tries)
                left = qualification.tries - complete
                return (
                    StudyStanding("qualify", tries_left=left)
                    if left > 0
                    else StudyStanding("over", outcome="screened_out")
                )
        return StudyStanding("mark")

    def _qualification(self, study: Study) -> Qualification:
        """The qualification, without recordings that were deleted or left out, or whose answers were deleted."""
        stated = study.qualification
        if not (stated.practice or stated.golds):
            return stated
        golds = self._choice.golds()
        left = {name: tuple(each for each in getattr(stated, name) if each in golds) for name in ("practice", "golds")}
        return stated.model_copy(update=left)

    def _tries(self, person: str, study: str, qualification: Qualification) -> list[tuple[bool, list[dict[str, Any]]]]:
        """The tries at the qualification: (passed, results of its golds); the last may be incomplete."""
        results, size = self._qualifying(person, study, qualification), len(qualification.golds)
        tries = [results[start : start + size] for start in range(0, len(results), size)]
        return [(_passed(qualification, each), each) for each in tries]

    def _qualifying(self, person: str, study: str, qualification: Qualification) -> list[dict[str, Any]]:
        """The results of a person at the golds of the qualification, oldest first."""
        results = self._results.of_person(person, study, "qualify")
        return [result for result in results if result["episode"] in qualification.golds]

    def next(self, person: Person, study: Study, standing: StudyStanding) -> Choice | None:
        """What a person is to be given at this standing; None if nothing is left."""
        if standing.stage == "judge":
            return self._judging.next(person.id, study)
        if standing.stage == "mark":
            return self._choice.next(person.id, study)
        qualification = self._qualification(study)
        had = self._assignments.of_person(person.id, study.name)
        if standing.stage == "practice":
            done = {each.episode for each in had if each.kind == "practice"}
            left = [episode for episode in qualification.practice if episode not in done]
            return Choice(left[0], "practice", "practice", 1.0) if left else None
        if standing.stage == "qualify":
            results = self._qualifying(person.id, study.name, qualification)
            tries, begun = divmod(len(results), len(qualification.golds))
            seen = {result["episode"] for result in results[len(results) - begun :]}
            rng = np.random.default_rng(list(f"{person.id} {study.name} {tries}".encode()))
            order = rng.permutation(qualification.golds).tolist()
            return Choice(min(order, key=lambda each: each in seen), "qualify", "qualify", 1.0)
        return None


def _passed(wanted: Qualification, results: list[dict[str, Any]]) -> bool:
    if len(results) < len(wanted.golds):
        return False
    agreement = sum(result["f1"] for result in results) / len(results)
    wrong = sum(result["wrong_signs"] for result in results)
    return bool(agreement >= wanted.least_agreement and wrong <= wanted.most_wrong_signs)
