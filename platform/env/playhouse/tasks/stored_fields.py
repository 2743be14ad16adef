"""The fields of a task as episodes store them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def without_unused_cues(fields: Mapping[str, Any]) -> dict[str, Any]:
    """A task's fields as they are stored: those that were asked without a cue say nothing of it."""
    unused = [name for name in ("cue", "modifier") if fields[name] is None]
    return {name: value for name, value in fields.items() if name not in unused}
