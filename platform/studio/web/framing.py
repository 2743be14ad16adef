"""The processes that the studio starts, and the messages that it exchanges with them over socket pairs.

Each message is a length (u32), a kind (u8) and its content: JSON, or a picture message as browsers get it.
"""

from __future__ import annotations

import asyncio
import json
import socket
import struct
import subprocess
import sys
from collections.abc import Mapping
from typing import Any

HEAD = struct.Struct("<IB")
JSON, PICTURE = 0, 1


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


def start_process(module: str, *arguments: str) -> tuple[subprocess.Popen[bytes], socket.socket]:
    """Starts `python -m module` with a socket as its standard input; the process, and the other end of the socket.

    Ctrl-C does not reach the process: it is for the web process, which then ends this one.
    """
    ours, theirs = socket.socketpair()
    with theirs:
        command = [sys.executable, "-m", module, *arguments]
        return subprocess.Popen(command, stdin=theirs.fileno(), start_new_session=True), ours


class Connection:
    """A started process's end of a socket pair: messages in without waiting for more, and out."""

    def __init__(self, connection: socket.socket) -> None:
        self._socket = connection
        self._buffer = bytearray()
        self.closed = False

    def fileno(self) -> int:
        """The file descriptor, for `select`."""
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
