"""The manners of referring to things, one or several: by what nouns, and with what behind them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache

from interplay.env.playhouse.catalogue import COLOURS
from interplay.env.playhouse.facts import Body, HouseFacts, Thing
from interplay.env.playhouse.manners import clauses, sorts
from interplay.env.playhouse.manners.clauses import Clause, landmarks
from interplay.env.playhouse.manners.negation import contrasts, negations
from interplay.env.playhouse.manners.phrasebook import Description, described, first_single
from interplay.env.playhouse.manners.quantity import quantities
from interplay.env.playhouse.manners.sorts import Sort

Nouns = Callable[[Thing], Sequence[Sequence[Sort]]]  # of each row, the first that will do is used
Clauses = Callable[[HouseFacts, Body], Iterable[Clause]]
Sorts = Callable[[tuple[str, ...]], Sequence[Sort]]


@dataclass(frozen=True)
class Manner:
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
        known: dict[Sort, Description] = {}
        for thing in facts.things:
            for row in nouns(thing):
                heads = [known.setdefault(sort, described(sort, facts)) for sort in row]
                for clause in added:
                    if thing.index in clause.surely:
                        yield from first_single(head.narrowed(clause) for head in heads)

    return describe


def plain(thing: Thing) -> Sequence[Sequence[Sort]]:
    """ "ball" or "red ball"."""
    return [[sorts.category(thing.category), sorts.category(thing.category, thing.colour)]]


def loose(thing: Thing) -> Sequence[Sequence[Sort]]:
    """ "ball" or "red ball", "thing" or "red thing"."""
    return [*plain(thing), *([] if thing.furniture else [[sorts.thing(), sorts.thing(thing.colour)]])]


def coloured(thing: Thing) -> Sequence[Sequence[Sort]]:
    """ "red ball", "red thing"."""
    general = [] if thing.furniture else [[sorts.thing(thing.colour)]]
    return [[sorts.category(thing.category, thing.colour)], *general]


def shaped(thing: Thing) -> Sequence[Sequence[Sort]]:
    """ "round thing" or "round red thing"."""
    families = [family for family in sorts.SHAPES if thing.category in family.surely]
    return [[sorts.of_family(family), sorts.of_family(family, thing.colour)] for family in families]


@cache
def all_sorts(categories: tuple[str, ...]) -> list[Sort]:
    families = [sorts.of_family(family) for family in sorts.FAMILIES]
    return [*(sorts.category(name) for name in categories), *families, sorts.thing()]


@cache
def coloured_sorts(categories: tuple[str, ...]) -> list[Sort]:
    named = [sorts.category(name, colour) for name in categories for colour in COLOURS]
    return [*named, *(sorts.thing(colour) for colour in COLOURS)]


@cache
def shaped_sorts(categories: tuple[str, ...]) -> list[Sort]:
    return [sorts.of_family(family, colour) for family in sorts.SHAPES for colour in (None, *COLOURS)]


@cache
def any_sorts(categories: tuple[str, ...]) -> list[Sort]:
    return [*all_sorts(categories), *coloured_sorts(categories)]


def places(facts: HouseFacts, viewer: Body) -> Iterator[Clause]:
    return clauses.places(facts)


def coloured_places(facts: HouseFacts, viewer: Body) -> Iterator[Clause]:
    """The same, with the colour of what is there."""
    marks = landmarks(facts, coloured=True, furniture=True)
    yield from clauses.supports(facts, marks)
    yield from clauses.closeness(facts, marks, far=False)


def closeness(facts: HouseFacts, viewer: Body) -> Iterator[Clause]:
    return clauses.closeness(facts, landmarks(facts))


def sides(facts: HouseFacts, viewer: Body) -> Iterator[Clause]:
    return clauses.sides(facts, viewer, landmarks(facts))


def heights(facts: HouseFacts, viewer: Body) -> Iterator[Clause]:
    return clauses.heights(facts, landmarks(facts))


def near_coloured(facts: HouseFacts, viewer: Body) -> Iterator[Clause]:
    """Next to, near and on whatever, with its colour."""
    marks = landmarks(facts, coloured=True)
    yield from clauses.closeness(facts, marks, far=False)
    yield from clauses.supports(facts, marks)


def tinted(facts: HouseFacts, viewer: Body) -> Iterator[Description]:
    """ "red ball"; "ball next to the red box"."""
    yield from by_nouns(coloured)(facts, viewer)
    yield from by_clauses(plain, near_coloured)(facts, viewer)


def nothing(facts: HouseFacts, viewer: Body) -> Iterator[Clause]:
    yield from ()


EVERYDAY = Manner(by_nouns(plain), any_sorts, places, bare=True)
COLOUR = Manner(tinted, coloured_sorts, nothing, bare=True)
COLOURED_PLACE = Manner(by_clauses(loose, coloured_places), all_sorts, coloured_places)
PLACE = Manner(by_clauses(loose, places), all_sorts, places)
SHAPE = Manner(by_nouns(shaped), shaped_sorts, nothing, bare=True)
PROXIMITY = Manner(by_clauses(loose, closeness), all_sorts, closeness)
SIDES = Manner(by_clauses(loose, sides), all_sorts, sides)
HEIGHT = Manner(by_clauses(loose, heights), all_sorts, heights)
NEGATION = Manner(contrasts, all_sorts, negations)
QUANTITY = Manner(quantities, any_sorts, nothing, bare=True)
