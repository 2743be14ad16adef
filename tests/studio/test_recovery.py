"""What a kill or a failure may leave behind: sessions without a journal, two processes of one session, open sockets."""

from __future__ import annotations

import asyncio
import json
import socket
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any, cast

import pytest
from starlette.websockets import WebSocket
from studio_client import open_studio
from test_live_protocol import house, invited, researcher, seated
from test_live_session import settings
from test_stand_ins import no_agents

from interplay.stages.live_config import LiveConfig
from interplay.studio.live.hosted_session import HostedSession
from interplay.studio.live.live_client import LivePlayer
from interplay.studio.live.live_routes import BURST_SECONDS, SeatReader
from interplay.studio.live.picture_wire import SHOWN, BadMessage, Input, write_input
from interplay.studio.live.session_journal import SessionJournal
from interplay.studio.live.studio_sessions import StudioSessions
from interplay.studio.live.viewer import Viewer

HOLDS = (
    "from pathlib import Path; from interplay.studio.live.session_journal import SessionJournal as Journal; import sys"
)
WATCHES = "from interplay.studio.live.session_process import end_with_studio; import socket"
MINUTE = 60.0
PEOPLE = {"setter": "p-2", "solver": "p-1"}


def test_a_session_that_was_killed_before_it_began_is_noted_as_interrupted(tmp_path: Path) -> None:
    with open_studio(tmp_path) as studio:
        for name in ("no-journal", "no-head"):
            row = (name, "live", 1, 7.0, json.dumps({"solver": "p-1"}))
            studio.database.write(
                "INSERT INTO sessions (id, study, version, started, seats) VALUES (?, ?, ?, ?, ?)", *row
            )
        torn = tmp_path / "studio" / "journals" / "no-head.journal"
        torn.parent.mkdir()
        torn.write_text('{"settings"')
        live = StudioSessions(studio)
        live.start()
        rows = studio.database.rows("SELECT ended, outcome FROM sessions")
    assert not live.sessions and not torn.exists()
    assert [(row["ended"], row["outcome"]) for row in rows] == [(7.0, "interrupted")] * 2, "nothing was played"


