"""The manners of referring to things, one or several: by what nouns, and with what behind them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache

from interplay.env.playhouse.house.catalog import COLORS
from interplay.env.playhouse.language.referring import nouns, post_modifiers
from interplay.env.playhouse.language.referring.expressions import Description, described, first_single
from interplay.env.playhouse.language.referring.negation import contrasts, negations
from interplay.env.playhouse.language.referring.nouns import Noun
from interplay.env.playhouse.language.referring.post_modifiers import PostModifier, landmarks
from interplay.env.playhouse.language.referring.quantity import quantities
from interplay.env.playhouse.truth.facts import Body, HouseFacts, Thing

Nouns = Callable[[Thing], Sequence[Sequence[Noun]]]  # of each row, the first that will do is used
Clauses = Callable[[HouseFacts, Body], Iterable[PostModifier]]
Sorts = Callable[[tuple[str, ...]], Sequence[Noun]]


@dataclass(frozen=True)
class ReferringStyle:
    """How a setter refers to things. `viewer`: the player to whom left is left."""

    describe: Callable[[HouseFacts, Body], Iterator[Description]]  # single things
    sorts: Sorts  # several things, of these categories of loose things and any others
    clauses: Clauses  # behind such sorts
    bare: bool = False  # may sorts stand alone?


def by_nouns(nouns: Nouns) -> Callable[[HouseFacts, Body], Iterator[Description]]:
    """Nouns alone."""

    def describe(facts: HouseFacts, viewer: Body) -> Iterator[Description]:
        for thing in facts.things:
            for row in nouns(thing):
                yield from first_single(described(sort, facts) for sort in row)

    return describe


def by_clauses(nouns: Nouns, clauses: Clauses) -> Callable[[HouseFacts, Body], Iterator[Description]]:
    """Nouns, each with a clause behind it."""

    def describe(facts: HouseFacts, viewer: Body) -> Iterator[Description]:
        added = list(clauses(facts, viewer))
        known: dict[Noun, Description] = {}
        for thing in facts.things:
            for row in nouns(thing):
                heads = [known.setdefault(sort, described(sort, facts)) for sort in row]
                for clause in added:
                    if thing.index in clause.surely:
                        yield from first_single(head.narrowed(clause) for head in heads)

    return describe


def plain(thing: Thing) -> Sequence[Sequence[Noun]]:
    """ "ball" or "red ball"."""
    return [[nouns.category(thing.category), nouns.category(thing.category, thing.color)]]


def loose(thing: Thing) -> Sequence[Sequence[Noun]]:
    """ "ball" or "red ball", "thing" or "red thing"."""
    return [*plain(thing), *([] if thing.furniture else [[nouns.thing(), nouns.thing(thing.color)]])]


def colored(thing: Thing) -> Sequence[Sequence[Noun]]:
    """ "red ball", "red thing"."""
    general = [] if thing.furniture else [[nouns.thing(thing.color)]]
    return [[nouns.category(thing.category, thing.color)], *general]


def shaped(thing: Thing) -> Sequence[Sequence[Noun]]:
    """ "round thing" or "round red thing"."""
    families = [family for family in nouns.SHAPES if thing.category in family.surely]
    return [[nouns.of_family(family), nouns.of_family(family, thing.color)] for family in families]


@cache
def all_sorts(categories: tuple[str, ...]) -> list[Noun]:
    families = [nouns.of_family(family) for family in nouns.FAMILIES]
    return [*(nouns.category(name) for name in categories), *families, nouns.thing()]


@cache
def colored_sorts(categories: tuple[str, ...]) -> list[Noun]:
    named = [nouns.category(name, color) for name in categories for color in COLORS]
    return [*named, *(nouns.thing(color) for color in COLORS)]


@cache
def shaped_sorts(categories: tuple[str, ...]) -> list[Noun]:
    return [nouns.of_family(family, color) for family in nouns.SHAPES for color in (None, *COLORS)]


@cache
def any_sorts(categories: tuple[str, ...]) -> list[Noun]:
    return [*all_sorts(categories), *colored_sorts(categories)]


def places(facts: HouseFacts, viewer: Body) -> Iterator[PostModifier]:
    return post_modifiers.places(facts)


def colored_places(facts: HouseFacts, viewer: Body) -> Iterator[PostModifier]:
    """The same, with the color of what is there."""
    marks = landmarks(facts, colored=True, furniture=True)
    yield from post_modifiers.supports(facts, marks)
    yield from post_modifiers.closeness(facts, marks, far=False)


def closeness(facts: HouseFacts, viewer: Body) -> Iterator[PostModifier]:
    return post_modifiers.closeness(facts, landmarks(facts))


def sides(facts: HouseFacts, viewer: Body) -> Iterator[PostModifier]:
    return post_modifiers.sides(facts, viewer, landmarks(facts))


def heights(facts: HouseFacts, viewer: Body) -> Iterator[PostModifier]:
    return post_modifiers.heights(facts, landmarks(facts))


def near_colored(facts: HouseFacts, viewer: Body) -> Iterator[PostModifier]:
    """Next to, near and on whatever, with its color."""
    marks = landmarks(facts, colored=True)
    yield from post_modifiers.closeness(facts, marks, far=False)
    yield from post_modifiers.supports(facts, marks)


def tinted(facts: HouseFacts, viewer: Body) -> Iterator[Description]:
    """ "red ball"; "ball next to the red box"."""
    yield from by_nouns(colored)(facts, viewer)
    yield from by_clauses(plain, near_colored)(facts, viewer)


def nothing(facts: HouseFacts, viewer: Body) -> Iterator[PostModifier]:
    yield from ()


EVERYDAY = ReferringStyle(by_nouns(plain), any_sorts, places, bare=True)
COLOR = ReferringStyle(tinted, colored_sorts, nothing, bare=True)
COLORED_PLACE = ReferringStyle(by_clauses(loose, colored_places), all_sorts, colored_places)
PLACE = ReferringStyle(by_clauses(loose, places), all_sorts, places)
SHAPE = ReferringStyle(by_nouns(shaped), shaped_sorts, nothing, bare=True)
PROXIMITY = ReferringStyle(by_clauses(loose, closeness), all_sorts, closeness)
SIDES = ReferringStyle(by_clauses(loose, sides), all_sorts, sides)
HEIGHT = ReferringStyle(by_clauses(loose, heights), all_sorts, heights)
NEGATION = ReferringStyle(contrasts, all_sorts, negations)
QUANTITY = ReferringStyle(quantities, any_sorts, nothing, bare=True)
