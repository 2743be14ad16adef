"""Connections that break: text that is not UTF-8, silence, and people that do not come."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest
from studio_process import StartedStudio
from test_live_protocol import LIVE, house, invited

from interplay.stages.live_config import LiveConfig
from interplay.studio.live.live_client import LivePlayer, LiveVisitor

pytestmark = pytest.mark.slow

TEXT_FRAME, MASKED = 0x81, 0x80
SOON = LiveConfig(solver="scripted", seconds=600, away_seconds=1, leave_seconds=1)


def send_as_text(player: LivePlayer, data: bytes) -> None:
    """Sends bytes in a text frame, as no browser does where they are not UTF-8."""
    mask = os.urandom(4)
    masked = bytes(byte ^ mask[n % 4] for n, byte in enumerate(data))
    player.socket.socket.sendall(bytes([TEXT_FRAME, MASKED | len(data)]) + mask + masked)


def begin(root: Path, studio: StartedStudio) -> tuple[LiveVisitor, str, str]:
    """A person that has been given a seat: the person, its session and the seat."""
    (visitor,) = invited(root, studio, 1)
    return visitor, *visitor.join()


def logged(studio: StartedStudio) -> list[str]:
    """What the studio logs from its start to its end, which this asks for."""
    studio.process.terminate()
    assert studio.process.stdout is not None
    *lines, last = (line for line in studio.process.stdout.read().splitlines() if line.strip())
    assert last.startswith("I the studio has stopped")
    return lines


def test_text_that_is_not_utf_8_ends_the_connection_and_frees_the_seat(tmp_path: Path) -> None:
    with house(tmp_path, replace(LIVE, setter="scripted")) as studio:
        visitor, session, seat = begin(tmp_path, studio)
        player = visitor.sit(session, seat)
        player.until("state", state="playing")
        send_as_text(player, b'{"kind":"say","text":"\xff"}')
        while player.receive() is not None:
            pass
        assert player.socket.close_code == 1007
        again = visitor.sit(session, seat)
        again.until("state", state="playing")
        again.close()
        lines = logged(studio)
    assert lines == [f"W session {session}: the connection of the {seat} is closed: it sent text that is not UTF-8"]


def test_a_connection_that_falls_silent_does_not_keep_the_seat(tmp_path: Path) -> None:
    with house(tmp_path, SOON) as studio:
        visitor, session, seat = begin(tmp_path, studio)
        player = visitor.sit(session, seat)
        while not any(message.get("state") == "playing" for message in player.messages):
            player.move()
            player.receive(0.2)
        ending = player.until("end")  # from here on it sends nothing, and its connection stays open
        player.close()
        lines = logged(studio)
    assert ending["why"] == "left"
    (line,) = lines
    assert line.startswith(f"I session {session}: nothing was received from the {seat} for ")
    assert line.endswith(" s, though its connection is open")


def test_a_session_does_not_wait_for_a_person_that_never_comes(tmp_path: Path) -> None:
    with house(tmp_path, replace(LIVE, setter="scripted", leave_seconds=0.5)) as studio:
        _, session, _ = begin(tmp_path, studio)
        watcher = LiveVisitor(studio.origin)
        watcher.enter(studio.code)
        ending = watcher.sit(session, "watch").until("end", 60)
        lines = logged(studio)
    assert ending["why"] == "left"
    assert lines == [f"I session {session}: the solver has left the page or lost the connection, and has not come back"]
