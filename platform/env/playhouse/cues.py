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


def _asks(name: str, prompt: str, *kinds: str) -> Cue:
    return Cue(name, prompt, kinds, question=True)


_INSTRUCTIONS = (
    Cue("lift", "Ask the other player to lift something.", ("lift",)),
    Cue("position", "Ask the other player to position something relative to something else.", ("position",)),
    Cue("go", "Ask the other player to go somewhere.", ("go",)),
)
_QUESTIONS = (
    _asks("yes_no", "Ask the other player a yes/no question about something in the room.", "fact"),
    _asks("where", "Ask the other player to describe where something is.", "whereabouts"),
    _asks("count", "Ask the other player to count something.", "how_many"),
    _asks("notice", "Ask the other player to say what they are looking at or noticing right now.", "noticed"),
    _asks("color", "Ask a question about the color of something.", "colour_of"),
    _asks(
        "same_color", "Ask the other player whether two things have the same or different colors.", "same_or_different"
    ),
    _asks(
        "yes_no_numbers",
        "Ask the other player a yes/no question about numbers of objects in the room.",
        "number_fact",
    ),
    _asks("exist", "Ask the other player whether a particular thing exists in the room.", "present"),
    _asks(
        "any_question",
        "Ask the other player any question about the room.",
        *("fact", "whereabouts", "how_many", "noticed", "colour_of", "same_or_different", "number_fact", "present"),
        *("size", "nearest", "on_top", "larger"),
    ),
    _asks(
        "size",
        "Ask the other player whether one object is larger, smaller, or the same size as another object.",
        "size",
    ),
)
CUES: dict[str, Cue] = {cue.name: cue for cue in (*_INSTRUCTIONS, *_QUESTIONS)}


def without_unused_cues(fields: Mapping[str, Any]) -> dict[str, Any]:
    """A task's fields as they are stored: those that were asked without a cue say nothing of it."""
    unused = [name for name in ("cue", "modifier") if fields[name] is None]
    return {name: value for name, value in fields.items() if name not in unused}
