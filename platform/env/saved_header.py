"""Reader of saved states that begin with a line of JSON: what they are of, under which version and settings."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from typing import Any


def read_header(
    state: bytes, *, magic: bytes, what: str, version: int, settings: str, entries: Collection[str]
) -> tuple[Mapping[str, Any], bytes]:
    """The entries of the first line, and the bytes after it.

    Args:
        magic: bytes that the line begins with, before its JSON object.
        what: what is saved, for messages.
        version: of the format.
        settings: hash of those of the world that reads the state.
        entries: names that the object has in addition to "version" and "config", the hash.

    Raises:
        ValueError: bytes of something else, damaged, or saved with another version or other settings.
    """
    line, _, body = state.partition(b"\n")
    if not line.startswith(magic):
        raise ValueError(f"these {len(state)} bytes are not a saved {what}: they begin with {state[:12]!r}")
    try:
        head: Mapping[str, Any] = json.loads(line[len(magic) :])
    except ValueError as error:
        raise ValueError(f"this saved {what} is damaged: its first line is not JSON") from error
    if not isinstance(head, dict):
        raise ValueError(f"this saved {what} is damaged: its first line is not a JSON object")
    if head.get("version") != version:
        raise ValueError(f"this {what} reads saved states of version {version}, got {head.get('version')!r}")
    if missing := [name for name in ("config", *entries) if name not in head]:
        raise ValueError(f"this saved {what} is damaged: its first line lacks {', '.join(missing)}")
    if head["config"] != settings:
        raise ValueError(
            f"the state was saved under other settings (hash {head['config']}, here {settings}): "
            "use the settings of the world that it was recorded with, as env=... and experiment=..."
        )
    return head, body


def check_size(body: bytes, size: int, what: str) -> None:
    """Raises ValueError for another number of bytes than the header states."""
    if len(body) != size:
        fault = "cut short" if len(body) < size else "too long"
        raise ValueError(f"this saved {what} is {fault}: {len(body)} bytes of {size}")
