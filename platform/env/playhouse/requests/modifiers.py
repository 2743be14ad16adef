"""Modifiers that restrict the words of a setter, as people were given them, and the referring style of each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from interplay.env.playhouse.house.catalog import COLORS
from interplay.env.playhouse.language.referring import generation
from interplay.env.playhouse.language.referring.generation import ReferringStyle
from interplay.env.task import words


@dataclass(frozen=True)
class Modifier:
    """A restriction of the words of a setter."""

    name: str
    prompt: str  # as people who set tasks read it
    style: ReferringStyle
    # Tests whether an utterance satisfies the modifier; None: it does if it names anything in the style.
    is_satisfied_by: Callable[[str], bool] | None = None
    counts_destinations: bool = False  # whether naming the destination of an instruction in this style is enough


def contains_any(*phrases: str) -> Callable[[str], bool]:
    """Returns the test whether an utterance contains one of these words or sequences of words."""

    def contains(text: str) -> bool:
        said = f" {' '.join(words(text))} "
        return any(f" {phrase} " in said for phrase in phrases)

    return contains


def contains_none(*phrases: str) -> Callable[[str], bool]:
    """Returns the test whether an utterance contains none of these words or sequences of words."""
    contains = contains_any(*phrases)
    return lambda text: not contains(text)


_MODIFIERS = (
    Modifier("by_color", "Refer to objects by color.", generation.COLOR, contains_any(*COLORS)),
    Modifier("location_by_color", "Refer to location by color.", generation.COLORED_PLACE, counts_destinations=True),
    Modifier("by_location", "Refer to objects by location.", generation.PLACE),
    Modifier("shape_words", "Use shape words. Try to use shape words like: circular, rectangular, round, pointy, long.",
             generation.SHAPE, contains_any("circular", "rectangular", "round", "pointy", "long")),
    Modifier("proximity_words", "Use proximity words. Try to use words like: near, far, close to, next to.",
             generation.PROXIMITY, contains_any("near", "nearest", "far", "close", "closest", "next to", "beside")),
    Modifier("horizontal_words",
             "Use horizontal position words. Try to use words like: in front, behind, left of, right of, between.",
             generation.SIDES, contains_any("in front", "behind", "left", "right", "between")),
    Modifier("vertical_words", "Use vertical position words. Try to use words like: on top, beneath, above, below.",
             generation.HEIGHT, contains_any("on top", "beneath", "above", "below", "underneath", "under")),
    Modifier("negation_words", "Use negation words. Try to use words like: not, isn't.",
             generation.NEGATION, contains_any("not", "isn't", "aren't", "don't", "no")),
    Modifier("quantifier_words", "Use quantifier words. Try to use words like: some, all, most, many, none.",
             generation.QUANTITY, contains_any("some", "all", "most", "many", "none", "every", "both")),
    Modifier("shunned_words", "Do not use the words: bed, door, window.",
             generation.EVERYDAY, contains_none("bed", "beds", "door", "doors", "window", "windows")),
)  # fmt: skip
MODIFIERS: dict[str, Modifier] = {modifier.name: modifier for modifier in _MODIFIERS}
