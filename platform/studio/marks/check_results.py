"""Results of checks: a rater's marks against adjudicated ones, and marks of progress for a request never made."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from typing import Any

from interplay.episodes.episode import Mark
from interplay.evaluation.agreement import WITHIN_SECONDS
from interplay.evaluation.mark_matching import MarkTrack, f1, matched
from interplay.studio.marks.assignment import Assignment
from interplay.studio.people.studio_database import StudioDatabase

PASSED_F1 = 0.5  # of a single gold


def stored_track(marks: Sequence[Mark], rate: float) -> MarkTrack:
    """Stored marks in seconds."""
    return MarkTrack.of([(mark.frame / rate, mark.sign) for mark in marks])


def gold_result(ours: MarkTrack, gold: MarkTrack) -> dict[str, Any]:
    """Agreement with a gold: F1, marks that match in time with the wrong sign, and each mark of the gold with ours."""
    pairs = matched(gold.seconds, ours.seconds, WITHIN_SECONDS)
    wrong = sum(int(gold.signs[i] != ours.signs[j]) for i, j in pairs)
    found = dict(pairs)
    answers = [
        {
            "seconds": float(at),
            "sign": int(sign),
            "late": round(float(ours.seconds[found[i]] - at), 2) if i in found else None,
            "right": i in found and int(ours.signs[found[i]]) == int(sign),
        }
        for i, (at, sign) in enumerate(zip(gold.seconds, gold.signs, strict=True))
    ]
    return {"f1": round(f1(ours, gold, WITHIN_SECONDS), 3), "wrong_signs": wrong, "answers": answers}


class CheckResults:
    """The table `checks`: one row for each gold, swapped or qualifying item that was finished."""

    def __init__(self, database: StudioDatabase) -> None:
        self._database = database

    def keep(self, given: Assignment, *, passed: bool, result: dict[str, Any]) -> None:
        """Keeps the result of an assignment."""
        of = {"assignment": given.id, "person": given.person, "study": given.study, "kind": given.kind}
        found = {"passed": passed, "result": json.dumps(result), "at": time.time()}
        self._database.insert("checks", "REPLACE", **of, **found)

    def of_practice(self, given: Assignment) -> dict[str, Any] | None:
        """The result of a practice recording, which its rater is shown; None for other items, and unfinished ones."""
        rows = self._database.rows("SELECT result FROM checks WHERE assignment = ? AND kind = 'practice'", given.id)
        found: dict[str, Any] | None = json.loads(rows[0]["result"]) if rows else None
        return found

    def of_person(self, person: str, study: str, *kinds: str) -> list[dict[str, Any]]:
        """The results of these kinds, oldest first, with `passed`, `kind` and `episode`."""
        places = ", ".join("?" for _ in kinds)
        rows = self._database.rows(
            "SELECT checks.*, assignments.episode FROM checks JOIN assignments ON assignments.id = assignment "
            f"WHERE checks.person = ? AND checks.study = ? AND checks.kind IN ({places}) ORDER BY at",
            *(person, study, *kinds),
        )
        of_item = ("kind", "episode")
        return [
            {**json.loads(row["result"]), "passed": bool(row["passed"]), **{name: row[name] for name in of_item}}
            for row in rows
        ]
