"""Saying what a thing is not, where that tells it from others: "the ball that is not red"."""

from __future__ import annotations

from collections.abc import Iterator

from interplay.env.playhouse.catalogue import COLOURS
from interplay.env.playhouse.facts import Body, HouseFacts
from interplay.env.playhouse.manners import clauses, sorts
from interplay.env.playhouse.manners.clauses import Clause
from interplay.env.playhouse.manners.phrasebook import Description, described


def negations(facts: HouseFacts, viewer: Body) -> Iterator[Clause]:
    """ "not red", "not a ball", "not on the table"; of whatever is there to be told from."""
    for colour in COLOURS:
        clause = clauses.coloured(facts, colour)
        if clause.surely:
            yield clause.negated(facts.things)
    for category in sorted({thing.category for thing in facts.things if not thing.furniture}):
        noun = described(sorts.category(category), facts)
        yield Clause((f"a {noun.words[0]}",), noun.surely, noun.perhaps).negated(facts.things)
    for clause in clauses.places(facts):
        yield clause.negated(facts.things)


def contrasts(facts: HouseFacts, viewer: Body) -> Iterator[Description]:
    """Things told from all others of their noun, or of their place, by what they are not."""
    families = [sorts.of_family(family) for family in sorts.FAMILIES]
    named = [sorts.category(category) for category in sorted({thing.category for thing in facts.things})]
    tinted = [sorts.thing(colour) for colour in sorted({thing.colour for thing in facts.things})]
    heads = [described(sort, facts) for sort in (*named, *tinted, *families)]
    anything = described(sorts.thing(), facts)
    heads += [_placed(anything, clause) for clause in clauses.places(facts)]
    for clause in negations(facts, viewer):
        for head in heads:
            if len(head.perhaps) > 1 and head.surely & clause.surely:  # it tells one from another
                yield head.narrowed(clause)


def _placed(noun: Description, clause: Clause) -> Description:
    words = tuple(f"{one} {place}" for one in noun.words for place in clause.words)
    return Description(words, noun.surely & clause.surely, noun.perhaps & clause.perhaps)
