"""Routes of live sessions: consent, the lobby, and the socket of a seat."""

from __future__ import annotations

import asyncio
import json
import logging
import time
from typing import Annotated, Any
from unicodedata import category

from fastapi import APIRouter, Depends, HTTPException, WebSocket
from starlette.requests import HTTPConnection
from starlette.websockets import WebSocketDisconnect, WebSocketState

from interplay.episodes.episode import DONE, FAILED
from interplay.stages.live_config import COPILOT, PERSON, SETTER, SOLVER, LiveConfig
from interplay.studio.live.hosted_session import HostedSession
from interplay.studio.live.picture_wire import BadMessage, read_input
from interplay.studio.live.session_settings import WATCH
from interplay.studio.live.shared_control import REASONS
from interplay.studio.live.studio_sessions import StudioSessions
from interplay.studio.live.viewer import GONE, NORMAL, REFUSED, Viewer
from interplay.studio.people.person import Person
from interplay.studio.studies.study import FIRST_PLAY, Strict, Study
from interplay.studio.studies.study_routes import agree
from interplay.studio.web.access import Researcher, Studio, person_of, with_role
from interplay.studio.web.rate_limit import RateLimit
from interplay.studio.web.studio_context import StudioContext

router = APIRouter()
logger = logging.getLogger(__name__)
SomePlayer = Annotated[Person, Depends(with_role("play", "copilot"))]
MESSAGE_BYTES = 4096
# Over which the inputs of a socket are limited: what a browser sends during a pause of its connection comes at once.
BURST_SECONDS = 15
ID_LETTERS = 64  # of an utterance's id, at most
TOO_FAST = "You are talking too fast; wait a little, and press Enter again."
# Close codes of connections whose data breaks the protocol of WebSockets, with what it was.
BROKEN = {1002: "a broken frame", 1007: "text that is not UTF-8", 1009: "a message that is too long"}
UNTYPED = ("Cc", "Cs")  # Unicode categories that no keyboard types: control characters and halves of surrogate pairs


class Visit(Strict):
    """A request that the page of a waiting person sends each second, to the lobby of a study."""

    ready: bool = False
    study: str = FIRST_PLAY.name


class Practice(Strict):
    """The study while waiting for which a person practices."""

    study: str = FIRST_PLAY.name


class PlayConsent(Strict):
    """The version of the text that a person agrees to, by ticking all that has to be ticked."""

    version: int
    study: str = FIRST_PLAY.name


async def sessions_of(connection: HTTPConnection) -> StudioSessions:
    """The live sessions of the studio that the route belongs to."""
    live: StudioSessions = connection.app.state.live
    return live


Sessions = Annotated[StudioSessions, Depends(sessions_of)]


@router.get("/api/live")
async def about(live: Sessions, studio: Studio, person: SomePlayer, study: str = FIRST_PLAY.name) -> dict[str, Any]:
    """What a person needs to know before it plays in a study, how far it is in it, and how its last session ended."""
    found = _study(studio, person, study)
    config = _live_config(studio, found)
    standing = studio.progression.standing(person, found)
    return {
        "study": found.name,
        "version": found.consent.version,
        "agreed": standing.stage != "consent",
        "standing": standing.to_json(found),
        "last": live.ending_of(person.id, found.name),
        "seats": [seat for seat, kind in config.seats.items() if kind == PERSON],
        "seconds": config.seconds,
        "practice": config.practice,
    }


@router.post("/api/live/consent")
async def consent(agreement: PlayConsent, studio: Studio, person: SomePlayer) -> dict[str, Any]:
    """Keeps a person's agreement with the text as it was shown."""
    found = _study(studio, person, agreement.study)
    agree(studio, person, found, agreement.version, found.consent.must)
    return {}


