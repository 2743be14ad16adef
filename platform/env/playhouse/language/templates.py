"""Filling in the templates of instructions and questions; plurals and number words; left and right of mirrored houses.

Templates are defined with the kind of task that uses them. The usual kinds have few, so that a small agent can learn
them all.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

NUMBERS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_ONE_GRAPES = re.compile(r"\ba (\w+ )?grapes\b")
IRREGULAR_PLURALS = {"grapes": "grapes"}


def fill_template(templates: Sequence[str], rng: np.random.Generator, **names: str) -> str:
    """Draws one of the templates, fills in the names, and turns "a" into "an" before vowels, "a red grapes" into "a
    bunch of red grapes"."""
    text = _ONE_GRAPES.sub(r"a bunch of \1grapes", choose(templates, rng).format(**names))
    for vowel in "aeiou":
        text = text.replace(f" a {vowel}", f" an {vowel}")
    return text


def plural(category: str) -> str:
    """Returns the plural of a category: "box" -> "boxes", "teddy" -> "teddies", "dining table" -> "dining tables"."""
    if category in IRREGULAR_PLURALS:
        return IRREGULAR_PLURALS[category]
    if category.endswith(("s", "x", "ch", "sh")):
        return category + "es"
    if category.endswith("y") and category[-2] not in "aeiou":
        return category[:-1] + "ies"
    return category + "s"


def choose(choices: Sequence[str], rng: np.random.Generator) -> str:
    """Draws one of the strings with equal probability."""
    return choices[int(rng.integers(len(choices)))]


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
