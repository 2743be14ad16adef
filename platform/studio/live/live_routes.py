"""Routes of live sessions: consent, the lobby, and the socket of a seat."""

from __future__ import annotations

import asyncio
import json
import time
from typing import Annotated, Any

from fastapi import APIRouter, Depends, HTTPException, Request, WebSocket
from pydantic import BaseModel, ConfigDict
from starlette.requests import HTTPConnection
from starlette.websockets import WebSocketDisconnect, WebSocketState

from interplay.episodes.episode import DONE, FAILED
from interplay.studio.live.hosted_session import REFUSED, HostedSession, Viewer
from interplay.studio.live.live_house import LiveHouse
from interplay.studio.live.picture_wire import BadMessage, read_input
from interplay.studio.live.session_settings import SETTER, WATCH
from interplay.studio.people.person import Person
from interplay.studio.web.access import Researcher, person_of, studio_of, with_role
from interplay.studio.web.rate_limit import RateLimit

router = APIRouter()
SomePlayer = Annotated[Person, Depends(with_role("play"))]
STUDY, CONSENT_VERSION = "live", 1
CONSENT = (
    "You play with another person or a program in a simulated world. What you do and type is recorded under a "
    "pseudonym with the time, and agents learn from it. You may stop at any time."
)
MUST = "I am 18 or older, and what I do and type here may be recorded and used for research."
MESSAGE_BYTES = 4096


class Visit(BaseModel):
    """A sign of life from the lobby."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    ready: bool = False


class PlayConsent(BaseModel):
    """The version of the text that a person agrees to."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    version: int


def house_of(connection: HTTPConnection) -> LiveHouse:
    """The live sessions of the studio that the route belongs to."""
    house: LiveHouse = connection.app.state.live
    return house


@router.get("/api/live")
async def about(request: Request, person: SomePlayer) -> dict[str, Any]:
    """What a person needs to know before it plays, and whether it has agreed."""
    config = house_of(request).config
    return {
        "consent": CONSENT,
        "must": MUST,
        "version": CONSENT_VERSION,
        "agreed": _has_agreed(request, person),
        "partner": config.setter,
        "seconds": config.seconds,
    }


@router.post("/api/live/consent")
async def consent(agreement: PlayConsent, request: Request, person: SomePlayer) -> dict[str, Any]:
    """Keeps a person's agreement with the text as it was shown."""
    if agreement.version != CONSENT_VERSION:
        raise HTTPException(409, "the text has changed; read the new one")
    studio = studio_of(request)
    studio.consents.keep(person.id, STUDY, CONSENT_VERSION, CONSENT, [MUST])
    studio.audit.note("consent", person.id, study=STUDY, version=CONSENT_VERSION)
    return {}


@router.post("/api/live/join")
async def join(visit: Visit, request: Request, person: SomePlayer) -> dict[str, Any]:
    """Waits for a partner; the page asks each second. Names the session once there is one."""
    house = house_of(request)
    if not _has_agreed(request, person):
        raise HTTPException(409, "read and accept what is recorded first")
    if person.paused:
        raise HTTPException(409, f"you are paused: {person.paused}")
    found = house.session_of(person.id)
    if found is None and house.is_full():
        return {"state": "full"}
    state = {"state": "session"} if found else house.lobby.visit(person.id, ready=visit.ready)
    if state["state"] == "session" and (found := house.session_of(person.id)) is not None:
        session, seat = found
        return {"state": "session", "session": session.settings.session, "seat": seat}
    return state


@router.post("/api/live/quit")
async def leave_lobby(request: Request, person: SomePlayer) -> dict[str, Any]:
    """Stops waiting."""
    house_of(request).lobby.leave(person.id)
    return {}


@router.get("/api/live/sessions")
async def sessions(request: Request, _: Researcher) -> dict[str, Any]:
    """The sessions of this start: phase and people."""
    return {
        "sessions": [
            {"session": name, "phase": each.phase, "people": each.people, "process": each.pid}
            for name, each in house_of(request).sessions.items()
        ]
    }


