"""Styles of referring to things: the nouns and post-modifiers that a setter uses, negations and quantities.

Negation refers to a thing by what it is not: "the ball that is not red"; quantity by superlatives and numbers: "the
largest of all the balls", "the table with many things on it".
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache

from interplay.env.playhouse.house.catalog import COLORS
from interplay.env.playhouse.language.referring import nouns, post_modifiers
from interplay.env.playhouse.language.referring.expressions import Description, describe_noun, first_unique
from interplay.env.playhouse.language.referring.nouns import Noun
from interplay.env.playhouse.language.referring.post_modifiers import PostModifier, landmarks
from interplay.env.playhouse.truth import predicates
from interplay.env.playhouse.truth.facts import Body, HouseFacts, Thing


def negations(facts: HouseFacts, viewer: Body) -> Iterator[PostModifier]:
    """Yields "not red", "not a ball", "not on the table", for all that the house has."""
    for color in COLORS:
        post = post_modifiers.colored(facts, color)
        if post.certain:
            yield post.negated(facts.things)
    for category in sorted({thing.category for thing in facts.things if not thing.furniture}):
        noun = describe_noun(nouns.category(category), facts)
        yield PostModifier((f"a {noun.phrases[0]}",), noun.certain, noun.possible).negated(facts.things)
    for post in post_modifiers.places(facts):
        yield post.negated(facts.things)


def contrasts(facts: HouseFacts, viewer: Body) -> Iterator[Description]:
    """Yields descriptions that distinguish a thing from others of its noun, or of its place, by what it is not."""
    heads = [describe_noun(noun, facts) for noun in _nouns(facts)]
    anything = describe_noun(nouns.thing(), facts)
    for place in post_modifiers.places(facts):
        phrases = tuple(f"{noun} {phrase}" for noun in anything.phrases for phrase in place.phrases)
        heads.append(Description(phrases, anything.certain & place.certain, anything.possible & place.possible))
    for post in negations(facts, viewer):
        for head in heads:
            if len(head.possible) > 1 and head.certain & post.certain:
                yield head.narrowed(post)


CLEARLY_NEARER_M = 0.3  # difference of gaps from which the nearest thing is beyond doubt
MIN_FOR_SOME, MIN_FOR_MANY = 2, 3  # things
MIN_MORE_THINGS = 2  # in the fullest room than in the next


def quantities(facts: HouseFacts, viewer: Body) -> Iterator[Description]:
    """Yields descriptions by superlatives, by the nearest thing, and by numbers of things."""
    yield from _superlatives(facts)
    yield from _nearest(facts)
    modifiers = [*_laden(facts), *_in_fullest_room(facts)]
    for thing in facts.things:
        for noun in (nouns.category(thing.category), nouns.category(thing.category, thing.color)):
            head = describe_noun(noun, facts)
            yield from (head.narrowed(post) for post in modifiers if thing.index in post.certain)


def _superlatives(facts: HouseFacts) -> Iterator[Description]:
    """Yields "largest of all the balls" if one is clearly larger than each of the others."""
    for noun in _nouns(facts):
        head = describe_noun(noun, facts)
        if len(head.certain) < MIN_FOR_SOME or head.certain != head.possible:
            continue
        members = [facts.things[index] for index in sorted(head.certain)]
        for superlatives, comparison in ((("largest", "biggest"), "larger"), (("smallest",), "smaller")):
            for thing in members:
                if all(predicates.compared(thing, other) == comparison for other in members if other is not thing):
                    phrases = tuple(f"{word} of all the {many}" for word in superlatives for many in noun.plurals)
                    yield Description(phrases, frozenset({thing.index}), frozenset({thing.index}))


def _nouns(facts: HouseFacts) -> list[Noun]:
    categories = sorted({thing.category for thing in facts.things})
    colors = sorted({thing.color for thing in facts.things})
    return [
        *map(nouns.category, categories),
        *map(nouns.thing, colors),
        *(nouns.of_family(family) for family in nouns.FAMILIES),
    ]


def _nearest(facts: HouseFacts) -> Iterator[Description]:
    """Yields "thing that is closest of all to the sofa"."""
    for mark in landmarks(facts):
        others = predicates.neighbors(facts, mark.thing)
        if len(others) < MIN_FOR_SOME or others[0].furniture:
            continue
        first, second = (predicates.gap(mark.thing, other) for other in others[:2])
        if 0.0 < first <= second - CLEARLY_NEARER_M:
            phrases = (f"thing that is closest of all to the {mark.name}", f"object nearest of all to the {mark.name}")
            yield Description(phrases, frozenset({others[0].index}), frozenset({others[0].index}))


def _laden(facts: HouseFacts) -> Iterator[PostModifier]:
    """Yields "with some things on it" for furniture."""
    loads = {thing.index: len(predicates.things_on(facts, thing)) for thing in facts.things if thing.furniture}
    for word, least in (("some", MIN_FOR_SOME), ("many", MIN_FOR_MANY)):
        certain = frozenset(index for index, load in loads.items() if load >= least)
        possible = frozenset(index for index, load in loads.items() if load >= least - 1 and load > 0)
        phrases = (f"with {word} things on it", f"that has {word} things on it")
        yield PostModifier(phrases, certain, possible, form="with")


def _in_fullest_room(facts: HouseFacts) -> Iterator[PostModifier]:
    """Yields "in the room with the most things"."""
    counts = {room.name: sum(thing.room == room.name for thing in facts.things) for room in facts.rooms}
    if len(counts) < 2:
        return
    first, second = sorted(counts, key=lambda name: counts[name], reverse=True)[:2]
    if counts[first] - counts[second] >= MIN_MORE_THINGS:
        inside = frozenset(thing.index for thing in facts.things if thing.room == first and thing.held_by is None)
        yield PostModifier(("in the room with the most things",), inside, inside)


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


def by_nouns(rows: NounRows, modifiers: PostModifiers | None = None) -> Describe:
    """Describes things by nouns, alone or each followed by a post-modifier."""

    def describe(facts: HouseFacts, viewer: Body) -> Iterator[Description]:
        found = [] if modifiers is None else list(modifiers(facts, viewer))
        known: dict[Noun, Description] = {}
        for thing in facts.things:
            for row in rows(thing):
                heads = [known.setdefault(noun, describe_noun(noun, facts)) for noun in row]
                if modifiers is None:
                    yield from first_unique(heads)
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


def colored_places(facts: HouseFacts, viewer: Body) -> Iterator[PostModifier]:
    """Yields places at furniture that is named by its color."""
    marks = landmarks(facts, colored=True, furniture=True)
    yield from post_modifiers.supports(facts, marks)
    yield from post_modifiers.closeness(facts, marks, far=False)


def near_colored(facts: HouseFacts, viewer: Body) -> Iterator[PostModifier]:
    """Yields places next to, near and on things that are named by their color."""
    marks = landmarks(facts, colored=True)
    yield from post_modifiers.closeness(facts, marks, far=False)
    yield from post_modifiers.supports(facts, marks)


def by_color(facts: HouseFacts, viewer: Body) -> Iterator[Description]:
    """Yields "red ball" and "ball next to the red box"."""
    yield from by_nouns(colored_nouns)(facts, viewer)
    yield from by_nouns(category_nouns, near_colored)(facts, viewer)


def by_place(modifiers: PostModifiers) -> ReferringStyle:
    """Returns the style of referring to things by these post-modifiers."""
    return ReferringStyle(by_nouns(general_nouns, modifiers), uncolored_nouns_of, modifiers)


EVERYDAY = ReferringStyle(
    by_nouns(category_nouns), all_nouns_of, lambda facts, viewer: post_modifiers.places(facts), bare_nouns=True
)
COLOR = ReferringStyle(by_color, colored_nouns_of, lambda facts, viewer: (), bare_nouns=True)
COLORED_PLACE = by_place(colored_places)
PLACE = by_place(lambda facts, viewer: post_modifiers.places(facts))
SHAPE = ReferringStyle(by_nouns(shape_nouns), shape_nouns_of, lambda facts, viewer: (), bare_nouns=True)
PROXIMITY = by_place(lambda facts, viewer: post_modifiers.closeness(facts, landmarks(facts)))
SIDES = by_place(lambda facts, viewer: post_modifiers.sides(facts, viewer, landmarks(facts)))
HEIGHT = by_place(lambda facts, viewer: post_modifiers.heights(facts, landmarks(facts)))
NEGATION = ReferringStyle(contrasts, uncolored_nouns_of, negations)
QUANTITY = ReferringStyle(quantities, all_nouns_of, lambda facts, viewer: (), bare_nouns=True)
