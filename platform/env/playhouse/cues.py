"""The cues that tell a setter what to ask for, as people were given them, and the kinds of task that each leads to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Cue:
    """What a setter is told to ask for."""

    name: str
    prompt: str  # the words that people who set tasks read
    kinds: tuple[str, ...]  # of the tasks that it leads to, all alike
    question: bool = False


_CUES = (
    Cue("lift", "Ask the other player to lift something.", ("lift",)),
    Cue("position", "Ask the other player to position something relative to something else.", ("position",)),
    Cue("go", "Ask the other player to go somewhere.", ("go",)),
    Cue("where", "Ask the other player to describe where something is.", ("where",), question=True),
    Cue("count", "Ask the other player to count something.", ("count",), question=True),
    Cue("color", "Ask a question about the color of something.", ("color",), question=True),
    Cue(
        "exist",
        "Ask the other player whether a particular thing exists in the room.",
        ("exist",),
        question=True,
    ),
)
CUES: dict[str, Cue] = {cue.name: cue for cue in _CUES}


def without_unused_cues(fields: Mapping[str, Any]) -> dict[str, Any]:
    """A task's fields as they are stored: those that were asked without a cue say nothing of it."""
    unused = [name for name in ("cue", "modifier") if fields[name] is None]
    return {name: value for name, value in fields.items() if name not in unused}
