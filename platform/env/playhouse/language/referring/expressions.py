"""Referring expressions of the things of a house: noun phrases that identify one, computed once for one moment."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from interplay.env.playhouse.language.referring import nouns
from interplay.env.playhouse.language.referring.nouns import Noun
from interplay.env.playhouse.language.referring.post_modifiers import PostModifier
from interplay.env.playhouse.truth.facts import HouseFacts, Thing


class Naming(ABC):
    """A set of referring expressions for the things of a house."""

    @abstractmethod
    def phrases(self, facts: HouseFacts, thing: Thing) -> Sequence[str]:
        """Returns the noun phrases without article ("red ball") that fit this thing and no other; possibly none."""


class ByColor(Naming):
    """Color and category: "red ball"."""

    def phrases(self, facts: HouseFacts, thing: Thing) -> Sequence[str]:
        same_name = [other for other in facts.things if other.name == thing.name]
        return (thing.name,) if len(same_name) == 1 else ()


@dataclass(frozen=True)
class Description:
    """Noun phrases without article, and the indices of the things that they certainly and possibly fit."""

    phrases: tuple[str, ...]  # alternatives with the same meaning
    certain: frozenset[int]
    possible: frozenset[int]

    @property
    def referent(self) -> int | None:
        """The only thing that the phrases possibly fit, if they certainly fit it; else None."""
        return next(iter(self.certain)) if len(self.possible) == 1 and self.possible == self.certain else None

    def narrowed(self, post_modifier: PostModifier) -> Description:
        """Returns the description followed by a post-modifier."""
        phrases = tuple(phrase for noun in self.phrases for phrase in post_modifier.attach(noun))
        return Description(phrases, self.certain & post_modifier.certain, self.possible & post_modifier.possible)


def describe_noun(noun: Noun, facts: HouseFacts) -> Description:
    """Returns the description by a noun alone."""
    return Description(
        noun.singulars,
        frozenset(thing.index for thing in facts.things if noun.fits(thing)),
        frozenset(thing.index for thing in facts.things if noun.may_fit(thing)),
    )


def first_unique(descriptions: Iterable[Description]) -> Iterator[Description]:
    """Yields the first description that identifies one thing, if there is one."""
    yield from [found for found in descriptions if found.referent is not None][:1]


class ReferringExpressions(Naming):
    """Noun phrases that identify things, by the index of the thing."""

    def __init__(self, by_thing: Mapping[int, Sequence[str]]) -> None:
        self.by_thing = by_thing

    def phrases(self, facts: HouseFacts, thing: Thing) -> Sequence[str]:
        return self.by_thing.get(thing.index, ())

    def mixed_with(self, other: ReferringExpressions, rng: np.random.Generator) -> ReferringExpressions:
        """Draws for each thing whether it is named as here or as in `other`; things that only one of them names keep
        that name."""
        indices = sorted({*self.by_thing, *other.by_thing})
        own = rng.random(len(indices)) < 0.5
        pairs = ((self.by_thing, other.by_thing) if here else (other.by_thing, self.by_thing) for here in own)
        return ReferringExpressions({i: one.get(i) or two[i] for i, (one, two) in zip(indices, pairs, strict=True)})

    def occurs_in(self, text: str) -> bool:
        """Tests whether a text names anything with one of these phrases."""
        return any(
            f" the {phrase} " in f"{text.rstrip('?')} " for phrases in self.by_thing.values() for phrase in phrases
        )

    def delimited(self) -> ReferringExpressions:
        """Returns only the phrases whose end is unambiguous, where there are any, for sentences that continue after
        them: "put the ball on the table next to the sofa" is ambiguous, "the ball that is on the table" is not."""
        return ReferringExpressions({i: [p for p in ps if " that " in p] or ps for i, ps in self.by_thing.items()})


def referring_expressions(descriptions: Iterable[Description]) -> ReferringExpressions:
    """Collects the phrases of all descriptions that identify one thing."""
    by_thing: dict[int, list[str]] = {}
    for description in descriptions:
        if (index := description.referent) is not None:
            by_thing.setdefault(index, []).extend(description.phrases)
    return ReferringExpressions({index: tuple(dict.fromkeys(phrases)) for index, phrases in by_thing.items()})


@dataclass(frozen=True)
class ByOneProperty(ByColor):
    """Category alone ("ball") or color alone ("red thing"), where that fits nothing else; elsewhere both."""

    name_of: Literal["category", "color"]

    def phrases(self, facts: HouseFacts, thing: Thing) -> Sequence[str]:
        noun = nouns.category(thing.category) if self.name_of == "category" else nouns.thing(thing.color)
        described = describe_noun(noun, facts)
        return described.phrases if described.referent == thing.index else super().phrases(facts, thing)
