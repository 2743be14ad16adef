"""Groups of objects that an instruction is about, and the noun phrases that name them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from interplay.env.playhouse.language.templates import NUMBERS, plural
from interplay.env.playhouse.tasks.context import TaskContext
from interplay.env.playhouse.truth.facts import HouseFacts, Thing

NOUN_ATTRIBUTES = ("round", "rectangular", "pointy", "eatable")  # attributes that may precede a noun
ANY_ARRANGED = "objects"  # any loose objects, in instructions to arrange them
ANY_OBJECT = "things"  # any loose objects, in instructions to carry them
MAX_CANDIDATES = 10


@dataclass(frozen=True)
class ObjectGroup:
    """A group of candidate objects, how many of them are required, and the phrase that names them."""

    words: str  # "the white objects", "any three objects"
    candidates: tuple[int, ...]
    count: int


def described_groups(
    context: TaskContext, counts: Sequence[int], fits: Callable[[Thing], bool] = lambda _: True, *, subsets: bool = True
) -> list[ObjectGroup]:
    """Returns the groups of one color, one category or one attribute, or of any objects.

    A group is all objects of a description if their number is in `counts` and all of them fit; with `subsets` also
    `counts` of them if the description has more and as many fit. Objects that another player holds are no candidates.
    """
    loose = [thing for thing in context.facts.things if not thing.furniture]
    groups: list[ObjectGroup] = []
    for noun, things in _descriptions(loose, ANY_ARRANGED):
        free = [thing for thing in things if thing.held_by in (None, context.solver)]
        indices, usable = tuple(thing.index for thing in free), sum(map(fits, free))
        if len(things) > MAX_CANDIDATES:
            continue
        if len(things) in counts and usable == len(things) and len(things) < len(loose):
            groups.append(ObjectGroup(f"the {noun}", indices, len(things)))
        if subsets:
            groups += [
                ObjectGroup(_some(noun, count), indices, count)
                for count in counts
                if count <= usable and count < len(things)
            ]
    return groups


def listed_groups(
    context: TaskContext, counts: Sequence[int], rng: np.random.Generator, fits: Callable[[Thing], bool]
) -> list[ObjectGroup]:
    """Draws a group of each size whose objects are named one by one: "the red ball, the blue duck and the green
    block"."""
    nameable = [thing for thing in context.nameable_objects() if fits(thing)]
    groups = []
    for count in counts:
        if count <= len(nameable):
            drawn = [nameable[i] for i in rng.permutation(len(nameable))[:count].tolist()]
            names = enumerated([f"the {context.name(thing, rng)}" for thing in drawn])
            groups.append(ObjectGroup(names, tuple(thing.index for thing in drawn), count))
    return groups


def descriptions_shared(facts: HouseFacts, min_count: int) -> list[tuple[str, tuple[Thing, ...]]]:
    """Returns the descriptions that fit at least `min_count` loose objects, none of them held, with these objects."""
    loose = [thing for thing in facts.things if not thing.furniture]
    held = {thing.index for thing in loose if thing.held_by is not None}
    shared = []
    for noun, things in _descriptions(loose, ANY_OBJECT):
        free = tuple(thing for thing in things if thing.index not in held)
        if len(free) >= min_count and (noun == ANY_OBJECT or len(free) == len(things)):
            shared.append((noun, free))
    return shared


def number_of(count: int, noun: str) -> str:
    """Returns "two red things" for 2 and "red things"."""
    return f"{NUMBERS[count]} {noun}"


def enumerated(phrases: Sequence[str]) -> str:
    """Joins phrases to "a, b and c"."""
    return phrases[0] if len(phrases) == 1 else f"{', '.join(phrases[:-1])} and {phrases[-1]}"


def _descriptions(loose: Sequence[Thing], any_noun: str) -> Iterable[tuple[str, list[Thing]]]:
    """Yields plural nouns with the objects that each fits; `any_noun` fits all of them."""
    for color in dict.fromkeys(thing.color for thing in loose):
        yield f"{color} {any_noun}", [thing for thing in loose if thing.color == color]
    for category in dict.fromkeys(thing.category for thing in loose):
        yield plural(category), [thing for thing in loose if thing.category == category]
    for attribute in NOUN_ATTRIBUTES:
        yield f"{attribute} {any_noun}", [thing for thing in loose if attribute in thing.attributes]
    yield any_noun, list(loose)


def _some(noun: str, count: int) -> str:
    return f"any {number_of(count, noun)}" if noun == ANY_ARRANGED else number_of(count, noun)
