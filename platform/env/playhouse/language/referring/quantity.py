"""Referring to a thing by quantities: "the largest of all the balls", "the table with many things on it"."""

from __future__ import annotations

from collections.abc import Iterator

from interplay.env.playhouse.language.referring import nouns
from interplay.env.playhouse.language.referring.expressions import Description, describe_noun
from interplay.env.playhouse.language.referring.nouns import Noun
from interplay.env.playhouse.language.referring.post_modifiers import PostModifier, landmarks
from interplay.env.playhouse.truth import predicates
from interplay.env.playhouse.truth.facts import Body, HouseFacts, Thing

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
    loads = {thing.index: _load(facts, thing) for thing in facts.things if thing.furniture}
    for word, least in (("some", MIN_FOR_SOME), ("many", MIN_FOR_MANY)):
        certain = frozenset(index for index, load in loads.items() if load >= least)
        possible = frozenset(index for index, load in loads.items() if load >= least - 1 and load > 0)
        phrases = (f"with {word} things on it", f"that has {word} things on it")
        yield PostModifier(phrases, certain, possible, form="with")


def _load(facts: HouseFacts, thing: Thing) -> int:
    return len(predicates.things_on(facts, thing))


def _in_fullest_room(facts: HouseFacts) -> Iterator[PostModifier]:
    """Yields "in the room with the most things"."""
    counts = {room.name: sum(thing.room == room.name for thing in facts.things) for room in facts.rooms}
    if len(counts) < 2:
        return
    first, second = sorted(counts, key=lambda name: counts[name], reverse=True)[:2]
    if counts[first] - counts[second] >= MIN_MORE_THINGS:
        inside = frozenset(thing.index for thing in facts.things if thing.room == first and thing.held_by is None)
        yield PostModifier(("in the room with the most things",), inside, inside)
