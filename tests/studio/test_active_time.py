"""The minutes of people: time at work, without the night in which a page stayed open or the studio was down."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from studio_client import logged_in, open_studio
from test_live_session import settings

from interplay.studio.exports.export_tables import export
from interplay.studio.live.hosted_session import HostedSession
from interplay.studio.live.studio_sessions import StudioSessions
from interplay.studio.marks.assignment import Choice
from interplay.studio.web.studio_context import StudioContext

NIGHT = 8 * 3600.0


def worked(studio: StudioContext, person: str, marks: list[float], ended: float | None, undone: float | None) -> None:
    """An item that was given at 0, with marks at these seconds, of which the last was undone."""
    given = studio.assignments.give(person, "marks", 1, Choice(f"e{ended}", "mark", "random", 1.0)).id
    state = "open" if ended is None else "finished"
    studio.database.write("UPDATE assignments SET created = 0, ended = ?, state = ? WHERE id = ?", ended, state, given)
    for number, at in enumerate(marks):
        placed = {"assignment": given, "mark": f"{given}-{number}", "frame": 3, "sign": 1, "details": "{}", "at": at}
        studio.database.insert("shown", **placed, undone=undone if at == marks[-1] else None)


def test_minutes_count_gaps_up_to_a_limit_and_the_marks_of_open_items(tmp_path: Path) -> None:
    with open_studio(tmp_path) as studio:
        rater = logged_in(studio, "mark")
        person = rater.get("/api/me").json()["person"]
        worked(studio, person, [60.0, 60.0 + NIGHT], 180.0 + NIGHT, undone=120.0 + NIGHT)  # 1 + 5 + 1 + 1 minutes
        worked(studio, person, [120.0], None, undone=None)  # 2 minutes
        assert rater.get("/api/data").json()["minutes"] == 10.0
        listed = logged_in(studio, "research").get("/api/desk/people").json()["people"]
        assert {each["person"]: each["minutes"] for each in listed}[person] == 10.0
    export(tmp_path, tmp_path / "out", rate=30.0, form="jsonl", identities=False)
    rows = [json.loads(line) for line in (tmp_path / "out" / "people.jsonl").read_text().splitlines()]
    assert {row["person"]: row["minutes"] for row in rows}[person] == 10.0


@pytest.mark.parametrize("comes_back", [False, True])
def test_a_session_ends_when_it_was_last_played(
    tmp_path: Path, comes_back: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(HostedSession, "start", lambda self, *, resume: None)
    with open_studio(tmp_path) as studio:
        journal = studio.served.folder / "journals" / "s1.journal"
        journal.parent.mkdir()
        given = settings(tmp_path, "scripted", journal=str(journal))
        journal.write_text(json.dumps({"settings": given.to_json()}) + "\n" + json.dumps({"rows": {}}) + "\n")
        os.utime(journal, (70.0, 70.0))
        row = {"id": "s1", "study": "live", "version": 1, "started": 10.0, "seats": json.dumps({"solver": "p-1"})}
        studio.database.insert("sessions", **row)
        live = StudioSessions(studio)
        live.start()
        if comes_back:
            live.sessions["s1"]._enter("playing", "")
        live.sessions["s1"]._finish({"kind": "ended", "why": "time", "path": ""})
        ((ended,),) = studio.database.rows("SELECT ended FROM sessions")
        assert (ended > 70.0) if comes_back else (ended == 70.0)
