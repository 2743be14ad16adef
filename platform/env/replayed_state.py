"""Saved states of worlds that cannot be copied: which world it is, and what was done since its reset, in JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any


def json_values(identity: Mapping[str, Any]) -> Mapping[str, Any]:
    """An identity as JSON returns it: tuples become lists, and objects that JSON lacks become their `repr`."""
    kept: Mapping[str, Any] = json.loads(json.dumps(identity, default=repr))
    return kept


def write_state(identity: Mapping[str, Any], **done: Any) -> bytes:
    """A state: the world that it belongs to, and what to repeat."""
    return json.dumps({"world": identity, **done}, sort_keys=True).encode()


def read_state(state: bytes, identity: Mapping[str, Any]) -> Mapping[str, Any]:
    """What `write_state` wrote.

    Args:
        state: the bytes of a state.
        identity: `json_values` of the world that is to replay it, with its `name`.

    Raises:
        ValueError: the bytes are no state, or one of another world.
    """
    try:
        saved = json.loads(state)
    except ValueError as broken:
        raise ValueError(f"{len(state)} bytes are no saved state of the world {identity['name']!r}") from broken
    found = saved.get("world") if isinstance(saved, dict) else None
    if found != identity:
        raise ValueError(f"the state was saved by {found}, this world is {identity}; make that one")
    return dict(saved)
