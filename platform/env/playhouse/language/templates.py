"""How a setter words what it asks: a few short phrasings of each kind, so that a small agent can learn them all."""

from __future__ import annotations

import numpy as np

PHRASES: dict[str, tuple[str, ...]] = {
    "go": ("go to the {thing}", "walk to the {thing}", "go near the {thing}"),
    "lift": ("lift the {thing}", "pick up the {thing}", "raise the {thing}"),
    "position": (
        "put the {thing} next to the {other}",
        "place the {thing} near the {other}",
        "move the {thing} beside the {other}",
    ),
    "color": ("what color is the {thing}?", "which color is the {thing}?", "what is the color of the {thing}?"),
    "count": ("how many {things} are there?", "count the {things}", "how many {things} do you see?"),
    "count in room": (
        "how many {things} are in this room?",
        "count the {things} in this room",
        "how many {things} do you see in this room?",
    ),
    "exist": ("is there a {thing}?", "do you see a {thing}?", "can you find a {thing}?"),
    "exist in room": (
        "is there a {thing} in this room?",
        "do you see a {thing} in this room?",
        "can you find a {thing} in this room?",
    ),
    "larger": (
        "which is larger, the {thing} or the {other}?",
        "which is bigger, the {thing} or the {other}?",
        "what is larger, the {thing} or the {other}?",
    ),
    "same_color": (
        "do the {thing} and the {other} have the same color?",
        "are the {thing} and the {other} of the same color?",
        "is the {thing} of the same color as the {other}?",
    ),
    "same_color of two": (
        "do the two {things} have the same color?",
        "are the two {things} of the same color?",
        "are both {things} of the same color?",
    ),
    "nearest": (
        "what is nearest to the {thing}?",
        "which thing is closest to the {thing}?",
        "what is the nearest thing to the {thing}?",
    ),
    "on_top": (
        "what is on top of the {thing}?",
        "what is on the {thing}?",
        "what lies on top of the {thing}?",
    ),
    "where": (
        "in which room is the {thing}?",
        "which room is the {thing} in?",
        "what room do you find the {thing} in?",
    ),
    "seen": ("what do you see?", "name something that you see", "what do you notice right now?"),
}

# The same, for those who ask for whatever people do.
PHRASES |= {
    "go, freely": (
        *PHRASES["go"],
        "go and stand near the {thing}",
        "walk up to the {thing}",
        "go over to the {thing}",
        "move close to the {thing}",
        "find the {thing} and go near it",
    ),
    "lift, freely": (
        *PHRASES["lift"],
        "lift up the {thing}",
        "take the {thing} in your hand",
        "find the {thing} and lift it",
        "hold up the {thing}",
    ),
    "position, freely": (
        *PHRASES["position"],
        "put the {thing} down beside the {other}",
        "place the {thing} close to the {other}",
        "set the {thing} next to the {other}",
        "take the {thing} and put it near the {other}",
    ),
}

NUMBERS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
IRREGULAR = {"grapes": "grapes", "bookshelf": "bookshelves", "shelf": "shelves"}


def phrase(kind: str, rng: np.random.Generator, **names: str) -> str:
    """One of the phrasings of a kind, with its names filled in and its articles right."""
    phrases = PHRASES[kind]
    text = phrases[int(rng.integers(len(phrases)))].format(**names)
    for vowel in "aeiou":
        text = text.replace(f" a {vowel}", f" an {vowel}")
    return text


def plural(category: str) -> str:
    """The plural of a category: "box" -> "boxes", "teddy" -> "teddies", "dining table" -> "dining tables"."""
    if category in IRREGULAR:
        return IRREGULAR[category]
    if category.endswith(("s", "x", "ch", "sh")):
        return category + "es"
    if category.endswith("y") and category[-2] not in "aeiou":
        return category[:-1] + "ies"
    return category + "s"
