"""Filling in the templates of instructions and questions; plurals and number words.

Templates are defined with the kind of task that uses them. The usual kinds have few, so that a small agent can learn
them all.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

NUMBERS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
IRREGULAR_PLURALS = {"grapes": "grapes", "bookshelf": "bookshelves", "shelf": "shelves"}


def fill_template(templates: Sequence[str], rng: np.random.Generator, **names: str) -> str:
    """Draws one of the templates, fills in the names, and turns "a" into "an" before vowels."""
    text = choose(templates, rng).format(**names)
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
