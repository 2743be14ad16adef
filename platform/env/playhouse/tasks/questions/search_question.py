"""Questions that one goes and looks around for before one answers them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from interplay.env.playhouse.language.templates import NUMBERS
from interplay.env.playhouse.tasks.questions.question import OpenQuestion

# What people say for yes and no, besides.
YES = ("yes", "yeah", "yep", "yes it is", "yes there is", "yes there are", "yes they are", "yes they do", "it is")
NO = ("no", "nope", "no it is not", "no it isn't", "no there is not", "no there isn't", "no there are not",
      "no they are not", "no they do not", "it is not", "it isn't")  # fmt: skip


@dataclass(frozen=True)
class SearchQuestion(OpenQuestion):
    """A question about things and rooms anywhere in the house."""

    room: str | None  # the name of a room that has to be looked over; None: seeing what it is about is enough


def yes_or_no(truth: bool) -> tuple[str, tuple[str, ...], tuple[str, ...]]:
    """The answer, the mistake that could be made, and all right answers."""
    return ("yes", ("no",), YES) if truth else ("no", ("yes",), NO)


def numbered(number: int, many: str, one: str) -> tuple[str, tuple[str, ...], tuple[str, ...]]:
    """The same for how many there are of what is called so."""
    word = NUMBERS[number]
    near = tuple(NUMBERS[n] for n in (number - 1, number + 1) if 0 <= n < len(NUMBERS))
    counted = f"{word} {one if number == 1 else many}"
    ways = (word, str(number), counted, f"there is {word}", f"there are {word}", f"there are {counted}")
    none = ("none", "there are none", f"no {many}", f"there are no {many}") if number == 0 else ()
    return word, near, (*ways, f"there is {counted}", *none)


def without_articles(answers: Iterable[str]) -> tuple[str, ...]:
    """As `SearchQuestion.accepted` holds them."""
    kept = (" ".join(word for word in answer.split() if word not in ("a", "an", "the")) for answer in answers)
    return tuple(dict.fromkeys(kept))
