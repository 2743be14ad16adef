"""Which things an errand about several is to use, and how a setter names them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from interplay.env.playhouse.language.templates import NUMBERS, plural
from interplay.env.playhouse.tasks.context import TaskContext
from interplay.env.playhouse.truth.facts import HouseFacts, Thing

SHAPE_WORDS = ("round", "rectangular", "pointy", "eatable")  # attributes that stand before a noun
OBJECTS, ANY = "objects", "things"  # whatever is loose: where it is arranged, where it is carried
MOST = 10  # things that fit a description, at most


@dataclass(frozen=True)
class ObjectGroup:
    """Things of which so many are needed, and how they are called ("the white objects", "any three objects")."""

    words: str
    among: tuple[int, ...]
    count: int


def described(
    asking: TaskContext, counts: Sequence[int], fits: Callable[[Thing], bool] = lambda _: True, *, some: bool = True
) -> list[ObjectGroup]:
    """Things of a color, of a category, of an attribute, or any.

    All of them, where there are as many as `counts` allows and all of them fit; with `some`, also so many of them,
    where the words are true of more and as many fit. What another player holds is none of those that may be used.
    """
    loose = [thing for thing in asking.facts.things if not thing.furniture]
    found: list[ObjectGroup] = []
    for noun, things in _nouns(loose, OBJECTS):
        free = [thing for thing in things if thing.held_by in (None, asking.solver)]
        indices, usable = tuple(thing.index for thing in free), sum(map(fits, free))
        if len(things) > MOST:
            continue
        if len(things) in counts and usable == len(things) and len(things) < len(loose):
            found.append(ObjectGroup(f"the {noun}", indices, len(things)))
        if some:
            found += [ObjectGroup(_some(noun, k), indices, k) for k in counts if k <= usable and k < len(things)]
    return found


def named(
    asking: TaskContext, counts: Sequence[int], rng: np.random.Generator, fits: Callable[[Thing], bool] = lambda _: True
) -> list[ObjectGroup]:
    """Things called one by one, drawn at random: "the red ball, the blue duck and the green block"."""
    nameable = [thing for thing in asking.nameable() if fits(thing)]
    found = []
    for count in counts:
        if count <= len(nameable):
            drawn = [nameable[i] for i in rng.permutation(len(nameable))[:count].tolist()]
            words = listed([f"the {asking.call(thing, rng)}" for thing in drawn])
            found.append(ObjectGroup(words, tuple(thing.index for thing in drawn), count))
    return found


def alike(facts: HouseFacts, least: int) -> list[tuple[str, tuple[Thing, ...]]]:
    """Descriptions that fit at least so many loose things, and all the things that each fits, none in a hand."""
    loose = [thing for thing in facts.things if not thing.furniture]
    held = {thing.index for thing in loose if thing.held_by is not None}
    found = []
    for noun, things in _nouns(loose, ANY):
        free = tuple(thing for thing in things if thing.index not in held)
        if len(free) >= least and (noun == ANY or len(free) == len(things)):
            found.append((noun, free))
    return found


def so_many(number: int, words: str) -> str:
    """ "two red things" """
    return f"{NUMBERS[number]} {words}"


def listed(phrases: Sequence[str]) -> str:
    """ "a, b and c"."""
    return phrases[0] if len(phrases) == 1 else f"{', '.join(phrases[:-1])} and {phrases[-1]}"


def _nouns(loose: Sequence[Thing], general: str) -> Iterable[tuple[str, list[Thing]]]:
    """Words for several of the things, and those that each fits; `general`: for any of them."""
    for color in dict.fromkeys(thing.color for thing in loose):
        yield f"{color} {general}", [thing for thing in loose if thing.color == color]
    for category in dict.fromkeys(thing.category for thing in loose):
        yield plural(category), [thing for thing in loose if thing.category == category]
    for word in SHAPE_WORDS:
        yield f"{word} {general}", [thing for thing in loose if word in thing.attributes]
    yield general, list(loose)


def _some(noun: str, count: int) -> str:
    return f"any {so_many(count, noun)}" if noun == OBJECTS else so_many(count, noun)
