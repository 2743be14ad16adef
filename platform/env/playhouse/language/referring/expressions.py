"""The names of the things of a house in one manner, made once for one moment."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from interplay.env.playhouse.language.naming import Naming
from interplay.env.playhouse.language.referring.nouns import Noun
from interplay.env.playhouse.language.referring.post_modifiers import PostModifier
from interplay.env.playhouse.truth.facts import HouseFacts, Thing


@dataclass(frozen=True)
class Description:
    """Words for one thing, without an article, and what they fit: surely, or perhaps."""

    words: tuple[str, ...]  # in several ways
    surely: frozenset[int]
    perhaps: frozenset[int]

    @property
    def single(self) -> int | None:
        """The only thing that can be meant."""
        return next(iter(self.surely)) if len(self.perhaps) == 1 and self.perhaps == self.surely else None

    def narrowed(self, clause: PostModifier) -> Description:
        """With a clause behind it."""
        words = tuple(phrase for one in self.words for phrase in clause.after(one))
        return Description(words, self.surely & clause.surely, self.perhaps & clause.perhaps)


def described(sort: Noun, facts: HouseFacts) -> Description:
    """A noun alone."""
    return Description(
        sort.ones,
        frozenset(thing.index for thing in facts.things if sort.fits(thing)),
        frozenset(thing.index for thing in facts.things if sort.may_fit(thing)),
    )


def first_single(descriptions: Iterable[Description]) -> Iterator[Description]:
    """The first of several that singles a thing out, if one does."""
    yield from [found for found in descriptions if found.single is not None][:1]


class ReferringExpressions(Naming):
    """Noun phrases by thing, by its index."""

    def __init__(self, book: Mapping[int, Sequence[str]]) -> None:
        self.book = book

    def phrases(self, facts: HouseFacts, thing: Thing) -> Sequence[str]:
        return self.book.get(thing.index, ())

    def mixed_with(self, other: ReferringExpressions, rng: np.random.Generator) -> ReferringExpressions:
        """Half of the things, and those that the other does not know, as here; the rest as in the other."""
        indices = sorted({*self.book, *other.book})
        ours = rng.random(len(indices)) < 0.5
        books = ((self.book, other.book) if here else (other.book, self.book) for here in ours)
        return ReferringExpressions({i: one.get(i) or two[i] for i, (one, two) in zip(indices, books, strict=True)})

    def names_in(self, text: str) -> bool:
        """Is anything named in a text as this book does?"""
        return any(f" the {phrase} " in f"{text.rstrip('?')} " for phrases in self.book.values() for phrase in phrases)

    def firm(self) -> ReferringExpressions:
        """The phrases that leave no doubt where they end, for sentences that go on behind them: in "put the ball on the
        table next to the sofa" nobody knows whether the ball is on the table; "the ball that is on the table" says."""
        return ReferringExpressions({i: [p for p in ps if " that " in p] or ps for i, ps in self.book.items()})


def referring_expressions(descriptions: Iterable[Description]) -> ReferringExpressions:
    """Of all descriptions that single a thing out."""
    book: dict[int, list[str]] = {}
    for description in descriptions:
        if (index := description.single) is not None:
            book.setdefault(index, []).extend(description.words)
    return ReferringExpressions({index: tuple(dict.fromkeys(phrases)) for index, phrases in book.items()})
