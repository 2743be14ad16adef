"""Referring to a thing by what it is not: "the ball that is not red"."""

from __future__ import annotations

from collections.abc import Iterator

from interplay.env.playhouse.house.catalog import COLORS
from interplay.env.playhouse.language.referring import nouns, post_modifiers
from interplay.env.playhouse.language.referring.expressions import Description, describe_noun
from interplay.env.playhouse.language.referring.post_modifiers import PostModifier
from interplay.env.playhouse.truth.facts import Body, HouseFacts


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
    families = [nouns.of_family(family) for family in nouns.FAMILIES]
    named = [nouns.category(category) for category in sorted({thing.category for thing in facts.things})]
    colored = [nouns.thing(color) for color in sorted({thing.color for thing in facts.things})]
    heads = [describe_noun(noun, facts) for noun in (*named, *colored, *families)]
    anything = describe_noun(nouns.thing(), facts)
    heads += [_at_place(anything, post) for post in post_modifiers.places(facts)]
    for post in negations(facts, viewer):
        for head in heads:
            if len(head.possible) > 1 and head.certain & post.certain:
                yield head.narrowed(post)


def _at_place(noun: Description, place: PostModifier) -> Description:
    phrases = tuple(f"{one} {phrase}" for one in noun.phrases for phrase in place.phrases)
    return Description(phrases, noun.certain & place.certain, noun.possible & place.possible)
