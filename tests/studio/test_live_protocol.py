"""Two people over the real protocol: what they do becomes an episode, also where the session's process is killed."""

from __future__ import annotations

import json
import os
import random
import signal
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
import simplejpeg
from studio_process import StartedStudio, started
from test_live_session import ROOM, check_replay
from websockets.sync.client import ClientConnection

from interplay.episodes.episode import Episode
from interplay.episodes.store import EpisodeStore
from interplay.stages.live_config import LiveConfig
from interplay.stages.studio_config import StudioConfig
from interplay.studio.live.live_client import LivePlayer, LiveRefused, LiveVisitor
from interplay.studio.live.picture_wire import SHOWN
from interplay.studio.people.invitation import Invitations
from interplay.studio.people.studio_database import StudioDatabase

LIVE = LiveConfig(clock="stepped", seconds=1.6, away_seconds=60)  # 48 frames: 6 steps
FRAMES = 48


JUNK: list[Any] = [
    {"kind": 7}, {"kind": "say"}, {"kind": "say", "text": "", "id": "u"}, {"kind": "say", "text": 3, "id": "u"},
    {"kind": "say", "text": "x" * 300, "id": "u"}, {"kind": "say", "text": "a\0b", "id": "u"}, {"say": "say"},
    {"kind": "say", "text": "a"}, *({"kind": "say", "text": "a", "id": each} for each in (3, "", "u" * 65, "\ud800")),
    {"kind": "verdict", "verdict": "perhaps"},
    {"kind": "verdict", "verdict": "done", "why": 1}, {"kind": "leave", "why": 1}, {"kind": "void"},
]  # fmt: skip


@contextmanager
def house(root: Path, live: LiveConfig = LIVE) -> Iterator[StartedStudio]:
    with started(root, ROOM, StudioConfig(size=(48, 64), live=live)) as studio:
        yield studio


def researcher(studio: StartedStudio) -> LiveVisitor:
    visitor = LiveVisitor(studio.origin)
    visitor.enter(studio.code)
    return visitor


def invited(root: Path, studio: StartedStudio, count: int, roles: tuple[str, ...] = ("play",)) -> list[LiveVisitor]:
    """People that came in by an invitation, which is written into the database of the running studio."""
    database = StudioDatabase(root / "studio" / "studio.db")
    code = Invitations(database).make(roles, uses=count, seconds=600)
    database.close()
    visitors = [LiveVisitor(studio.origin) for _ in range(count)]
    for visitor in visitors:
        visitor.enter(code)
    return visitors


def seated(visitors: list[LiveVisitor]) -> dict[str, LivePlayer]:
    """Both in the lobby, and then each in its seat.

    They ask at the same time: the lobby pairs a person only with one that has asked within the last seconds.
    """
    about = visitors[0].get("/api/live")
    for visitor in visitors:
        visitor.post("/api/live/consent", {"version": about["version"]})
        visitor.post("/api/live/join", {"ready": True})
    with ThreadPoolExecutor(len(visitors)) as pool:
        joined = list(pool.map(LiveVisitor.join, visitors))
    return {seat: visitor.sit(session, seat) for visitor, (session, seat) in zip(visitors, joined, strict=True)}


def play(players: dict[str, LivePlayer], frames: range) -> None:
    """Plays frame by frame; each frame's inputs depend on its number alone."""
    for frame in frames:
        rng = np.random.default_rng(frame)
        for player in players.values():
            player.move(int(rng.integers(1 << 12)), float(rng.normal(0, 3)), float(rng.normal(0, 1)))
        for player in players.values():
            while player.frame <= frame:
                assert player.receive() is not None, player.messages[-3:]


def only_episode(root: Path) -> Episode:
    with EpisodeStore(root / "store") as store:
        (identifier,) = store.ids()
        return store.read(identifier)


class WrittenSocket:
    """A socket from which these messages come."""

    def __init__(self, messages: list[str | bytes]) -> None:
        self._messages = messages

    def recv(self, timeout: float) -> str | bytes:
        if not self._messages:
            raise TimeoutError
        return self._messages.pop(0)


def test_a_message_that_came_before_the_last_picture_is_waited_for_no_more() -> None:
    picture = SHOWN.pack(2, 0, 0, FRAMES, 0, 0)
    notes = [json.dumps({"kind": "notice", "text": text}) for text in "ab"]
    player = LivePlayer(
        cast(ClientConnection, WrittenSocket([notes[0], '{"kind": "end"}', picture, notes[1]])), ExitStack()
    )
    while player.frame < FRAMES:
        assert player.receive() is not None
    assert player.until("notice")["text"] == "a" and player.until("end")
    assert player.until("notice")["text"] == "b"
    with pytest.raises(LiveRefused, match="no notice"):
        player.until("notice")


def test_two_people_make_an_episode_that_replays_bit_for_bit(tmp_path: Path) -> None:
    with house(tmp_path) as studio:
        visitors = invited(tmp_path, studio, 2)
        players = seated(visitors)
        assert set(players) == {"setter", "solver"}
        for player in players.values():
            hello = player.until("hello")
            assert [control["name"] for control in hello["controls"]][:2] == ["forward", "back"]
            player.until("state", state="playing")
        card = next(message for message in players["setter"].messages if message["kind"] == "card")
        assert card["text"] and not any(message["kind"] == "card" for message in players["solver"].messages)
        players["setter"].say("lift the   ball")
        play(players, range(20))
        players["setter"].send("verdict", verdict="done")
        play(players, range(20, FRAMES))
        height, width, *_ = simplejpeg.decode_jpeg_header(players["solver"].jpeg)
        assert (height, width) == (48, 64)
        for player in players.values():
            assert player.until("end")["why"] == "time"
            assert any(message["kind"] == "said" and message["text"] == "lift the ball" for message in player.messages)
    episode = only_episode(tmp_path)
    check_replay(episode)
    assert episode.meta.frames == FRAMES and episode.meta.ended == "time"
    assert set(episode.meta.people) == {"setter", "solver"} and len(set(episode.meta.people.values())) == 2
    assert [each.verdict for each in episode.meta.prompts] == ["done", None]
    assert not list((tmp_path / "studio" / "journals").iterdir()), "the journal of a stored episode is removed"


