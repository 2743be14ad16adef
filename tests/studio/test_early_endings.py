"""The codes of people that stay where a session ends early."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import cast

import pytest
from starlette.websockets import WebSocket
from studio_client import open_studio
from test_live_protocol import house, invited, researcher, seated
from test_live_session import settings
from test_stand_ins import STARTED, no_agents

from interplay.studio.live.hosted_session import HostedSession
from interplay.studio.live.studio_sessions import StudioSessions
from interplay.studio.live.viewer import Viewer
from interplay.studio.people.own_data_routes import erase
from interplay.studio.studies.study import FIRST_PLAY

PEOPLE = {"setter": "p-1", "solver": "p-2"}
WAYS_BACK = {outcome: {"code": outcome.upper(), "address": ""} for outcome in ("partner_left", "technical")}


class KeptMessages(Viewer):
    """Keeps what its page is sent."""

    def __init__(self, seat: str) -> None:
        super().__init__(cast(WebSocket, None), seat)
        self.told: list[dict[str, object]] = []

    def tell(self, message: dict[str, object]) -> None:
        self.told.append(message)


@pytest.mark.parametrize("deletes", [False, True])
def test_the_partner_of_a_person_that_leaves_gets_its_code(tmp_path: Path, deletes: bool) -> None:
    """Leaving, or deleting what is one's own, gives that person none."""
    with house(tmp_path) as studio:
        codes = {"complete": "DONE", "partner_left": "ALONE"}
        addresses = {"partner_left": "https://platform.example/alone"}
        study = {**FIRST_PLAY.model_dump(mode="json"), "codes": codes, "addresses": addresses}
        researcher(studio).post("/api/desk/studies", study)
        visitors = invited(tmp_path, studio, 2)
        players = seated(visitors)
        of_seat = dict(zip(players, visitors, strict=True))
        for player in players.values():
            player.until("state", state="playing")
        gone, ending = (
            next(iter(players)) if deletes else "solver",
            {"kind": "end", "why": "void" if deletes else "left"},
        )
        if deletes:
            visitors[0].post("/api/data/delete", {"person": visitors[0].get("/api/me")["person"]})
        else:
            players[gone].send("leave")
        assert players.pop(gone).until("end") == ending
        ((seat, stays),) = players.items()
        shown = ending | {"code": "ALONE", "address": addresses["partner_left"]}
        assert stays.until("end") == shown
        last = of_seat[seat].get("/api/live")["last"]
        assert last.pop("session") and last == shown, "for a page that had no connection at the end"
        if not deletes:
            last = of_seat[gone].get("/api/live")["last"]
            assert last.pop("session") and last == ending
            again = seated(visitors)
            assert [each.get("/api/live")["last"] for each in visitors] == [None, None], "they play again"
            for player in again.values():
                player.until("hello")


@pytest.mark.parametrize(("why", "code"), [("failed", "TECHNICAL"), ("interrupted", "TECHNICAL"), ("time", None)])
def test_everyone_gets_the_code_of_a_session_that_has_failed(tmp_path: Path, why: str, code: str | None) -> None:
    people = {"setter": "p-1", "solver": "p-2"}
    session = HostedSession(settings(tmp_path, people=people, ways_back=WAYS_BACK), lambda *_: None, no_agents)
    viewers = {seat: KeptMessages(seat) for seat in (*people, "watch")}
    for viewer in viewers.values():
        session.attach(viewer)
    session._finish({"kind": "ended", "why": why, "path": ""})
    assert [viewers[seat].told[-1].get("code") for seat in people] == [code, code]
    assert "code" not in viewers["watch"].told[-1]


def test_nobody_gets_a_code_where_it_is_not_known_who_has_left(tmp_path: Path) -> None:
    """A studio that was killed while it ended the session does not know who pressed the button."""
    people = {"setter": "p-1", "solver": "p-2"}
    session = HostedSession(settings(tmp_path, people=people, ways_back=WAYS_BACK), lambda *_: None, no_agents)
    viewers = [KeptMessages(seat) for seat in people]
    for viewer in viewers:
        session.attach(viewer)
    session._begin(STARTED | {"left": []})
    session._finish({"kind": "ended", "why": "left", "path": ""})
    assert all("code" not in viewer.told[-1] for viewer in viewers)


def test_an_ending_is_kept_over_a_restart_until_the_person_plays_again_or_is_deleted(tmp_path: Path) -> None:
    for start in range(4):
        with open_studio(tmp_path) as studio:
            live = StudioSessions(studio)
            if start == 0:
                for person in PEOPLE.values():
                    studio.database.insert("people", id=person, created=0.0, roles="[]")
                given = settings(tmp_path, people=PEOPLE, study="live", ways_back=WAYS_BACK)
                HostedSession(given, live._over, no_agents)._finish({"kind": "ended", "why": "failed", "path": ""})
            last = [live.ending_of(person, "live") for person in PEOPLE.values()]
            kept = {"kind": "end", "why": "failed", "code": "TECHNICAL", "address": "", "session": "s1"}
            assert last == [[kept, kept], [kept, kept], [None, kept], [None, None]][start]
            assert live.ending_of("p-1", "another study") is None
            if start == 1:
                study = studio.studies.find("live")
                assert study is not None
                live._host = lambda *_, **__: None  # type: ignore[assignment, method-assign, return-value]
                live._open(study, {"setter": "p-1"})
            if start == 2:
                erase(studio, "p-2")


def test_nothing_is_kept_of_a_person_that_was_deleted_before_the_end(tmp_path: Path) -> None:
    with open_studio(tmp_path) as studio:
        live = StudioSessions(studio)
        given = settings(tmp_path, people=PEOPLE, study="live", ways_back=WAYS_BACK)
        studio.database.insert("people", id="p-2", created=0.0, roles="[]")
        HostedSession(given, live._over, no_agents)._finish({"kind": "ended", "why": "void", "path": ""})
        rows = studio.database.rows("SELECT person, ending FROM endings")
    assert [(row["person"], json.loads(row["ending"])["code"]) for row in rows] == [("p-2", "PARTNER_LEFT")]


def test_a_database_of_before_endings_gets_their_table(tmp_path: Path) -> None:
    with open_studio(tmp_path):
        pass
    with closing(sqlite3.connect(tmp_path / "studio" / "studio.db")) as database:
        database.executescript("DROP TABLE endings; PRAGMA user_version = 2;")
    for _ in range(2):
        with open_studio(tmp_path) as studio:
            assert not studio.database.rows("SELECT * FROM endings")
