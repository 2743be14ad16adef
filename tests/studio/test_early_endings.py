"""The codes of people that stay where a session ends early."""

from __future__ import annotations

from pathlib import Path
from typing import cast

import pytest
from starlette.websockets import WebSocket
from test_live_protocol import house, invited, researcher, seated
from test_live_session import settings
from test_stand_ins import STARTED, no_agents

from interplay.studio.live.hosted_session import HostedSession
from interplay.studio.live.viewer import Viewer
from interplay.studio.studies.study import FIRST_PLAY

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
