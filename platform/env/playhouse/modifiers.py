"""What a setter may be told to observe in its words, as people were told, and the manner of naming that obeys it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from interplay.env.playhouse.catalogue import COLOURS
from interplay.env.playhouse.naming import ByColour, Naming
from interplay.env.task import words


@dataclass(frozen=True)
class Modifier:
    """What the words of a setter have to satisfy."""

    name: str
    prompt: str  # the words that people who set tasks read
    naming: Naming
    satisfied: Callable[[str], bool]  # does an utterance obey it?


def _names_a_colour(text: str) -> bool:
    return any(word in COLOURS for word in words(text))


_MODIFIERS = (Modifier("by_colour", "Refer to objects by colour.", ByColour(), _names_a_colour),)
MODIFIERS: dict[str, Modifier] = {modifier.name: modifier for modifier in _MODIFIERS}
