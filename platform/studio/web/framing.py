"""Messages between the studio's processes: JSON objects, each after its length as u32, over a socket pair."""

from __future__ import annotations

import asyncio
import json
import socket
import struct
from collections.abc import Mapping
from typing import Any

LENGTH = struct.Struct("<I")
MAX_MESSAGE_BYTES = 2**24


def framed(message: Mapping[str, Any]) -> bytes:
    """A message with its length in front."""
    body = json.dumps(message).encode()
    return LENGTH.pack(len(body)) + body


async def receive(reader: asyncio.StreamReader) -> dict[str, Any] | None:
    """The next message; None at the end of the connection."""
    try:
        (length,) = LENGTH.unpack(await reader.readexactly(LENGTH.size))
        return _parsed(await reader.readexactly(_checked(length)))
    except (asyncio.IncompleteReadError, ConnectionError):
        return None


def receive_blocking(connection: socket.socket) -> dict[str, Any] | None:
    """The same for a process without an event loop."""
    header = _exactly(connection, LENGTH.size)
    if header is None:
        return None
    body = _exactly(connection, _checked(LENGTH.unpack(header)[0]))
    return None if body is None else _parsed(body)


def _exactly(connection: socket.socket, length: int) -> bytes | None:
    data = bytearray()
    while len(data) < length:
        part = connection.recv(length - len(data))
        if not part:
            return None
        data += part
    return bytes(data)


def _checked(length: int) -> int:
    if length > MAX_MESSAGE_BYTES:
        raise ValueError(f"a message of {length} bytes is over the limit of {MAX_MESSAGE_BYTES}")
    return length


def _parsed(body: bytes) -> dict[str, Any]:
    message = json.loads(body)
    if not isinstance(message, dict):
        raise ValueError(f"a message is a JSON object, got {type(message).__name__}")
    return message
