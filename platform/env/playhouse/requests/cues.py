"""Cues that tell a setter what to ask for, and modifiers that restrict its words, as people were given them.

A cue leads to kinds of task, a modifier has a referring style.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from interplay.env.playhouse.house.catalog import COLORS
from interplay.env.playhouse.language.referring import generation
from interplay.env.playhouse.language.referring.generation import ReferringStyle
from interplay.env.task import words


@dataclass(frozen=True)
class Cue:
    """An instruction to the setter what to ask for."""

    name: str
    prompt: str  # as people who set tasks read it
    kinds: tuple[str, ...]  # kinds of task, drawn with equal probability
    question: bool = False


_INSTRUCTIONS = (
    Cue("touch", "Ask the other player to touch an object using another object.", ("touch_with", "hit")),
    Cue("activity", "Ask the other player to perform an activity of your choice.",
        ("throw", "throw_out", "push", "hit", "tower", "triangle", "square", "circle", "group",
         "remove", "fill", "lift_container", "put_in", "stand_between")),
    Cue("hand_over", "Ask the other player to hand you something, which you then hold.", ("hand_over",)),
    Cue("stand", "Ask the other player to stand in some position relative to you.", ("stand",)),
    Cue("arrange", "Ask the other player to move a group of objects into a simple arrangement.",
        ("tower", "row", "triangle", "square", "circle", "group")),
    Cue("put_on", "Ask the other player to put something on top of something else.", ("put_on",)),
    Cue("put_under", "Ask the other player to put something underneath something else.", ("put_under",)),
    Cue("lift", "Ask the other player to lift something.", ("lift", "lift_container")),
    Cue("in_turn", "Ask the other player to do something, then when they are finished, ask them to do something else.",
        ("in_turn",)),
    Cue("reposition", "Ask the other player to reposition something in the room.", ("reposition", "put_in")),
    Cue("bring", "Ask the other player to bring you one or more objects.", ("bring",)),
    Cue("push_with", "Ask the other player to push an object around using another object.", ("push_with",)),
    Cue("position", "Ask the other player to position something relative to something else.",
        ("position", "put_on", "put_in", "put_under")),
    Cue("row", "Ask the other player to put three or more specific objects in a row.", ("row",)),
    Cue("go", "Ask the other player to go somewhere.", ("go", "go_room")),
)  # fmt: skip
_QUESTIONS = (
    Cue("yes_no", "Ask the other player a yes/no question about something in the room.", ("fact",)),
    Cue("where", "Ask the other player to describe where something is.", ("whereabouts",)),
    Cue("count", "Ask the other player to count something.", ("how_many",)),
    Cue("notice", "Ask the other player to say what they are looking at or noticing right now.", ("noticed",)),
    Cue("color", "Ask a question about the color of something.", ("color_of",)),
    Cue("same_color", "Ask the other player whether two things have the same or different colors.",
        ("same_or_different",)),
    Cue("yes_no_numbers", "Ask the other player a yes/no question about numbers of objects in the room.",
        ("number_fact",)),
    Cue("exist", "Ask the other player whether a particular thing exists in the room.", ("present",)),
    Cue("any_question", "Ask the other player any question about the room.",
        ("fact", "whereabouts", "how_many", "noticed", "color_of", "same_or_different", "number_fact", "present",
         "size", "nearest", "on_top", "larger")),
    Cue("size", "Ask the other player whether one object is larger, smaller, or the same size as another object.",
        ("size",)),
)  # fmt: skip
CUES = {cue.name: cue for cue in (*_INSTRUCTIONS, *(replace(cue, question=True) for cue in _QUESTIONS))}


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
