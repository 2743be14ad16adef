"""What a setter may be told to observe in its words, as people were told, and the manner of naming that obeys it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from interplay.env.playhouse.house.catalog import COLORS
from interplay.env.playhouse.language.referring import styles
from interplay.env.playhouse.language.referring.styles import ReferringStyle
from interplay.env.task import words


@dataclass(frozen=True)
class Modifier:
    """What the words of a setter have to satisfy."""

    name: str
    prompt: str  # the words that people who set tasks read
    manner: ReferringStyle  # of naming things
    heard: Callable[[str], bool] | None = None  # does an utterance obey it? None: if it names anything in the manner
    of_places: bool = False  # is it obeyed, too, where an errand names the place to which something goes so?


def has_words(*wanted: str) -> Callable[[str], bool]:
    """Does an utterance hold one of these words or sequences of words?"""

    def heard(text: str) -> bool:
        spoken = f" {' '.join(words(text))} "
        return any(f" {word} " in spoken for word in wanted)

    return heard


def lacks_words(*unwanted: str) -> Callable[[str], bool]:
    held = has_words(*unwanted)
    return lambda text: not held(text)


COLOR_WORDS = tuple(COLORS)
SHAPE_WORDS = ("circular", "rectangular", "round", "pointy", "long")
PROXIMITY_WORDS = ("near", "nearest", "far", "close", "closest", "next to", "beside")
SIDE_WORDS = ("in front", "behind", "left", "right", "between")
HEIGHT_WORDS = ("on top", "beneath", "above", "below", "underneath", "under")
NEGATION_WORDS = ("not", "isn't", "aren't", "don't", "no")
QUANTIFIER_WORDS = ("some", "all", "most", "many", "none", "every", "both")
SHUNNED_WORDS = ("bed", "beds", "door", "doors", "window", "windows")

_MODIFIERS = (
    Modifier("by_color", "Refer to objects by color.", styles.COLOR, has_words(*COLOR_WORDS)),
    Modifier("location_by_color", "Refer to location by color.", styles.COLORED_PLACE, of_places=True),
    Modifier("by_location", "Refer to objects by location.", styles.PLACE),
    Modifier(
        "shape_words",
        "Use shape words. Try to use shape words like: circular, rectangular, round, pointy, long.",
        styles.SHAPE,
        has_words(*SHAPE_WORDS),
    ),
    Modifier(
        "proximity_words",
        "Use proximity words. Try to use words like: near, far, close to, next to.",
        styles.PROXIMITY,
        has_words(*PROXIMITY_WORDS),
    ),
    Modifier(
        "horizontal_words",
        "Use horizontal position words. Try to use words like: in front, behind, left of, right of, between.",
        styles.SIDES,
        has_words(*SIDE_WORDS),
    ),
    Modifier(
        "vertical_words",
        "Use vertical position words. Try to use words like: on top, beneath, above, below.",
        styles.HEIGHT,
        has_words(*HEIGHT_WORDS),
    ),
    Modifier(
        "negation_words",
        "Use negation words. Try to use words like: not, isn't.",
        styles.NEGATION,
        has_words(*NEGATION_WORDS),
    ),
    Modifier(
        "quantifier_words",
        "Use quantifier words. Try to use words like: some, all, most, many, none.",
        styles.QUANTITY,
        has_words(*QUANTIFIER_WORDS),
    ),
    Modifier(
        "shunned_words",
        "Do not use the words: bed, door, window.",
        styles.EVERYDAY,
        lacks_words(*SHUNNED_WORDS),
    ),
)
MODIFIERS: dict[str, Modifier] = {modifier.name: modifier for modifier in _MODIFIERS}
