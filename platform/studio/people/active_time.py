"""How long people were at work: on their items, and in their live sessions."""

from __future__ import annotations

import json
from collections import defaultdict

from interplay.studio.people.studio_database import StudioDatabase

GAP_SECONDS = 300.0  # of work on an item that are counted between two signs of it, at most
# The signs of work on an item: it is given, a mark is set or undone, it is ended.
WORKED = """WITH signs AS (
    SELECT id AS item, person, created AS at FROM assignments
    UNION ALL SELECT id, person, ended FROM assignments WHERE ended IS NOT NULL
    UNION ALL SELECT assignment, person, at FROM shown JOIN assignments ON assignment = id
    UNION ALL SELECT assignment, person, undone FROM shown JOIN assignments ON assignment = id WHERE undone IS NOT NULL
), gaps AS (SELECT person, at - lag(at) OVER (PARTITION BY item ORDER BY at) AS gap FROM signs)
SELECT person, sum(min(gap, ?)) AS seconds FROM gaps WHERE gap IS NOT NULL GROUP BY person"""


def active_seconds(database: StudioDatabase) -> defaultdict[str, float]:
    """The seconds at work by person; of an item with gaps of at most `GAP_SECONDS`, as a page may be left open."""
    seconds: defaultdict[str, float] = defaultdict(float)
    for row in database.rows(WORKED, GAP_SECONDS):
        seconds[row["person"]] += row["seconds"]
    for session in database.rows("SELECT seats, ended - started AS seconds FROM sessions WHERE ended IS NOT NULL"):
        for person in json.loads(session["seats"]).values():
            seconds[person] += session["seconds"]
    return seconds
