"""One socket of a seat, to which the web process sends messages and pictures."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from starlette.websockets import WebSocket, WebSocketDisconnect

from interplay.stages.live_config import SETTER, SOLVER
from interplay.studio.live.picture_wire import picture_frame
from interplay.studio.live.session_settings import SessionSettings

UNSEEN_PICTURES = 2  # sent to a viewer and not yet on its screen
NEWS_SECONDS = 30.0  # between two looks at what a viewer is to get, at most
NORMAL, REFUSED, GONE = 1000, 1008, 4404  # WebSocket close codes; GONE: it has ended for this person


class Viewer:
    """One socket of a seat: messages in order, and the newest picture if the browser keeps up."""

    def __init__(self, websocket: WebSocket, seat: str, page: str = "", number: int = 0) -> None:
        """`page` is the browser's id of the page, and `number` that of the socket among those of the page."""
        self.websocket, self.seat = websocket, seat
        self._page, self._number = page, number
        self.seen = time.monotonic()  # when the last message was received
        self._messages: deque[dict[str, Any]] = deque()
        self._picture: bytes | None = None
        self._sent: deque[tuple[int, float]] = deque()  # (frame, when) of pictures not yet on the screen
        self._loading = True  # until the browser shows its first picture
        self._news = asyncio.Event()
        self.closing: tuple[int, str] | None = None  # code and reason, once it is to end

    def is_older(self, other: Viewer) -> bool:
        """Whether the page of this socket has opened the other one later: a network may deliver them in any order."""
        return bool(self._page) and self._page == other._page and self._number < other._number

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
            self._loading = False
        self._news.set()

    def restart(self) -> None:
        """Forgets the pictures on the way: after a kill the world continues at an earlier frame."""
        self._picture = None
        self._sent.clear()

    def lag(self) -> float:
        """The time in seconds from sending the oldest picture that is not yet shown to the last message received.

        It is 0 while the page loads. A page that sends nothing is away, not slow.
        """
        return max(0.0, self.seen - self._sent[0][1]) if self._sent and not self._loading else 0.0

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
                if self.closing is not None and not self._messages:  # some may have come while the picture was sent
                    await self.websocket.close(*self.closing)
                    return
        except (WebSocketDisconnect, RuntimeError):  # the browser is gone
            return


def role_of(seat: str) -> str:
    """The role whose controls and symbols a seat has; a co-pilot has those of the solver."""
    return seat if seat in (SETTER, SOLVER) else SOLVER


def hello(
    seat: str, settings: SessionSettings, started: Mapping[str, Any], dialogue: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    """The first message of a seat's socket.

    Args:
        started: what the process of the session said once its world was there.
        dialogue: what was said so far.
    """
    live, role = settings.live, role_of(seat)
    return {
        "kind": "hello",
        "version": 2,
        "role": seat,
        "controls": started["controls"].get(role, []),
        "rate": started["rate"],
        "frames": started["frames"],
        "words": started["words"],
        "symbols": started["symbols"].get(role, ""),
        "pictures": started["pictures"],
        "seconds": live.seconds,
        "size": list(settings.size),
        "limits": {"letters": live.utterance_letters},
        "take_over_by": live.take_over_by,
        "idle": live.idle_seconds,
        "leave": live.leave_seconds,
        "practice": not settings.recorded,
        "dialogue": dialogue,
    }
