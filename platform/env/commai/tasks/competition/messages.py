"""Shared phrases: praise, correction, numbers in words, articles, plurals and lists of objects."""

from __future__ import annotations

import random
from collections.abc import Sequence

congratulations = ["well done.", "that is right.", "very good.", "exactly.", "you got it."]
failed = ["no.", "that is wrong.", "not right.", "you missed it."]
timeout = ["the time is over.", "that took too long.", "no more time."]
numbers_in_words = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]


def number_to_strings(number: int) -> list[str]:
    """All ways to write a number: in digits, and up to ten in letters."""
    return [str(number), *numbers_in_words[number : number + 1]]


def number_to_string(number: int, rng: random.Random | None = None) -> str:
    """One of the ways to write a number, drawn from `rng` (Python's shared generator by default)."""
    return (random if rng is None else rng).choice(number_to_strings(number))


def string_to_number(text: str) -> int:
    """The number that is written in digits or in letters.

    Raises:
        ValueError: neither.
    """
    return numbers_in_words.index(text) if text in numbers_in_words else int(text)


def indef_article(noun: str) -> str:
    """The noun after "a" or "an"."""
    return f"{'an' if noun[0].lower() in 'aeiou' else 'a'} {noun}"


def pluralize(noun: str, count: int) -> str:
    """The noun in the form that follows `count`."""
    return noun if count == 1 else f"{noun}s"


def enumerate_things(nouns: Sequence[str]) -> str:
    """Nouns with articles as a list in a sentence: "a pear", "a pear and a kite", "a pear, a kite and a drum"."""
    things = [indef_article(noun) for noun in nouns]
    return " and ".join([", ".join(things[:-1]), things[-1]]) if len(things) > 1 else things[0]