@router.post("/api/live/join")
async def join(visit: Visit, live: Sessions, studio: Studio, person: SomePlayer) -> dict[str, Any]:
    """Waits for a partner; the page repeats the request each second. Returns the session once there is one."""
    study = _study(studio, person, visit.study)
    if (seated := _seated(live, person)) is not None:
        return seated
    standing = studio.progression.standing(person, study)
    if standing.stage == "consent":
        raise HTTPException(409, "read and accept what is recorded first")
    if standing.stage == "over":
        raise HTTPException(409, f"you are paused: {person.paused}" if person.paused else "this study is over for you")
    _live_config(studio, study)
    if live.is_full():
        return {"state": "full"}
    if (problem := await live.prepare(study)) is not None:
        if "research" not in person.roles:
            problem.pop("text", None)  # it may name the agent, which people play with blind
        return problem
    if studio.people.find(person.id) is None:
        raise HTTPException(401, "what was kept of you has been deleted")
    if (seated := _seated(live, person)) is not None:  # by another tab, while the agents were checked
        return seated
    if live.is_full():  # by others, in that time
        return {"state": "full"}
    state = live.lobby(study).visit(person.id, ready=visit.ready)
    if state["state"] == "no_partner":
        state |= study.way_back("no_partner")
    return (_seated(live, person) or state) if state["state"] == "session" else state


@router.post("/api/live/practice")
async def practice(wanted: Practice, live: Sessions, studio: Studio, person: SomePlayer) -> dict[str, Any]:
    """Opens a room of the person's own while it waits; nothing in it is recorded."""
    study = _study(studio, person, wanted.study)
    if not _live_config(studio, study).practice or studio.progression.standing(person, study).stage != "play":
        raise HTTPException(409, "there is no practice room for you now")
    if live.session_of(person.id, practice=True) is None and live.is_full(practice=True):
        raise HTTPException(409, "all rooms for practice are taken; try again in a while")
    session = live.practice(study, person.id)
    return {"session": session.settings.session, "seat": SOLVER}


@router.post("/api/live/quit")
async def leave_lobby(live: Sessions, person: SomePlayer) -> dict[str, Any]:
    """Stops waiting."""
    live.leave(person.id)
    return {}


@router.get("/api/live/sessions")
async def sessions(live: Sessions, _: Researcher) -> dict[str, Any]:
    """The sessions of this start, of those that have ended the last ones: phase and people."""
    return {
        "sessions": [
            {"session": name, "phase": each.phase, "people": each.people, "process": each.pid}
            for name, each in live.sessions.items()
        ],
        "agents": live.agents.pid,
    }


@router.websocket("/live/{session}/{seat}")
async def seat_socket(
    websocket: WebSocket, session: str, seat: str, live: Sessions, page: str = "", number: int = 0
) -> None:
    """A seat: inputs and words up, pictures and news down. Anything unknown closes it with a reason.

    A browser's connections of one `page` replace each other in the order of their `number`.
    """
    await websocket.accept()
    hosted, code, problem = _allowed(websocket, live, session, seat)
    if hosted is None:
        await websocket.close(code, problem)
        return
    viewer = Viewer(websocket, seat, page, number)
    hosted.attach(viewer)
    sender = asyncio.create_task(viewer.send())
    try:
        await SeatReader(hosted, viewer).read()
    except BadMessage as error:
        logger.warning("session %s: the connection of the %s is closed: %s", session, seat, error)
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


def _allowed(
    websocket: WebSocket, live: StudioSessions, session: str, seat: str
) -> tuple[HostedSession | None, int, str]:
    """The session if this person may sit there, or the close code and why not."""
    try:
        person = person_of(websocket)
    except HTTPException as error:
        return None, REFUSED, str(error.detail)
    hosted = live.sessions.get(session)
    if hosted is None or hosted.ended is not None:
        return None, GONE, "there is no such session"
    watches = seat == WATCH and "research" in person.roles
    if watches or hosted.people.get(seat) == person.id:
        return hosted, NORMAL, ""
    if hosted.settings.people.get(seat) == person.id:
        return None, GONE, "you have left the episode"
    return None, REFUSED, "this is not your seat"


