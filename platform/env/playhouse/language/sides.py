"""Left and right in texts about the house, exchanged for the mirrored house."""

from __future__ import annotations

import re

# "right" and "left" name sides only next to these words: "am i right that", "is left in the box", "right now" do not.
_BEFORE = (
    "my", "your", "his", "her", "its", "their", "our", "the",
    "turn", "go", "look", "move", "step", "walk", "face", "lean", "strafe", "further", "far", "slightly",
)  # fmt: skip
_AFTER = ("of", "side", "hand", "corner", "wall")
_SIDE = re.compile(
    rf"(?P<before>\b(?:{'|'.join(_BEFORE)})\s+)?\b(?P<side>left|right)\b(?P<after>(?=\s+(?:{'|'.join(_AFTER)})\b))?",
    re.IGNORECASE,
)
_OTHER = {"left": "right", "right": "left"}


def swap_sides(text: str) -> str:
    """Exchanges left and right where they name sides; twice is the identity.

    A side is recognized by a neighboring word ("on your left", "left of the bed", "turn right"), as all instructions,
    questions and answers of the scripted players have it. People's other uses stay as they are.
    """
    return _SIDE.sub(_swapped, text)


def _swapped(found: re.Match[str]) -> str:
    before, side, after = found["before"], found["side"], found["after"]
    if before is None and after is None:
        return found[0]
    other = _OTHER[side.lower()]
    return (before or "") + (other.capitalize() if side[0].isupper() else other)