@pytest.mark.parametrize("by_researcher", [False, True])
def test_an_episode_whose_player_is_deleted_ends_and_is_not_kept(tmp_path: Path, by_researcher: bool) -> None:
    with house(tmp_path) as studio:
        visitors = invited(tmp_path, studio, 2)
        names = {visitor.get("/api/me")["person"]: visitor for visitor in visitors}
        players = seated(visitors)
        for player in players.values():
            player.until("state", state="playing")
        play(players, range(16))
        deleted, visitor = next(iter(names.items()))
        if by_researcher:
            researcher(studio).post(f"/api/desk/people/{deleted}/forget", {"person": deleted})
        else:
            visitor.post("/api/data/delete", {"person": deleted})
        for player in players.values():
            assert player.until("end")["why"] == "void", "nobody is told that it is saved"
    with EpisodeStore(tmp_path / "store") as store:
        store.reindex()
        assert not store.ids()
    assert not list((tmp_path / "studio" / "journals").iterdir())


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_a_killed_process_goes_on_in_the_same_step(tmp_path: Path, seed: int) -> None:
    cut = random.Random(seed).randrange(1, FRAMES - 1)
    with house(tmp_path) as studio:
        players = seated(invited(tmp_path, studio, 2))
        for player in players.values():
            player.until("state", state="playing")
        play(players, range(cut))
        process = researcher(studio).get("/api/live/sessions")["sessions"][0]["process"]
        os.kill(process, signal.SIGKILL)
        for player in players.values():
            player.until("state", state="paused")
            player.until("state", state="playing")
        again = cut - cut % 8
        for player in players.values():
            player.frame = again
        play(players, range(again, FRAMES))
        assert {player.until("end")["why"] for player in players.values()} == {"time"}
    episode = only_episode(tmp_path)
    check_replay(episode)
    assert episode.meta.frames == FRAMES


@pytest.mark.slow
def test_a_killed_studio_goes_on_with_the_same_people(tmp_path: Path) -> None:
    with house(tmp_path) as studio:
        visitors = invited(tmp_path, studio, 2)
        players = seated(visitors)
        for player in players.values():
            player.until("state", state="playing")
        play(players, range(20))
        studio.process.kill()
    with house(tmp_path) as second:
        for visitor in visitors:
            # A cookie is named by the port; the same login is valid at the new one.
            for cookie in visitor._jar:
                cookie.name = f"interplay_studio_{second.origin.rpartition(':')[2]}"
            visitor.origin = second.origin
        players = seated(visitors)
        for player in players.values():
            player.until("state", state="playing")
            player.frame = 16
        play(players, range(16, FRAMES))
        for player in players.values():
            player.until("end")
    check_replay(only_episode(tmp_path))


@pytest.mark.slow
def test_fuzzed_messages_end_a_socket_with_a_reason(tmp_path: Path) -> None:
    junk: list[Any] = [
        b"", b"\x01", b"\xff" * 24, b"\x01" + b"\x00" * 15 + b"\xff" * 8, "", "{", "[]", "null", "[" * 4000, "x" * 5000,
        *map(json.dumps, JUNK),
    ]  # fmt: skip
    live = replace(LIVE, setter="scripted")
    with house(tmp_path, live) as studio:
        (visitor,) = invited(tmp_path, studio, 1)
        session, seat = visitor.join()
        assert seat == "solver"
        for message in junk:
            player = visitor.sit(session, seat)
            player.socket.send(message)
            while player.receive() is not None:
                pass
            assert player.socket.close_code == 1008 and player.socket.close_reason, f"{message!r}"
        player = visitor.sit(session, seat)
        player.until("state", state="playing")
        player.close()
        studio.process.terminate()
        assert studio.process.stdout is not None and "Traceback" not in studio.process.stdout.read()


def test_seats_belong_to_their_people(tmp_path: Path) -> None:
    with house(tmp_path, replace(LIVE, setter="scripted")) as studio:
        mine, other = invited(tmp_path, studio, 2)
        with pytest.raises(LiveRefused, match="read and accept"):
            mine.post("/api/live/join", {"ready": True})
        session, seat = mine.join()
        for stranger, where in ((other, seat), (mine, "setter"), (mine, "watch"), (other, "watch"), (mine, "nowhere")):
            socket = stranger.sit(session, where)
            assert socket.receive() is None and socket.socket.close_code == 1008
        first = mine.sit(session, seat)
        first.until("hello")
        second = mine.sit(session, seat)
        second.until("hello")
        while first.receive() is not None:
            pass
        assert "another tab" in first.socket.close_reason
        watcher = researcher(studio).sit(session, "watch")
        assert watcher.until("hello")["role"] == "watch"
        second.send("leave")
        assert second.until("end")["why"] == "left"
    assert not list((tmp_path / "store" / "episodes").glob("*/*.npz")), "an episode without a step is not stored"