@pytest.mark.parametrize(
    "written",
    [b"no json\n", b"[1]\n", b"{}\n", b'{"settings": 3}\n', b'{"settings": {"session": "s1"}}\n', b"\xff\xfe\n"],
)
def test_a_session_whose_journal_cannot_be_read_has_failed(
    tmp_path: Path, written: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    with open_studio(tmp_path) as studio:
        row = ("s1", "live", 1, 0.0, json.dumps({"solver": "p-1"}))
        studio.database.write("INSERT INTO sessions (id, study, version, started, seats) VALUES (?, ?, ?, ?, ?)", *row)
        journal = tmp_path / "studio" / "journals" / "s1.journal"
        journal.parent.mkdir()
        journal.write_bytes(written)
        ends = []
        for _ in range(2):
            live = StudioSessions(studio)
            live.start()
            assert not live.sessions
            ends += studio.database.rows("SELECT ended, outcome FROM sessions")
    assert journal.read_bytes() == written
    assert ends[0]["ended"] == journal.stat().st_mtime and ends[0]["outcome"] == "failed: s1.journal can't be read"
    assert tuple(ends[1]) == tuple(ends[0]), "a later start changes nothing"
    assert f"{journal} can't be continued" in caplog.text and "restore the file" in caplog.text


def test_people_go_on_where_their_episode_cannot_be_listed(tmp_path: Path) -> None:
    def fail(*_: object) -> None:
        raise OSError("the disk is full")

    session = HostedSession(settings(tmp_path, people=PEOPLE), fail, no_agents)
    viewer = Viewer(cast(WebSocket, None), "solver")
    session.attach(viewer)
    with pytest.raises(OSError, match="full"):
        session._finish({"kind": "ended", "why": "time", "path": "an episode"})
    assert session.phase == "ended" and viewer.closing == (1000, "the episode has ended")


def test_a_session_whose_task_fails_ends(tmp_path: Path) -> None:
    def fail() -> socket.socket:
        raise OSError("too many open files")

    async def ended() -> dict[str, Any]:
        over: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
        seats = {"setter": "person", "solver": "clone"}
        given = settings(tmp_path, seats=seats, people=PEOPLE)
        session = HostedSession(given, lambda _, message: over.set_result(message), fail)
        session.start()
        return await asyncio.wait_for(over, timeout=MINUTE)

    assert asyncio.run(ended())["why"] == "interrupted"


@pytest.mark.parametrize("is_known", [True, False])
def test_an_interrupted_session_of_a_deleted_person_leaves_no_journal(tmp_path: Path, is_known: bool) -> None:
    with open_studio(tmp_path) as studio:
        if is_known:
            row = ("s1", "live", 1, 0.0, json.dumps(PEOPLE))
            studio.database.write(
                "INSERT INTO sessions (id, study, version, started, seats) VALUES (?, ?, ?, ?, ?)", *row
            )
        session = HostedSession(settings(tmp_path, people=PEOPLE), lambda *_: None, no_agents)
        journal = Path(session.settings.journal)
        journal.write_text(json.dumps(PEOPLE))
        StudioSessions(studio)._over(session, {"kind": "ended", "why": "interrupted", "path": ""})
        assert journal.exists() == is_known


def test_an_episode_of_a_deleted_person_is_not_kept_even_if_its_session_is_still_listed(tmp_path: Path) -> None:
    with open_studio(tmp_path) as studio:
        row = ("s1", "live", 1, 0.0, json.dumps(PEOPLE))
        studio.database.write("INSERT INTO sessions (id, study, version, started, seats) VALUES (?, ?, ?, ?, ?)", *row)
        session = HostedSession(settings(tmp_path, people=PEOPLE), lambda *_: None, no_agents)
        placed = tmp_path / "placed.npz"
        placed.write_bytes(b"an episode")
        StudioSessions(studio)._over(session, {"kind": "ended", "why": "void", "path": str(placed)})
        assert not placed.exists() and not studio.store.ids()


@pytest.mark.parametrize("kind", ["verdict", "release"])
def test_messages_of_a_seat_are_limited_like_its_inputs(tmp_path: Path, kind: str) -> None:
    live = LiveConfig(inputs_per_second=5)
    session = HostedSession(settings(tmp_path, people=PEOPLE, live=live), lambda *_: None, no_agents)
    reader = SeatReader(session, Viewer(cast(WebSocket, None), "setter"))
    message = {"kind": kind, "verdict": "done"} if kind == "verdict" else {"kind": kind}
    for _ in range(5 * BURST_SECONDS):
        reader._speak(dict(message))
    with pytest.raises(BadMessage, match="more than 5 inputs a second"):
        reader._speak(dict(message))


def test_what_piled_up_while_a_connection_stood_still_ends_no_seat(tmp_path: Path) -> None:
    session = HostedSession(settings(tmp_path, people=PEOPLE), lambda *_: None, no_agents)
    reader = SeatReader(session, Viewer(cast(WebSocket, None), "setter"))
    for seq in range(60 * 30):  # of a browser that sends 60 a second, until the episode ends without it
        reader._input(write_input(Input(0, seq, 0, 0.1, 0.0)))


def test_one_process_at_a_time_writes_a_journal(tmp_path: Path) -> None:
    path = tmp_path / "s1.journal"
    former = subprocess.Popen(
        [sys.executable, "-c", f"{HOLDS}\njournal = Journal(Path({str(path)!r}))\nprint('held', flush=True)\ninput()"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert former.stdout is not None and former.stdout.readline() == "held\n"
    next_one = threading.Thread(target=lambda: SessionJournal(path).close(), daemon=True)
    next_one.start()
    next_one.join(0.2)
    assert next_one.is_alive(), "two processes hold the journal"
    former.kill()
    former.communicate(timeout=MINUTE)
    next_one.join(MINUTE)
    assert not next_one.is_alive()


def test_a_journal_that_another_process_keeps_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("interplay.studio.live.session_journal.HELD_SECONDS", 0.0)
    path = tmp_path / "s1.journal"
    lines = f"{HOLDS}\njournal = Journal(Path({str(path)!r}))\nprint('held', flush=True)\ninput()"
    with subprocess.Popen([sys.executable, "-c", lines], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None and holder.stdout.readline() == b"held\n"
        with pytest.raises(TimeoutError, match=r"s1\.journal is held by another process"):
            SessionJournal(path)


def test_a_message_that_comes_with_the_end_is_sent(tmp_path: Path) -> None:
    sent = list[object]()
    viewer = Viewer(cast(WebSocket, None), "solver")

    class Socket:
        async def send_json(self, message: object) -> None:
            sent.append(message)

        async def send_bytes(self, _: bytes) -> None:
            viewer.tell({"kind": "end"})
            viewer.close("over")

        async def close(self, *_: object) -> None:
            sent.append("closed")

    viewer.websocket = cast(WebSocket, Socket())
    viewer.show(bytes(SHOWN.size))
    asyncio.run(asyncio.wait_for(viewer.send(), timeout=MINUTE))
    assert sent == [{"kind": "end"}, "closed"]


def test_the_process_of_a_session_ends_with_its_studio() -> None:
    ours, theirs = socket.socketpair()
    with theirs:
        watch = f"{WATCHES}\nprint('ready', flush=True)\nend_with_studio(socket.socket(fileno=0))"
        process = subprocess.Popen(
            [sys.executable, "-c", watch], stdin=theirs.fileno(), stdout=subprocess.PIPE, text=True
        )
    assert process.stdout is not None and process.stdout.readline() == "ready\n"
    ours.sendall(b"messages that nobody reads")
    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(0.3)
    ours.close()
    assert process.wait(MINUTE) == 1


def test_who_comes_later_sees_a_world_that_stands_still(tmp_path: Path) -> None:
    with house(tmp_path) as studio:
        watching, people = researcher(studio), invited(tmp_path, studio, 2)
        seated(people)
        session, _ = people[0].join()
        for _ in range(2):
            viewer = watching.sit(session, "watch")
            viewer.until("hello")
            assert sees(viewer)


def sees(viewer: LivePlayer) -> bool:
    """Whether a picture comes before a minute of silence."""
    while not viewer.pictures:
        if viewer.receive(MINUTE) is None:
            return False
    return True
