"""A live session in the web process: the process of its world, its sockets, and the people in its seats."""

from __future__ import annotations

import asyncio
import logging
import socket
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from interplay.stages.live_config import COPILOT, PERSON, SETTER
from interplay.studio.live.picture_wire import picture_frame
from interplay.studio.live.session_journal import is_begun
from interplay.studio.live.session_settings import SEATS, WATCH, SessionSettings
from interplay.studio.live.viewer import REFUSED, Viewer, hello, role_of
from interplay.studio.live.world_process import WorldProcess

logger = logging.getLogger(__name__)

COUNTDOWN_SECONDS = 3.0
WATCH_SECONDS = 0.25  # between two looks at the seats
STALL_SECONDS = 1.0  # without a message; pages send two a second: a held key may have been let go since
MOST_RESTARTS = 5
NOT_EXECUTED = 'The episode was over before these letters of yours were executed, and they are not in it: "{typed}".'
# Outcomes of the study for people that stay, by why their session has ended early.
EARLY_OUTCOMES = {"left": "partner_left", "void": "partner_left", "failed": "technical", "interrupted": "technical"}


class HostedSession:
    """One session. `over` is called once, with the session and the last message of its process.

    Phases: lobby (until every person is there), countdown, playing, paused (a person is away, or the process is being
    restarted), ended.
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
        self._why = ""  # the reason for the phase
        self.viewers: dict[str, list[Viewer]] = {seat: [] for seat in SEATS}
        self.started: dict[str, Any] | None = None
        self.ended: dict[str, Any] | None = None
        self.left_off: float | None = None  # when an earlier start of the studio last played it, until it continues
        self._over = over
        self._connect_agents = connect_agents
        self._symbols: dict[str, str] = {}  # by role, also while the process is made again
        self._last_news: dict[str, dict[str, Any]] = {}
        self._dialogue: list[dict[str, Any]] = []
        self._process = WorldProcess(settings)
        self._resume = False  # whether the process is to continue a journal
        self._tasks: list[asyncio.Task[None]] = []
        self._restarts = 0
        self._away_since: float | None = None
        self.endings: dict[str, dict[str, Any]] = {}  # by pseudonym, the last message to the page
        self._left: set[str] = set()  # seats in which another player plays on
        self._leavers: set[str] = set()  # see `end`
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
        if self.phase != "ended":
            self._process.send(message)

    def attach(self, viewer: Viewer) -> None:
        """Adds a socket. A person's newer socket replaces the older one."""
        if viewer.seat in self.people:
            if any(map(viewer.is_older, self.viewers[viewer.seat])):
                viewer.close("this page has connected again since", REFUSED)
                return
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
        return self._symbols.get(role_of(seat), "")

    def end(self, why: str, leavers: Iterable[str] = ()) -> None:
        """Ends the session; one whose process has not started yet ends once it has.

        `leavers`: the seats of people that end it by leaving, which get no code of those that stay.
        """
        self._ending = why
        self._leavers.update(leavers)
        if self.started is not None:
            self.send(kind="end", why=why)

    def leave(self, seat: str) -> None:
        """A person leaves: a setter ends the episode, others do what `live.on_leave` sets."""
        if seat == SETTER or not self._replace([seat]):
            self.end("setter" if seat == SETTER else "left", [seat])

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
        ending = {"kind": "end", "why": "left"}
        if seat in self.settings.people:
            self.endings[self.settings.people[seat]] = ending
        self._tell(ending, [seat])
        for viewer in self.viewers[seat]:
            viewer.close("you have left the episode")
        self.viewers[seat] = []

    async def close(self) -> None:
        """Stops the process; the journal stays, and a later start continues it."""
        for task in self._tasks:
            task.cancel()
        await self._process.close()

    @property
    def pid(self) -> int | None:
        """The process that runs the session, while there is one."""
        return self._process.pid

    async def _host(self, resume: bool) -> None:
        """Runs the process, and makes it again from the journal where it dies."""
        while self.ended is None and self._restarts <= MOST_RESTARTS:
            self._resume = resume
            try:
                await self._process.run(self._connect_agents if self.settings.agents else None, self._take)
            except ConnectionError as error:
                self._finish({"kind": "ended", "why": "failed", "path": "", "text": str(error)})
                return
            self.started = None
            await self._process.ended()
            if self.ended is None:
                logger.warning("session %s: its process ended; it is made again", self.settings.session)
                self._enter("paused", "the world is being rebuilt")
                resume, self._restarts = is_begun(Path(self.settings.journal)), self._restarts + 1
        if self.ended is None:
            self._finish({"kind": "ended", "why": "interrupted", "path": ""})

    def _take(self, message: dict[str, Any] | bytes) -> None:
        """Takes a message of the process."""
        if isinstance(message, bytes):
            for viewer in self.viewers[SEATS[picture_frame(message)[0]]]:
                viewer.show(message)
            return
        match message["kind"]:
            case "ready":
                self.send(kind="resume" if self._resume else "begin")
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
            case "notice" | "judge" | "accepted":
                self._tell(message, [message["seat"]])
            case kind:
                if kind == "said":
                    self._dialogue.append(message)
                elif kind == "dialogue":  # letters that are not executed have left it
                    self._dialogue = list(message["dialogue"])
                self._last_news[kind] = message
                self._tell(message)

    def _begin(self, message: dict[str, Any]) -> None:
        self.started, self._symbols = message, message["symbols"]
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
        viewer.tell(hello(viewer.seat, self.settings, self.started, self._dialogue))
        if viewer.seat == SETTER:
            viewer.tell(self._last_news["card"])
        if viewer.seat == COPILOT or (viewer.seat == WATCH and self.settings.live.copilot == PERSON):
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
            now = time.monotonic()
            for seat in self._silent(now, STALL_SECONDS) if self.phase == "playing" else ():
                self.send(kind="stall", seat=seat)
            self._step_phase(now)

    def _step_phase(self, now: float) -> None:
        live, away = self.settings.live, self._away(now)
        if self.started is None:
            return
        if away:
            self._away_since = self._away_since or now
            if self.phase in ("playing", "countdown"):
                self.send(kind="pause", on=True)
                self._enter("paused", f"the {' and the '.join(away)} {'is' if len(away) == 1 else 'are'} away")
            # Where an earlier start of the studio has left off, people first have to come back.
            patience = live.resume_seconds if self.phase == "lobby" and self._resume else live.leave_seconds
            if now - self._away_since <= patience:
                return
            if not self._ending:
                logger.info("session %s: %s", self.settings.session, "; ".join(map(self._absence, away)))
            if self.phase == "lobby" or not self._replace(away):
                # A session that an earlier start had played, and whose people did not come back, was interrupted.
                self.end("interrupted" if self.phase == "lobby" and self.started["frame"] else "left", away)
            return
        self._away_since = None
        if self.phase in ("lobby", "paused"):
            self._enter("countdown", "")
        wait = COUNTDOWN_SECONDS if live.clock == "real" else 0.0
        if self.phase == "countdown" and now - self.since >= wait:
            self._enter("playing", "")
            self.send(kind="pause", on=False)

    def _away(self, now: float) -> list[str]:
        """The seats whose person has no socket, or from which nothing was received for `live.away_seconds`."""
        return self._silent(now, self.settings.live.away_seconds)

    def _silent(self, now: float, seconds: float) -> list[str]:
        """The seats whose person has no socket, or from which nothing was received for longer than this."""
        limit = seconds if self.settings.live.clock == "real" else float("inf")
        return [seat for seat in self.people if not any(now - viewer.seen <= limit for viewer in self.viewers[seat])]

    def _absence(self, seat: str) -> str:
        """Why the person of a seat counts as gone."""
        seen = max((viewer.seen for viewer in self.viewers[seat]), default=None)
        if seen is None:
            return f"the {seat} has left the page or lost the connection, and has not come back"
        silent = time.monotonic() - seen
        return f"nothing was received from the {seat} for {silent:.0f} s, though its connection is open"

    def _enter(self, phase: str, why: str) -> None:
        self.phase, self.since, self._why = phase, time.monotonic(), why
        if phase == "playing":
            self.left_off = None
        self._tell(self._state())

    def _state(self) -> dict[str, Any]:
        state: dict[str, Any] = {"kind": "state", "state": self.phase, "why": self._why}
        if self.phase == "paused" and self._away_since is not None:
            left = self.settings.live.leave_seconds - (time.monotonic() - self._away_since)
            state["seconds"] = max(0.0, round(left, 1))
        if self.phase == "countdown":
            state["seconds"] = COUNTDOWN_SECONDS
        return state

    def _tell(self, message: dict[str, Any], seats: list[str] | None = None) -> None:
        for seat in SEATS if seats is None else seats:
            for viewer in self.viewers[seat]:
                viewer.tell(message)

    def _finish(self, message: dict[str, Any]) -> None:
        self.ended = message
        self.phase, self._why = "ended", message["why"]
        self._note_endings(message["why"], message.get("unexecuted", {}))
        try:
            self._over(self, message)
        finally:  # people go on even if the episode could not be listed; the next start of the studio lists it
            self._release_people(message)

    def _note_endings(self, why: str, unexecuted: dict[str, str]) -> None:
        """Keeps the last message to each person's page, also for pages that have no connection at this moment."""
        texts = {seat: NOT_EXECUTED.format(typed=typed) for seat, typed in unexecuted.items()}
        known = why != "left" or self._leavers  # unknown where a killed studio had ended the session
        way_back = self.settings.ways_back.get(EARLY_OUTCOMES.get(why, ""), {}) if known else {}
        for seat, person in self.people.items():
            text = {"text": texts[seat]} if seat in texts else {}
            self.endings[person] = {"kind": "end", "why": why, **text, **({} if seat in self._leavers else way_back)}

    def _release_people(self, message: dict[str, Any]) -> None:
        """Sends everyone the end of the session, and closes the sockets."""
        if problem := message.get("text", ""):
            logger.warning("session %s: %s", self.settings.session, problem)
        for seat, person in self.people.items():
            self._tell(self.endings[person], [seat])
        # People play blind: the agent that has failed stays unnamed.
        self._tell({"kind": "end", "why": message["why"], "text": problem}, [WATCH])
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
        self._process.kill()
        if self.ended is None:
            self._finish({"kind": "ended", "why": "interrupted", "path": ""})