@router.websocket("/live/{session}/{seat}")
async def seat_socket(websocket: WebSocket, session: str, seat: str) -> None:
    """A seat: inputs and words up, pictures and news down. Anything unknown closes it with a reason."""
    await websocket.accept()
    house = house_of(websocket)
    hosted, problem = _allowed(websocket, house, session, seat)
    if hosted is None:
        await websocket.close(REFUSED, problem)
        return
    viewer = Viewer(websocket, seat)
    hosted.attach(viewer)
    sender = asyncio.create_task(viewer.send())
    try:
        await SeatReader(hosted, viewer, house).read()
    except BadMessage as error:
        viewer.close(str(error)[:100], REFUSED)
        await sender
    except WebSocketDisconnect:
        pass
    except RuntimeError:  # of a socket that was closed here while it was read
        if websocket.application_state is WebSocketState.CONNECTED:
            raise
    finally:
        hosted.detach(viewer)
        sender.cancel()


def _allowed(websocket: WebSocket, house: LiveHouse, session: str, seat: str) -> tuple[HostedSession | None, str]:
    """The session if this person may sit there, or why not."""
    try:
        person = person_of(websocket)
    except HTTPException as error:
        return None, str(error.detail)
    hosted = house.sessions.get(session)
    if hosted is None or hosted.ended is not None:
        return None, "there is no such session"
    watches = seat == WATCH and "research" in person.roles
    if not watches and hosted.people.get(seat) != person.id:
        return None, "this is not your seat"
    return hosted, ""


class SeatReader:
    """Reads the messages of one socket."""

    def __init__(self, hosted: HostedSession, viewer: Viewer, house: LiveHouse) -> None:
        self._hosted, self._viewer = hosted, viewer
        live = house.config
        self._plays = viewer.seat in hosted.people
        self._inputs = RateLimit(live.inputs_per_second, seconds=1.0)
        self._utterances = RateLimit(live.utterances, seconds=live.utterance_seconds)
        self._live = live

    async def read(self) -> None:
        """Reads until the socket ends. Raises BadMessage."""
        while True:
            message = await self._viewer.websocket.receive()
            if message["type"] == "websocket.disconnect":
                return
            self._viewer.seen = time.monotonic()
            data, text = message.get("bytes"), message.get("text")
            if data is not None:
                self._input(data)
            elif text is not None:
                self._speak(_parsed(text))

    def _input(self, data: bytes) -> None:
        given = read_input(data)
        self._viewer.shown(given.shown)
        if not self._plays:
            return
        if self._live.clock == "real" and not self._inputs.allows(""):
            raise BadMessage(f"more than {self._live.inputs_per_second} inputs a second")
        self._hosted.send(
            kind="input", seat=self._viewer.seat, held=given.held, seq=given.seq, right=given.right, up=given.up
        )

    def _speak(self, message: dict[str, Any]) -> None:
        kind, seat = message.pop("kind", None), self._viewer.seat
        match kind, message:
            case "say", {"text": str(text)} if self._plays and len(message) == 1:
                self._say(text)
            case "verdict", {"verdict": "done" | "failed" as verdict} if self._judges(message):
                self._hosted.send(kind="verdict", verdict={"done": DONE, "failed": FAILED}[verdict])
            case "leave", {} if self._plays and not message:
                self._hosted.end("setter" if seat == SETTER else "left")
            case "release", {} if self._plays and not message:
                self._hosted.send(kind="release", seat=seat)
            case _:
                raise BadMessage("a message that this seat does not have")

    def _judges(self, message: dict[str, Any]) -> bool:
        return self._viewer.seat == SETTER and self._plays and len(message) == 1

    def _say(self, text: str) -> None:
        text = " ".join(text.split())
        if not text or not text.isprintable() or len(text) > self._live.utterance_letters:
            raise BadMessage(f"an utterance has 1 to {self._live.utterance_letters} letters")
        if not self._utterances.allows(""):
            self._viewer.tell({"kind": "notice", "text": "You are talking too fast; wait a little."})
            return
        self._hosted.send(kind="say", seat=self._viewer.seat, text=text)


def _has_agreed(request: HTTPConnection, person: Person) -> bool:
    return studio_of(request).consents.given(person.id, STUDY, CONSENT_VERSION)


def _parsed(text: str) -> dict[str, Any]:
    if len(text) > MESSAGE_BYTES:
        raise BadMessage(f"a message has at most {MESSAGE_BYTES} bytes")
    try:
        message = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise BadMessage("a message is JSON") from error
    if not isinstance(message, dict):
        raise BadMessage("a message is a JSON object")
    return message
