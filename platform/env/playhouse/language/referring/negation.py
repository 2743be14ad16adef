"""Saying what a thing is not, where that tells it from others: "the ball that is not red"."""

from __future__ import annotations

from collections.abc import Iterator

from interplay.env.playhouse.house.catalog import COLORS
from interplay.env.playhouse.language.referring import nouns, post_modifiers
from interplay.env.playhouse.language.referring.expressions import Description, described
from interplay.env.playhouse.language.referring.post_modifiers import PostModifier
from interplay.env.playhouse.truth.facts import Body, HouseFacts


def negations(facts: HouseFacts, viewer: Body) -> Iterator[PostModifier]:
    """ "not red", "not a ball", "not on the table"; of whatever is there to be told from."""
    for color in COLORS:
        clause = post_modifiers.colored(facts, color)
        if clause.surely:
            yield clause.negated(facts.things)
    for category in sorted({thing.category for thing in facts.things if not thing.furniture}):
        noun = described(nouns.category(category), facts)
        yield PostModifier((f"a {noun.words[0]}",), noun.surely, noun.perhaps).negated(facts.things)
    for clause in post_modifiers.places(facts):
        yield clause.negated(facts.things)


def contrasts(facts: HouseFacts, viewer: Body) -> Iterator[Description]:
    """Things told from all others of their noun, or of their place, by what they are not."""
    families = [nouns.of_family(family) for family in nouns.FAMILIES]
    named = [nouns.category(category) for category in sorted({thing.category for thing in facts.things})]
    tinted = [nouns.thing(color) for color in sorted({thing.color for thing in facts.things})]
    heads = [described(sort, facts) for sort in (*named, *tinted, *families)]
    anything = described(nouns.thing(), facts)
    heads += [_placed(anything, clause) for clause in post_modifiers.places(facts)]
    for clause in negations(facts, viewer):
        for head in heads:
            if len(head.perhaps) > 1 and head.surely & clause.surely:  # it tells one from another
                yield head.narrowed(clause)


def _placed(noun: Description, clause: PostModifier) -> Description:
    words = tuple(f"{one} {place}" for one in noun.words for place in clause.words)
    return Description(words, noun.surely & clause.surely, noun.perhaps & clause.perhaps)
