"""What a network delivers late or not at all, in the middle of an episode."""

from __future__ import annotations

import asyncio
import time
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest
from starlette.websockets import WebSocket
from test_live_protocol import LIVE, house, invited, only_episode, seated
from test_live_session import check_replay, make_world, settings
from test_stand_ins import STARTED, no_agents

from interplay.stages.live_config import LiveConfig
from interplay.studio.live.hosted_session import HostedSession
from interplay.studio.live.live_client import LivePlayer
from interplay.studio.live.live_routes import SeatReader
from interplay.studio.live.picture_wire import Input, write_input
from interplay.studio.live.seat_input import SeatInput
from interplay.studio.live.viewer import Viewer

PEOPLE = {"setter": "p-1", "solver": "p-2"}
FORWARD, GRASP = 1 << 0, 1 << 6  # controls of the Playhouse


def close_reason(player: LivePlayer) -> str | None:
    """Why the studio has closed a connection, once it has."""
    while player.receive() is not None:
        pass
    return player.socket.close_reason


@pytest.mark.slow
def test_a_connection_that_arrives_late_does_not_replace_a_later_one_of_its_page(tmp_path: Path) -> None:
    with house(tmp_path, replace(LIVE, solver="scripted")) as studio:
        (visitor,) = invited(tmp_path, studio, 1)
        session, seat = visitor.join()
        second = visitor.sit(session, seat, "?page=a&number=2")
        second.until("state", state="playing")
        assert close_reason(visitor.sit(session, seat, "?page=a&number=1")) == "this page has connected again since"
        frame = second.frame
        while second.frame <= frame:
            second.move()
            assert second.receive() is not None
        third = visitor.sit(session, seat, "?page=a&number=3")
        assert close_reason(second) == "this seat is used in another tab now"
        other_page = visitor.sit(session, seat, "?page=b&number=1")
        assert close_reason(third) == "this seat is used in another tab now"
        other_page.until("state", state="playing")


@pytest.mark.slow
def test_a_key_that_is_held_while_no_message_arrives_is_let_go(tmp_path: Path) -> None:
    with house(tmp_path, LiveConfig(seconds=600, away_seconds=600)) as studio:
        players = seated(invited(tmp_path, studio, 2))
        setter, solver = players["setter"], players["solver"]
        for player in players.values():
            player.move()
            player.until("state", state="playing")
        solver.move(FORWARD)
        while setter.frame < 150:  # 5 seconds or more
            setter.move()
            assert setter.receive() is not None
        setter.send("leave")
        setter.until("end")
    episode = only_episode(tmp_path)
    check_replay(episode)
    forward = episode.actions["solver"][:, 0]
    assert (forward == 2).any() and (forward[120:] == 1).all()


def test_a_key_that_is_still_down_after_a_stall_is_no_new_press() -> None:
    world = make_world()
    seat = SeatInput(world.controls("solver"), world.spec)
    rows = []
    for stalls in (False, True, False):
        if stalls:
            seat.stall()
        else:
            seat.receive(FORWARD | GRASP, 0.0, 0.0, 1)
        rows.append(seat.row())
    forward, grasp = np.stack(rows)[:, [0, 4]].T.tolist()
    assert forward == [2, 1, 2], "it stands still during the stall"
    assert grasp == [1, 1, 1], "and does not let go of what it holds"


def test_what_a_replaced_connection_delivers_late_has_no_effect(tmp_path: Path) -> None:
    session = HostedSession(settings(tmp_path, people=PEOPLE), lambda *_: None, no_agents)
    session._begin(STARTED | {"left": []})
    waiting: list[dict[str, Any]] = [
        {"type": "websocket.receive", "bytes": write_input(Input(FORWARD, 1, 0, 0.0, 0.0))},
        {"type": "websocket.receive", "text": '{"kind": "leave"}'},
        {"type": "websocket.disconnect", "code": 1000},
    ]

    async def receive() -> dict[str, Any]:
        return waiting.pop(0)

    old = Viewer(cast(WebSocket, SimpleNamespace(receive=receive)), "solver")
    session.attach(old)
    session.attach(Viewer(cast(WebSocket, None), "solver"))
    sent = list[bytes]()
    session._process._writer = cast(asyncio.StreamWriter, SimpleNamespace(write=sent.append))
    asyncio.run(SeatReader(session, old).read())
    assert not waiting and not sent


def test_the_page_says_who_is_away(tmp_path: Path) -> None:
    session = HostedSession(settings(tmp_path, people=PEOPLE), lambda *_: None, no_agents)
    viewers = {seat: Viewer(cast(WebSocket, None), seat) for seat in PEOPLE}
    for viewer in viewers.values():
        session.attach(viewer)
    session._begin(STARTED | {"left": []})
    for away, says in (
        (["solver"], "the solver is away"),
        (["setter", "solver"], "the setter and the solver are away"),
    ):
        now = time.monotonic()
        for seat, viewer in viewers.items():
            viewer.seen = now - 60 * (seat in away)
        session._enter("playing", "")
        session._step_phase(now)
        assert viewers["setter"]._messages[-1]["why"] == says