class SeatReader:
    """Reads the messages of one socket."""

    def __init__(self, hosted: HostedSession, viewer: Viewer) -> None:
        self._hosted, self._viewer = hosted, viewer
        live = hosted.settings.live
        self._sits = viewer.seat in hosted.people
        self._inputs = RateLimit(BURST_SECONDS * live.inputs_per_second, seconds=BURST_SECONDS)
        self._utterances = RateLimit(live.utterances, seconds=live.utterance_seconds)
        self._live = live

    @property
    def _plays(self) -> bool:
        """Whether the person still has the seat."""
        return self._sits and self._viewer.seat in self._hosted.people

    async def read(self) -> None:
        """Reads until the socket ends. Raises BadMessage."""
        while True:
            message = await self._viewer.websocket.receive()
            if message["type"] == "websocket.disconnect":
                if (broken := BROKEN.get(message["code"])) is not None:
                    raise BadMessage(f"it sent {broken}")
                return
            if self._viewer.closing is not None:  # what was sent before the other side knew of the end
                continue
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
        self._count()
        self._hosted.send(
            kind="input", seat=self._viewer.seat, held=given.held, seq=given.seq, right=given.right, up=given.up
        )

    def _count(self) -> None:
        if self._live.clock == "real" and not self._inputs.allows(""):
            raise BadMessage(f"more than {self._live.inputs_per_second} inputs a second")

    def _speak(self, message: dict[str, Any]) -> None:
        self._count()
        kind, seat, plays = message.pop("kind", None), self._viewer.seat, self._plays
        match kind, message:
            case "say", {"text": str(text), "id": str(utterance_id)} if plays and len(message) == 2:
                self._say(text, utterance_id)
            case "verdict", {"verdict": "done" | "failed" as verdict} if seat == SETTER and plays and len(message) == 1:
                self._hosted.send(kind="verdict", verdict={"done": DONE, "failed": FAILED}[verdict])
            case "take" | "give", {} if seat == COPILOT and plays and not message:
                self._hosted.send(kind=kind)
            case "reason", {"reason": str(why)} if seat == COPILOT and plays and len(message) == 1:
                if why not in REASONS:
                    raise BadMessage(f"a reason must be one of {', '.join(REASONS)}")
                self._hosted.send(kind=kind, reason=why)
            case "leave", {} if plays and not message:
                self._hosted.leave(seat)
            case "release", {} if plays and not message:
                self._hosted.send(kind="release", seat=seat)
            case _:
                raise BadMessage("a message that this seat does not have")

    def _say(self, text: str, utterance_id: str) -> None:
        if not (utterance_id.isascii() and utterance_id.isalnum() and len(utterance_id) <= ID_LETTERS):
            raise BadMessage(f"the id of an utterance has 1 to {ID_LETTERS} letters and digits of ASCII")
        if self._hosted.symbols(self._viewer.seat):
            text = text or " "  # an empty line is a step of silence
        else:
            text = " ".join(text.split())
        if not 0 < len(text) <= self._live.utterance_letters or any(category(letter) in UNTYPED for letter in text):
            raise BadMessage(f"an utterance has 1 to {self._live.utterance_letters} letters, and no control characters")
        if self._hosted.started is None:
            return  # the page sends it again after the next hello
        problem = "" if self._utterances.allows("") else TOO_FAST
        self._hosted.send(kind="say", seat=self._viewer.seat, text=text, id=utterance_id, problem=problem)


def _study(studio: StudioContext, person: Person, name: str) -> Study:
    """A live study in which the person may take part."""
    study = studio.studies.find(name)
    if study is None or not study.is_live or study.role not in person.roles:
        raise HTTPException(404, "there is no such study for you")
    return study


def _live_config(studio: StudioContext, study: Study) -> LiveConfig:
    """The settings of a study's sessions; 409 if they do not fit each other or the world."""
    try:
        return studio.served.live_config(study)
    except ValueError as error:
        raise HTTPException(409, f"this study can't be played: {error}") from error


def _seated(live: StudioSessions, person: Person) -> dict[str, Any] | None:
    """The session that awaits a person, whose practice ends then."""
    found = live.session_of(person.id)
    if found is None:
        return None
    live.leave(person.id)
    session, seat = found
    return {"state": "session", "session": session.settings.session, "seat": seat}


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
