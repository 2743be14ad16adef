"""A session as the web process sees it: its process, its sockets, and the people in its seats."""

from __future__ import annotations

import asyncio
import logging
import socket
import sys
import time
from collections import deque
from collections.abc import Callable
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

from starlette.websockets import WebSocket, WebSocketDisconnect

from interplay.stages.live_config import COPILOT, PERSON, SETTER, SOLVER
from interplay.studio.live.picture_wire import packed, picture_frame, receive_packed
from interplay.studio.live.session_journal import is_begun
from interplay.studio.live.session_settings import SEATS, WATCH, SessionSettings

logger = logging.getLogger(__name__)

UNSEEN_PICTURES = 2  # sent to a viewer and not yet on its screen
COUNTDOWN_SECONDS = 3.0
WATCH_SECONDS = 0.25  # between two looks at the seats
MOST_RESTARTS = 5
NEWS_SECONDS = 30.0  # between two looks at what a viewer is to get, at most
EXIT_SECONDS = 10.0  # for a process to exit
NORMAL, REFUSED = 1000, 1008  # WebSocket close codes


class Viewer:
    """One socket of a seat: messages in order, and the newest picture if the browser keeps up."""

    def __init__(self, websocket: WebSocket, seat: str) -> None:
        self.websocket, self.seat = websocket, seat
        self.seen = time.monotonic()  # last sign of life
        self._messages: deque[dict[str, Any]] = deque()
        self._picture: bytes | None = None
        self._sent: deque[tuple[int, float]] = deque()  # (frame, when) of pictures not yet on the screen
        self._news = asyncio.Event()
        self.closing: tuple[int, str] | None = None  # code and reason, once it is to end

    def tell(self, message: dict[str, Any]) -> None:
        """Queues a message."""
        self._messages.append(message)
        self._news.set()

    def show(self, picture: bytes) -> None:
        """Queues a picture in place of one that still waits."""
        self._picture = picture
        self._news.set()

    def shown(self, frame: int) -> None:
        """Notes that the browser shows this frame."""
        while self._sent and self._sent[0][0] <= frame:
            self._sent.popleft()
        self._news.set()

    def restart(self) -> None:
        """Forgets the pictures on the way: after a kill the world continues at an earlier frame."""
        self._picture = None
        self._sent.clear()

    def lag(self) -> float:
        """For how long the oldest picture on the way has been on the way, in seconds."""
        return time.monotonic() - self._sent[0][1] if self._sent else 0.0

    def close(self, reason: str, code: int = NORMAL) -> None:
        """Ends the socket after what is queued."""
        self.closing = (code, reason)
        self._news.set()

    async def send(self) -> None:
        """Sends until the socket ends."""
        try:
            while True:
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._news.wait(), timeout=NEWS_SECONDS)
                self._news.clear()
                while self._messages:
                    await self.websocket.send_json(self._messages.popleft())
                if self._picture is not None and len(self._sent) < UNSEEN_PICTURES:
                    picture, self._picture = self._picture, None
                    self._sent.append((picture_frame(picture)[1], time.monotonic()))
                    await self.websocket.send_bytes(picture)
                if self.closing is not None:
                    await self.websocket.close(*self.closing)
                    return
        except (WebSocketDisconnect, RuntimeError):  # the browser is gone
            return


