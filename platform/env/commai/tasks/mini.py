"""CommAI-mini (arXiv 1701.08954): does a string of letters fit a description? "description: AB or C; verify: ABC."

A description is one or more groups of letters. A string fits if each of its letters lies in an occurrence of a group
that is not negated (occurrences may overlap), if with "and" each of these occurs, and if no negated group does.
"anything" lifts the first of these conditions.
"""

from __future__ import annotations

import random
import string
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from interplay.env.commai.tasks.competition.question import QuestionTask

longest_group = 3
most_groups = 3


@dataclass(frozen=True)
class Description:
    """Description of strings. groups: those that must or may occur; negated: those that must not."""

    groups: tuple[str, ...]
    negated: tuple[str, ...] = ()
    anything: bool = False
    conjunction: bool = False  # "and" between the groups, else "or"

    def __str__(self) -> str:
        parts = [*self.groups, *(f"not {group}" for group in self.negated), *["anything"] * self.anything]
        return (" and " if self.conjunction else " or ").join(parts)

    def fits(self, text: str) -> bool:
        """Whether a string fits."""
        if self.conjunction and not all(group in text for group in self.groups):
            return False
        return not any(group in text for group in self.negated) and (self.anything or covered(text, self.groups))


def covered(text: str, groups: Sequence[str]) -> bool:
    """Whether each letter lies in an occurrence of one of the groups."""
    inside = [False] * len(text)
    for group in groups:
        at = text.find(group)
        while at >= 0:
            inside[at : at + len(group)] = [True] * len(group)
            at = text.find(group, at + 1)
    return all(inside)


def letters(rng: random.Random, longest: int) -> str:
    """Between one and `longest` letters."""
    return "".join(rng.choices(string.ascii_uppercase, k=rng.randint(1, longest)))


def groups_of(rng: random.Random, most: int) -> tuple[str, ...]:
    """Between one and `most` different groups."""
    count = rng.randint(1, most)
    found: dict[str, None] = {}
    while len(found) < count:
        found[letters(rng, longest_group)] = None
    return tuple(found)


def single(rng: random.Random) -> Description:
    """One group."""
    return Description(groups_of(rng, 1))


def disjunction(rng: random.Random) -> Description:
    """Up to three groups with "or"; one in twenty is "anything" alone, which `example` keeps for true strings only."""
    return Description((), anything=True) if rng.random() < 1 / 20 else Description(groups_of(rng, most_groups))


def conjunction(rng: random.Random) -> Description:
    """Up to three groups with "and", half of them with "anything"."""
    return Description(groups_of(rng, most_groups), anything=rng.random() < 0.5, conjunction=True)


def negation(rng: random.Random) -> Description:
    """As `conjunction`, half of the groups negated, which makes "anything" a part of it."""
    found = groups_of(rng, most_groups)
    negated = tuple(group for group in found if rng.random() < 0.5)
    wanted = tuple(group for group in found if group not in negated)
    return Description(wanted, negated, bool(negated) or rng.random() < 0.5, conjunction=True)


def any_kind(rng: random.Random) -> Description:
    """One of the others."""
    return rng.choice([single, disjunction, conjunction, negation])(rng)


def candidate(description: Description, rng: random.Random, longest: int) -> str:
    """A string that may or may not fit: groups in any order, perhaps letters between, perhaps one letter changed."""
    further = [*description.groups, *description.negated, "", ""]
    parts = [*description.groups, *rng.choices(further, k=rng.randint(0, 6))]
    if description.anything:
        parts += [letters(rng, longest_group) for _ in range(rng.randint(0, 3))]
    rng.shuffle(parts)
    text = "".join(parts)[:longest] or letters(rng, longest)
    if rng.random() < 0.5:
        at = rng.randrange(len(text))
        text = f"{text[:at]}{rng.choice(string.ascii_uppercase)}{text[at + 1 :]}"
    return text


def example(
    draw: Callable[[random.Random], Description], fits: bool, rng: random.Random, longest: int
) -> tuple[Description, str]:
    """A description and a string that fits or does not."""
    while True:
        description = draw(rng)
        for _ in range(20):
            text = candidate(description, rng, longest)
            if description.fits(text) == fits:
                return description, text


class _TaskSet(QuestionTask):
    """Descriptions of one kind, with strings of up to `longest` letters; half of them fit."""

    spoken = "aeflrstu."
    options = ("true", "false")
    longest = 30
    draw: Callable[[random.Random], Description] = staticmethod(any_kind)

    def ask(self) -> tuple[str, Sequence[str]]:
        fits = self.rng.random() < 0.5
        description, text = example(type(self).draw, fits, self.rng, self.longest)
        return f"description: {description}; verify: {text}.", ["true" if fits else "false"]

    def correct_answer(self) -> None:
        self.set_reward(0, f"Wrong. The right answer is: {self.answers[0]}.")


class TaskSet1(_TaskSet):
    """One group."""

    longest = 10
    draw = staticmethod(single)


class TaskSet2(_TaskSet):
    """One of several groups."""

    longest = 10
    draw = staticmethod(disjunction)


class TaskSet3(_TaskSet):
    """Each of several groups."""

    draw = staticmethod(conjunction)


class TaskSet4(_TaskSet):
    """Each of several groups, and none of others."""

    draw = staticmethod(negation)


class TaskSet5(_TaskSet):
    """All kinds."""
