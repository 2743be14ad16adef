"""Styles of referring to things: the nouns and post-modifiers that a setter uses."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache

from interplay.env.playhouse.house.catalog import COLORS
from interplay.env.playhouse.language.referring import nouns, post_modifiers
from interplay.env.playhouse.language.referring.expressions import Description, describe_noun, first_unique
from interplay.env.playhouse.language.referring.negation import contrasts, negations
from interplay.env.playhouse.language.referring.nouns import Noun
from interplay.env.playhouse.language.referring.post_modifiers import PostModifier, landmarks
from interplay.env.playhouse.language.referring.quantity import quantities
from interplay.env.playhouse.truth.facts import Body, HouseFacts, Thing

NounRows = Callable[[Thing], Sequence[Sequence[Noun]]]  # of each row the first noun that identifies the thing is used
PostModifiers = Callable[[HouseFacts, Body], Iterable[PostModifier]]
Describe = Callable[[HouseFacts, Body], Iterator[Description]]
NounsOf = Callable[[tuple[str, ...]], Sequence[Noun]]


@dataclass(frozen=True)
class ReferringStyle:
    """A style of referring to things. The `Body` is that of the viewer, from whose position left and right are."""

    describe: Describe  # single things
    nouns: NounsOf  # of several things, with loose objects of these categories
    post_modifiers: PostModifiers  # that may follow these nouns
    bare_nouns: bool = False  # whether these nouns may stand alone


def by_nouns(rows: NounRows) -> Describe:
    """Describes things by nouns alone."""

    def describe(facts: HouseFacts, viewer: Body) -> Iterator[Description]:
        for thing in facts.things:
            for row in rows(thing):
                yield from first_unique(describe_noun(noun, facts) for noun in row)

    return describe


def by_post_modifiers(rows: NounRows, modifiers: PostModifiers) -> Describe:
    """Describes things by nouns, each followed by a post-modifier."""

    def describe(facts: HouseFacts, viewer: Body) -> Iterator[Description]:
        found = list(modifiers(facts, viewer))
        known: dict[Noun, Description] = {}
        for thing in facts.things:
            for row in rows(thing):
                heads = [known.setdefault(noun, describe_noun(noun, facts)) for noun in row]
                for post in found:
                    if thing.index in post.certain:
                        yield from first_unique(head.narrowed(post) for head in heads)

    return describe


def category_nouns(thing: Thing) -> Sequence[Sequence[Noun]]:
    """Returns "ball" or "red ball"."""
    return [[nouns.category(thing.category), nouns.category(thing.category, thing.color)]]


def general_nouns(thing: Thing) -> Sequence[Sequence[Noun]]:
    """Returns "ball" or "red ball", and "thing" or "red thing"."""
    return [*category_nouns(thing), *([] if thing.furniture else [[nouns.thing(), nouns.thing(thing.color)]])]


def colored_nouns(thing: Thing) -> Sequence[Sequence[Noun]]:
    """Returns "red ball" and "red thing"."""
    general = [] if thing.furniture else [[nouns.thing(thing.color)]]
    return [[nouns.category(thing.category, thing.color)], *general]


def shape_nouns(thing: Thing) -> Sequence[Sequence[Noun]]:
    """Returns "round thing" or "round red thing"."""
    families = [family for family in nouns.SHAPES if thing.category in family.certain]
    return [[nouns.of_family(family), nouns.of_family(family, thing.color)] for family in families]


@cache
def uncolored_nouns_of(categories: tuple[str, ...]) -> list[Noun]:
    """Returns "ball", "fruit" and "thing"."""
    families = [nouns.of_family(family) for family in nouns.FAMILIES]
    return [*(nouns.category(name) for name in categories), *families, nouns.thing()]


@cache
def colored_nouns_of(categories: tuple[str, ...]) -> list[Noun]:
    """Returns "red ball" and "red thing"."""
    named = [nouns.category(name, color) for name in categories for color in COLORS]
    return [*named, *(nouns.thing(color) for color in COLORS)]


@cache
def shape_nouns_of(categories: tuple[str, ...]) -> list[Noun]:
    """Returns "round thing" and "round red thing"."""
    return [nouns.of_family(family, color) for family in nouns.SHAPES for color in (None, *COLORS)]


@cache
def all_nouns_of(categories: tuple[str, ...]) -> list[Noun]:
    """Returns nouns with and without color."""
    return [*uncolored_nouns_of(categories), *colored_nouns_of(categories)]


def places(facts: HouseFacts, viewer: Body) -> Iterator[PostModifier]:
    return post_modifiers.places(facts)


def colored_places(facts: HouseFacts, viewer: Body) -> Iterator[PostModifier]:
    """Yields places at furniture that is named by its color."""
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
    """Yields places next to, near and on things that are named by their color."""
    marks = landmarks(facts, colored=True)
    yield from post_modifiers.closeness(facts, marks, far=False)
    yield from post_modifiers.supports(facts, marks)


def by_color(facts: HouseFacts, viewer: Body) -> Iterator[Description]:
    """Yields "red ball" and "ball next to the red box"."""
    yield from by_nouns(colored_nouns)(facts, viewer)
    yield from by_post_modifiers(category_nouns, near_colored)(facts, viewer)


def no_post_modifiers(facts: HouseFacts, viewer: Body) -> Iterator[PostModifier]:
    yield from ()


EVERYDAY = ReferringStyle(by_nouns(category_nouns), all_nouns_of, places, bare_nouns=True)
COLOR = ReferringStyle(by_color, colored_nouns_of, no_post_modifiers, bare_nouns=True)
COLORED_PLACE = ReferringStyle(by_post_modifiers(general_nouns, colored_places), uncolored_nouns_of, colored_places)
PLACE = ReferringStyle(by_post_modifiers(general_nouns, places), uncolored_nouns_of, places)
SHAPE = ReferringStyle(by_nouns(shape_nouns), shape_nouns_of, no_post_modifiers, bare_nouns=True)
PROXIMITY = ReferringStyle(by_post_modifiers(general_nouns, closeness), uncolored_nouns_of, closeness)
SIDES = ReferringStyle(by_post_modifiers(general_nouns, sides), uncolored_nouns_of, sides)
HEIGHT = ReferringStyle(by_post_modifiers(general_nouns, heights), uncolored_nouns_of, heights)
NEGATION = ReferringStyle(contrasts, uncolored_nouns_of, negations)
QUANTITY = ReferringStyle(quantities, all_nouns_of, no_post_modifiers, bare_nouns=True)