class HostedSession:
    """One session. `over` is called once with its last message.

    Phases: lobby (until every person is there), countdown, playing, paused (a person is away, or the process is being
    made again), ended.
    """

    def __init__(
        self,
        settings: SessionSettings,
        over: Callable[[HostedSession, dict[str, Any]], None],
        connect_agents: Callable[[], socket.socket],
    ) -> None:
        self.settings = settings
        self.phase = "lobby"
        self.since = time.monotonic()  # of the phase
        self.viewers: dict[str, list[Viewer]] = {seat: [] for seat in SEATS}
        self.started: dict[str, Any] | None = None
        self.ended: dict[str, Any] | None = None
        self._over = over
        self._connect_agents = connect_agents
        self._last_news: dict[str, dict[str, Any]] = {}
        self._dialogue: list[dict[str, Any]] = []
        self._writer: asyncio.StreamWriter | None = None
        self._process: asyncio.subprocess.Process | None = None
        self._tasks: list[asyncio.Task[None]] = []
        self._restarts = 0
        self._away_since: float | None = None
        self._left: set[str] = set()  # seats in which another player plays on
        self._ending = ""  # why the session is to end, for a process that has not started yet

    @property
    def people(self) -> dict[str, str]:
        """Pseudonyms by seat of those that have not left."""
        seats = self.settings.seats.items()
        return {seat: self.settings.people[seat] for seat, kind in seats if kind == PERSON and seat not in self._left}

    def start(self, *, resume: bool = False) -> None:
        """Starts the process and looks after the seats."""
        self._tasks = [asyncio.create_task(self._host(resume)), asyncio.create_task(self._look_after())]
        for task in self._tasks:
            task.add_done_callback(self._note_failure)

    def send(self, **message: Any) -> None:
        """Sends a message to the process, if there is one now."""
        if self._writer is not None and self.phase != "ended":
            self._writer.write(packed(message))

    def attach(self, viewer: Viewer) -> None:
        """Adds a socket. A person's newer socket replaces the older one."""
        if viewer.seat in self.people:
            for old in self.viewers[viewer.seat]:
                old.close("this seat is used in another tab now", REFUSED)
            self.viewers[viewer.seat] = []
        self.viewers[viewer.seat].append(viewer)
        if self.started is not None:
            self._greet(viewer)
        self.send(kind="view", seat=viewer.seat, lag=None)  # so that the seat is drawn for this viewer, also in a pause
        self._send_view(viewer.seat)

    def detach(self, viewer: Viewer) -> None:
        """Removes a socket, and releases what its person held."""
        if viewer in self.viewers[viewer.seat]:
            self.viewers[viewer.seat].remove(viewer)
            if viewer.seat in self.people:
                self.send(kind="release", seat=viewer.seat)
            self._send_view(viewer.seat)

    def symbols(self, seat: str) -> str:
        """The characters that a person types in this seat in place of words; empty where it speaks."""
        return "" if self.started is None else str(self.started["symbols"].get(seat, ""))

    def end(self, why: str) -> None:
        """Ends the session; one whose process has not started yet ends once it has."""
        self._ending = why
        if self.started is not None:
            self.send(kind="end", why=why)

    def leave(self, seat: str) -> None:
        """A person leaves: a setter ends the episode, others as `live.on_leave` says."""
        if seat == SETTER or not self._replace([seat]):
            self.end("setter" if seat == SETTER else "left")

    def _replace(self, seats: list[str]) -> bool:
        """Has other players play on in the seats of people that have left, if that is wanted and someone stays."""
        if self.settings.live.on_leave != "stand_in" or not set(self.people) - set(seats):
            return False
        for seat in seats:
            self.send(kind="replace", seat=seat)
            self._left.add(seat)
            self._dismiss(seat)
            self._send_view(seat)
            told = [WATCH] if seat == COPILOT else [*self.people, WATCH]  # a setter does not see a co-pilot
            self._tell({"kind": "notice", "text": f"The {seat} has left; a program plays on."}, told)
        return True

    def _dismiss(self, seat: str) -> None:
        """Closes the sockets of a seat whose person has left."""
        for viewer in self.viewers[seat]:
            viewer.tell({"kind": "end", "why": "left"})
            viewer.close("you have left the episode")
        self.viewers[seat] = []

    async def close(self) -> None:
        """Stops the process; the journal stays, and a later start continues it."""
        for task in self._tasks:
            task.cancel()
        if self._process is not None and self._process.returncode is None:
            self._process.kill()
            await asyncio.wait_for(self._process.wait(), timeout=EXIT_SECONDS)
        if self._writer is not None:
            self._writer.close()

    @property
    def pid(self) -> int | None:
        """The process that runs the session, while there is one."""
        return self._process.pid if self._process is not None and self._process.returncode is None else None

    async def _host(self, resume: bool) -> None:
        """Runs the process, and makes it again from the journal where it dies."""
        while self.ended is None and self._restarts <= MOST_RESTARTS:
            ours, theirs = socket.socketpair()
            with ExitStack() as handed:
                handed.enter_context(theirs)
                try:
                    agents = [handed.enter_context(self._connect_agents()).fileno()] if self.settings.agents else []
                except ConnectionError as error:
                    ours.close()
                    self._finish({"kind": "ended", "why": "failed", "path": "", "text": str(error)})
                    return
                self._process = await asyncio.create_subprocess_exec(
                    *(sys.executable, "-m", "interplay.studio.live.session_process", *map(str, agents)),
                    stdin=theirs.fileno(),
                    pass_fds=agents,
                )
            reader, self._writer = await asyncio.open_connection(sock=ours)
            self._writer.write(packed(self.settings.to_json()))
            await self._read(reader, resume)
            self._writer.close()
            self._writer = self.started = None
            await self._ended_process(self._process)
            if self.ended is None:
                logger.warning("session %s: its process ended; it is made again", self.settings.session)
                self._enter("paused", "the world is being rebuilt")
                resume, self._restarts = is_begun(Path(self.settings.journal)), self._restarts + 1
        if self.ended is None:
            self._finish({"kind": "ended", "why": "interrupted", "path": ""})

    async def _ended_process(self, process: asyncio.subprocess.Process) -> None:
        """Waits for a process that closed its socket; kills one that does not exit."""
        try:
            await asyncio.wait_for(process.wait(), timeout=EXIT_SECONDS)
        except TimeoutError:
            logger.warning("session %s: its process does not exit; it is killed", self.settings.session)
            process.kill()
            await asyncio.wait_for(process.wait(), timeout=EXIT_SECONDS)

    async def _read(self, reader: asyncio.StreamReader, resume: bool) -> None:
        while (message := await receive_packed(reader)) is not None:
            if isinstance(message, bytes):
                for viewer in self.viewers[SEATS[picture_frame(message)[0]]]:
                    viewer.show(message)
                continue
            match message["kind"]:
                case "ready":
                    self.send(kind="resume" if resume else "begin")
                case "started":
                    self._begin(message)
                case "ended":
                    self._finish(message)
                case "card":
                    self._last_news["card"] = message
                    self._tell(message, [SETTER])
                case "steers":  # not for the setter
                    self._last_news["steers"] = message
                    self._tell(message, [COPILOT, WATCH])
                case "notice" | "judge":
                    self._tell(message, [message["seat"]])
                case kind:
                    if kind == "said":
                        self._dialogue.append(message)
                    self._last_news[kind] = message
                    self._tell(message)

    def _begin(self, message: dict[str, Any]) -> None:
        self.started = message
        self._left.update(message["left"])
        for seat in self._left:  # after a restart of the studio their people may have come back
            self._dismiss(seat)
        self._dialogue = list(message["dialogue"])
        self._last_news = {news: message[news] for news in ("card", "steers")}
        for seat, viewers in self.viewers.items():
            for viewer in viewers:
                self._greet(viewer)
            self._send_view(seat)
        for seat in self._left.difference(message["left"]):  # the process was killed before it took that in
            self.send(kind="replace", seat=seat)
        if self._ending:
            self.send(kind="end", why=self._ending)
        if self.phase == "paused":
            self._away_since = None

    def _greet(self, viewer: Viewer) -> None:
        assert self.started is not None
        viewer.restart()
        live, role = self.settings.live, viewer.seat if viewer.seat in (SETTER, SOLVER) else SOLVER
        viewer.tell(
            {
                "kind": "hello",
                "version": 1,
                "role": viewer.seat,
                "controls": self.started["controls"].get(role, []),
                "rate": self.started["rate"],
                "frames": self.started["frames"],
                "words": self.started["words"],
                "symbols": self.started["symbols"].get(role, ""),
                "pictures": self.started["pictures"],
                "seconds": live.seconds,
                "size": list(self.settings.size),
                "limits": {"letters": live.utterance_letters},
                "take_over_by": live.take_over_by,
                "idle": live.idle_seconds,
                "practice": not self.settings.recorded,
                "dialogue": self._dialogue,
            }
        )
        if viewer.seat == SETTER:
            viewer.tell(self._last_news["card"])
        if viewer.seat == COPILOT or (viewer.seat == WATCH and live.copilot == PERSON):
            viewer.tell(self._last_news["steers"])
        viewer.tell(self._state())

    def _send_view(self, seat: str) -> None:
        viewers = self.viewers[seat]
        self.send(kind="view", seat=seat, lag=max((viewer.lag() for viewer in viewers), default=None))

    async def _look_after(self) -> None:
        """Watches over the seats: begins when everyone is there, pauses while a person is away, ends when it stays."""
        while self.ended is None:
            await asyncio.sleep(WATCH_SECONDS if self.settings.live.clock == "real" else 0.01)
            for seat, viewers in self.viewers.items():
                if viewers:
                    self._send_view(seat)
            self._step_phase(time.monotonic())

    def _step_phase(self, now: float) -> None:
        live, away = self.settings.live, self._away(now)
        if self.started is None or self._writer is None:
            return
        if away:
            self._away_since = self._away_since or now
            if self.phase in ("playing", "countdown"):
                self.send(kind="pause", on=True)
                self._enter("paused", f"the {' and the '.join(away)} is away")
            patience = live.resume_seconds if self.phase == "lobby" else live.leave_seconds
            if now - self._away_since > patience and not (self.phase != "lobby" and self._replace(away)):
                # A session that an earlier start had played, and whose people did not come back, was interrupted.
                self.end("interrupted" if self.phase == "lobby" and self.started["frame"] else "left")
            return
        self._away_since = None
        if self.phase in ("lobby", "paused"):
            self._enter("countdown", "")
        wait = COUNTDOWN_SECONDS if live.clock == "real" else 0.0
        if self.phase == "countdown" and now - self.since >= wait:
            self._enter("playing", "")
            self.send(kind="pause", on=False)

    def _away(self, now: float) -> list[str]:
        """The seats whose person has no socket, or has given no sign of life."""
        limit = self.settings.live.away_seconds if self.settings.live.clock == "real" else float("inf")
        return [seat for seat in self.people if not any(now - viewer.seen <= limit for viewer in self.viewers[seat])]

    def _enter(self, phase: str, why: str) -> None:
        self.phase, self.since, self._why = phase, time.monotonic(), why
        self._tell(self._state())

    _why = ""

    def _state(self) -> dict[str, Any]:
        state: dict[str, Any] = {"kind": "state", "state": self.phase, "why": self._why}
        if self.phase == "paused" and self._away_since is not None:
            left = self.settings.live.leave_seconds - (time.monotonic() - self._away_since)
            state["seconds"] = max(0.0, round(left, 1))
        if self.phase == "countdown":
            state["seconds"] = COUNTDOWN_SECONDS
        return state

    def _tell(self, message: dict[str, Any], seats: list[str] | None = None) -> None:
        for seat in seats or SEATS:
            for viewer in self.viewers[seat]:
                viewer.tell(message)

    def _finish(self, message: dict[str, Any]) -> None:
        self.ended = message
        self.phase, self._why = "ended", message["why"]
        try:
            self._over(self, message)
        finally:  # people go on even if the episode could not be listed; the next start of the studio lists it
            self._release_people(message)

    def _release_people(self, message: dict[str, Any]) -> None:
        """Tells everyone that the session has ended, and closes the sockets."""
        if problem := message.get("text", ""):
            logger.warning("session %s: %s", self.settings.session, problem)
        ending = {"kind": "end", "why": message["why"]}
        self._tell(ending, [*self.people])  # people play blind: the agent that has failed stays unnamed
        self._tell({**ending, "text": problem}, [WATCH])
        for viewers in self.viewers.values():
            for viewer in viewers:
                viewer.close("the episode has ended")

    def _note_failure(self, task: asyncio.Task[None]) -> None:
        """Ends the session where one of its tasks has failed; its journal stays for the next start of the studio."""
        if task.cancelled() or (error := task.exception()) is None:
            return
        logger.error("session %s failed", self.settings.session, exc_info=error)
        for each in self._tasks:
            each.cancel()
        if self._process is not None and self._process.returncode is None:
            self._process.kill()
        if self.ended is None:
            self._finish({"kind": "ended", "why": "interrupted", "path": ""})
