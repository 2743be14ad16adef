"""A program in the place of a browser: enters by an invitation, waits in the lobby, plays a seat over its socket."""

from __future__ import annotations

import json
import secrets
import time
from collections.abc import Mapping
from contextlib import ExitStack
from http.cookiejar import CookieJar
from typing import Any
from urllib.error import HTTPError
from urllib.request import HTTPCookieProcessor, ProxyHandler, Request, build_opener

from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection, connect
from websockets.typing import Origin

from interplay.studio.live.picture_wire import SHOWN, Input, write_input

TIMEOUT_SECONDS = 60.0
POLL_SECONDS = 0.1


class LiveRefused(ValueError):
    """The studio refused a request; the message holds its words, `status` is that of HTTP or 0."""

    def __init__(self, message: str, status: int = 0) -> None:
        super().__init__(message)
        self.status = status


class LiveVisitor:
    """A login at a studio.

    Args:
        origin: of the studio, as http://127.0.0.1:8700.
    """

    def __init__(self, origin: str) -> None:
        self.origin = origin
        self._jar = CookieJar()
        self._opener = build_opener(ProxyHandler({}), HTTPCookieProcessor(self._jar))

    def post(self, path: str, body: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """Posts JSON and returns the answer. Raises LiveRefused."""
        return self._ask(Request(self.origin + path, json.dumps(dict(body or {})).encode(), method="POST"))

    def get(self, path: str) -> dict[str, Any]:
        """Gets JSON. Raises LiveRefused."""
        return self._ask(Request(self.origin + path))

    def fetch(self, path: str) -> bytes:
        """Gets bytes, such as those of a film. Raises LiveRefused."""
        return self._answer(Request(self.origin + path))

    def enter(self, code: str) -> str:
        """Uses an invitation; returns the pseudonym."""
        return str(self.post("/api/enter", {"code": code})["person"])

    def join(self, seconds: float = TIMEOUT_SECONDS, study: str = "live") -> tuple[str, str]:
        """Agrees, waits in the lobby, presses Ready; returns session and seat. Raises LiveRefused after `seconds`."""
        about = self.get(f"/api/live?study={study}")
        self.post("/api/live/consent", {"version": about["version"], "study": study})
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            state = self.post("/api/live/join", {"ready": True, "study": study})
            if state["state"] == "session":
                return state["session"], state["seat"]
            if state["state"] == "no_agent":
                raise LiveRefused(state.get("text", "the agent of this study can't play now"))
            time.sleep(POLL_SECONDS)
        raise LiveRefused(f"no session within {seconds:g} s; the state of the lobby is {state}")

    def sit(self, session: str, seat: str, query: str = "") -> LivePlayer:
        """Opens the socket of a seat. `query` is that of its address."""
        cookies = "; ".join(f"{each.name}={each.value}" for each in self._jar)
        stack = ExitStack()
        opening = connect(
            f"{self.origin.replace('http', 'ws', 1)}/live/{session}/{seat}{query}",
            origin=Origin(self.origin),
            additional_headers={"Cookie": cookies},
            compression=None,
            proxy=None,
        )
        return LivePlayer(stack.enter_context(opening), stack)

    def _ask(self, request: Request) -> dict[str, Any]:
        read: dict[str, Any] = json.loads(self._answer(request))
        return read

    def _answer(self, request: Request) -> bytes:
        request.add_header("Content-Type", "application/json")
        request.add_header("Origin", self.origin)
        try:
            with self._opener.open(request, timeout=TIMEOUT_SECONDS) as answer:
                body: bytes = answer.read()
        except HTTPError as error:
            words = error.read().decode(errors="replace")
            raise LiveRefused(f"{request.full_url}: {error.code} {words}", error.code) from error
        return body


class LivePlayer:
    """One seat. `frame` is that of the last picture, `jpeg` its bytes, `messages` all JSON so far."""

    def __init__(self, socket: ClientConnection, stack: ExitStack) -> None:
        self.socket = socket
        self._stack = stack
        self.frame = 0
        self.seq = 0
        self.applied = 0  # the newest input that the last picture shows
        self.toggles = 0  # bit i: the i-th toggle was on before the last picture
        self.jpeg = b""
        self.messages: list[dict[str, Any]] = []
        self.pictures = 0
        self._passed = 0  # messages up to the one that `until` returned last

    def move(self, held: int = 0, right: float = 0.0, up: float = 0.0) -> None:
        """Sends what is held and how far the pointer moved, in degrees."""
        self.seq += 1
        self.socket.send(write_input(Input(held, self.seq, self.frame, right, up)))

    def send(self, kind: str, **fields: Any) -> None:
        """Sends a JSON message."""
        self.socket.send(json.dumps({"kind": kind, **fields}))

    def say(self, text: str) -> str:
        """Sends an utterance; returns its id, which the answer of the studio has."""
        utterance_id = secrets.token_hex(8)
        self.send("say", text=text, id=utterance_id)
        return utterance_id

    def receive(self, seconds: float = TIMEOUT_SECONDS) -> dict[str, Any] | None:
        """The next message, a picture as {"kind": "picture"}; None at the end of the socket or after `seconds`."""
        try:
            message = self.socket.recv(timeout=seconds)
        except (ConnectionClosed, TimeoutError):
            return None
        if isinstance(message, bytes):
            _, _, self.toggles, self.frame, self.applied, _ = SHOWN.unpack_from(message)
            self.jpeg, self.pictures = message[SHOWN.size :], self.pictures + 1
            return {"kind": "picture"}
        read: dict[str, Any] = json.loads(message)
        self.messages.append(read)
        return read

    def until(self, kind: str, seconds: float = TIMEOUT_SECONDS, **fields: Any) -> dict[str, Any]:
        """The next message of this kind, with these fields, after the one that `until` returned last.

        `receive` may have read it already: a message overtakes a picture that waits. Raises LiveRefused if none comes.
        """
        end = time.monotonic() + seconds
        while True:
            while self._passed < len(self.messages):
                message = self.messages[self._passed]
                self._passed += 1
                if message["kind"] == kind and fields.items() <= message.items():
                    return message
            if (left := end - time.monotonic()) <= 0 or self.receive(left) is None:
                break
        raise LiveRefused(f"no {kind} {fields or ''} came; the last messages are {self.messages[-3:]}")

    def close(self) -> None:
        """Closes the socket."""
        self._stack.close()
