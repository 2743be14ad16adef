"""Messages between a session's process and the web process, and the binary messages of the live sockets.

Between the processes each message is a length (u32), a kind (u8) and its content: JSON, or a picture message as
browsers get it.
"""

from __future__ import annotations

import asyncio
import json
import socket
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

HEAD = struct.Struct("<IB")
JSON, PICTURE = 0, 1
INPUT = struct.Struct("<BBHIIIff")  # kind 1, 0, 0, held, seq, frame shown, degrees to the right and up
INPUT_KIND, PICTURE_KIND = 1, 2
SHOWN = struct.Struct("<BBHIIQ")  # kind 2, seat, flags, frame, seq applied, microseconds of the server; then a JPEG
MOST_DEGREES = 3600.0  # of one input


class BadMessage(ValueError):
    """A message that the protocol does not have."""


@dataclass(frozen=True)
class Input:
    """What a browser sends while its keys and pointer move."""

    held: int
    seq: int
    shown: int  # frame of the last picture on screen
    right: float
    up: float


def read_input(data: bytes) -> Input:
    """Reads the binary message of a browser. Raises BadMessage if it is none."""
    if len(data) != INPUT.size:
        raise BadMessage(f"an input has {INPUT.size} bytes, not {len(data)}")
    kind, _, _, held, seq, shown, right, up = INPUT.unpack(data)
    if kind != INPUT_KIND:
        raise BadMessage(f"a binary message of kind {kind} is unknown")
    if not (abs(right) <= MOST_DEGREES and abs(up) <= MOST_DEGREES):  # also refuses NaN
        raise BadMessage("the pointer moved further than a turn of ten circles")
    return Input(held, seq, shown, right, up)


def write_input(given: Input) -> bytes:
    """The binary message of an input."""
    return INPUT.pack(INPUT_KIND, 0, 0, given.held, given.seq, given.shown, given.right, given.up)


def picture_frame(data: bytes) -> tuple[int, int]:
    """The seat's position and the frame of a picture message."""
    _, seat, _, frame, _, _ = SHOWN.unpack_from(data)
    return seat, frame


def packed(message: Mapping[str, Any] | bytes) -> bytes:
    """A message between the processes: JSON, or a picture message as bytes."""
    kind, body = (PICTURE, message) if isinstance(message, bytes) else (JSON, json.dumps(message).encode())
    return HEAD.pack(len(body), kind) + body


async def receive_packed(reader: asyncio.StreamReader) -> dict[str, Any] | bytes | None:
    """The next message; None at the end of the connection."""
    try:
        length, kind = HEAD.unpack(await reader.readexactly(HEAD.size))
        body = await reader.readexactly(length)
    except (asyncio.IncompleteReadError, ConnectionError):
        return None
    return body if kind == PICTURE else _json(body)


class Connection:
    """A session's end of the socket pair: messages in without waiting for more, and out."""

    def __init__(self, connection: socket.socket) -> None:
        self._socket = connection
        self._buffer = bytearray()
        self.closed = False

    def fileno(self) -> int:
        """For `select`."""
        return self._socket.fileno()

    def close(self) -> None:
        """Closes the socket."""
        self._socket.close()
        self.closed = True

    def receive(self) -> list[dict[str, Any]]:
        """The complete messages of what can be read now; `closed` is set at the end of the connection."""
        try:
            data = self._socket.recv(2**16)
        except ConnectionError:
            data = b""
        self.closed = not data
        self._buffer += data
        messages = []
        while len(self._buffer) >= HEAD.size:
            length, _ = HEAD.unpack_from(self._buffer)
            if len(self._buffer) < HEAD.size + length:
                break
            messages.append(_json(bytes(self._buffer[HEAD.size : HEAD.size + length])))
            del self._buffer[: HEAD.size + length]
        return messages

    def send(self, message: Mapping[str, Any] | bytes) -> None:
        """Sends one message."""
        try:
            self._socket.sendall(packed(message))
        except ConnectionError:
            self.closed = True


def _json(body: bytes) -> dict[str, Any]:
    message = json.loads(body)
    assert isinstance(message, dict), "the processes send objects"
    return message
