"""Singling things out by how many there are: "the largest of all the balls", "the table with many things on it"."""

from __future__ import annotations

from collections.abc import Iterator

from interplay.env.playhouse.language.referring import nouns
from interplay.env.playhouse.language.referring.expressions import Description, described
from interplay.env.playhouse.language.referring.nouns import Noun
from interplay.env.playhouse.language.referring.post_modifiers import PostModifier, landmarks
from interplay.env.playhouse.truth import predicates
from interplay.env.playhouse.truth.facts import Body, HouseFacts, Thing

CLEARLY_NEARER = 0.3  # meters
SOME, MANY = 2, 3  # things, at least
CLEARLY_MORE = 2  # things that a room has more than the next


def quantities(facts: HouseFacts, viewer: Body) -> Iterator[Description]:
    yield from _superlatives(facts)
    yield from _nearest(facts)
    behind = [*_laden(facts), *_fullest_room(facts)]
    for thing in facts.things:
        for sort in (nouns.category(thing.category), nouns.category(thing.category, thing.color)):
            yield from (described(sort, facts).narrowed(clause) for clause in behind if thing.index in clause.surely)


def _superlatives(facts: HouseFacts) -> Iterator[Description]:
    """ "largest of all the balls", where it is clearly larger than each of the others."""
    for sort in _sorts(facts):
        noun = described(sort, facts)
        if len(noun.surely) < SOME or noun.surely != noun.perhaps:
            continue
        members = [facts.things[index] for index in sorted(noun.surely)]
        for words, wanted in ((("largest", "biggest"), "larger"), (("smallest",), "smaller")):
            for thing in members:
                if all(predicates.compared(thing, other) == wanted for other in members if other is not thing):
                    phrases = tuple(f"{word} of all the {many}" for word in words for many in sort.many)
                    yield Description(phrases, frozenset({thing.index}), frozenset({thing.index}))


def _sorts(facts: HouseFacts) -> list[Noun]:
    categories = sorted({thing.category for thing in facts.things})
    colors = sorted({thing.color for thing in facts.things})
    return [
        *map(nouns.category, categories),
        *map(nouns.thing, colors),
        *(nouns.of_family(family) for family in nouns.FAMILIES),
    ]


def _nearest(facts: HouseFacts) -> Iterator[Description]:
    """ "thing that is closest of all to the sofa"."""
    for mark in landmarks(facts):
        others = predicates.neighbors(facts, mark.thing)
        if len(others) < SOME or others[0].furniture:
            continue
        first, second = (predicates.gap(mark.thing, other) for other in others[:2])
        if 0.0 < first <= second - CLEARLY_NEARER:
            words = (f"thing that is closest of all to the {mark.name}", f"object nearest of all to the {mark.name}")
            yield Description(words, frozenset({others[0].index}), frozenset({others[0].index}))


def _laden(facts: HouseFacts) -> Iterator[PostModifier]:
    """ "with some things on it": of furniture."""
    loads = {thing.index: _load(facts, thing) for thing in facts.things if thing.furniture}
    for word, least in (("some", SOME), ("many", MANY)):
        surely = frozenset(index for index, load in loads.items() if load >= least)
        perhaps = frozenset(index for index, load in loads.items() if load >= least - 1 and load > 0)
        yield PostModifier((f"with {word} things on it", f"that has {word} things on it"), surely, perhaps, form="with")


def _load(facts: HouseFacts, thing: Thing) -> int:
    return len(predicates.things_on(facts, thing))


def _fullest_room(facts: HouseFacts) -> Iterator[PostModifier]:
    """ "in the room with the most things"."""
    held = {room.name: sum(thing.room == room.name for thing in facts.things) for room in facts.rooms}
    if len(held) < 2:
        return
    first, second = sorted(held, key=lambda name: held[name], reverse=True)[:2]
    if held[first] - held[second] >= CLEARLY_MORE:
        inside = frozenset(thing.index for thing in facts.things if thing.room == first and thing.held_by is None)
        yield PostModifier(("in the room with the most things",), inside, inside)
