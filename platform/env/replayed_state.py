"""Saved states of worlds that cannot be copied: which world it is, and what was done since its reset, in JSON.

What is done is checked before, because it is kept.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from interplay.env.roles import check_roles
from interplay.env.world import Action, WorldSpec


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
        ValueError: the bytes are not a state of this world.
    """
    try:
        saved = json.loads(state)
    except ValueError as broken:
        raise ValueError(f"{len(state)} bytes are not a saved state of the world {identity['name']!r}") from broken
    found = saved.get("world") if isinstance(saved, dict) else None
    if found != identity:
        raise ValueError(f"the state was saved by {found}, this world is {identity}; make that one")
    return dict(saved)


def check_actions(spec: WorldSpec, actions: Mapping[str, Action]) -> None:
    """Checks the actions of a step.

    Raises:
        ValueError: an unknown role, or a movement of another shape or type, or with a bin out of range.
    """
    shape = spec.frames_per_step, len(spec.movement)
    bins = [component.bins for component in spec.movement]
    check_roles(actions, spec.roles)
    for role, action in actions.items():
        movement = np.asarray(action.movement)
        if movement.shape != shape or movement.dtype.kind not in "iu":
            raise ValueError(
                f"the movement of {role} is {movement.dtype} of shape {movement.shape}; it is int8 of shape {shape}"
            )
        if any(not 0 <= chosen < most for row in movement.tolist() for chosen, most in zip(row, bins, strict=True)):
            highest = [most - 1 for most in bins]
            raise ValueError(f"the movement of {role} is {movement.tolist()}; bins go from 0 to {highest}")
