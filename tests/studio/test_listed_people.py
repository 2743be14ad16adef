"""The people that the researcher sees, over HTTP."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

from marking_client import filled
from studio_client import logged_in, open_studio

from interplay.episodes.episode import Mark


def listed(client: Any, database: sqlite3.Connection) -> tuple[dict[str, int], int]:
    """The number of marks of each person, and how many queries of the store the answer took."""
    queries: list[str] = []
    database.set_trace_callback(queries.append)
    people = client.get("/api/desk/people").json()["people"]
    database.set_trace_callback(None)
    return {each["person"]: each["marks"] for each in people}, len(queries)


def test_one_query_of_the_store_counts_the_marks_of_everyone(tmp_path: Path) -> None:
    first, second = filled(tmp_path, 2)
    with open_studio(tmp_path) as studio:
        researcher = logged_in(studio, "research")
        _, alone = listed(researcher, studio.store._database)
        people = [studio.people.add(["mark"]).id for _ in range(3)]
        marks = [Mark(first, people[0], 4, 1), Mark(second, people[0], 5, 1), Mark(first, people[1], 4, -1)]
        studio.store.add_marks([*marks, undone := Mark(first, people[1], 6, 1), Mark(first, "rater-1", 4, 1)])
        studio.store.undo(undone.id)
        counts, queries = listed(researcher, studio.store._database)
    assert [counts[person] for person in people] == [2, 1, 0]
    assert "rater-1" not in counts
    assert queries == alone == 1
