"""Questions about the house, with right answers and plausible wrong ones."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

import numpy as np

from interplay.env.playhouse.language.templates import NUMBERS
from interplay.env.playhouse.tasks.context import TaskContext
from interplay.env.playhouse.tasks.playhouse_task import PlayhouseTask
from interplay.env.playhouse.truth.facts import XY, HouseFacts
from interplay.env.task import same_words, words

ARTICLES = frozenset({"a", "an", "the"})
# Ways in which people say yes and no, without articles.
YES = ("yes", "yeah", "yep", "yes it is", "yes there is", "yes there are", "yes they are", "yes they do", "it is")
NO = ("no", "nope", "no it is not", "no it isn't", "no there is not", "no there isn't", "no there are not",
      "no they are not", "no they do not", "it is not", "it isn't")  # fmt: skip

Scope = Literal["room", "house"]


@dataclass(frozen=True, kw_only=True)
class Question(PlayhouseTask):
    """A question about the house; its answer is fixed when it is asked.

    `answer` is the one that the scripted solver gives. With `scope` "room" the question is about the room that the
    solver is in: it looks at the first thing in `about`, or around the room, and answers. With "house" it walks through
    the house until it has seen everything in `about` and all of `room`.
    """

    mistakes: tuple[str, ...]  # plausible wrong answers
    about: tuple[int, ...] = ()  # indices of the things to look at before answering
    accepted: tuple[str, ...] = ()  # further right answers, without articles
    scope: Scope = "room"
    room: str | None = None  # name of a room to look over before answering

    def success(self, facts: HouseFacts, said: Sequence[str]) -> bool:
        return bool(said) and self.accepts(said[0])

    def rate_answer(self, utterance: str) -> int:
        return 1 if self.accepts(utterance) else -1

    def accepts(self, utterance: str) -> bool:
        """Tests whether an utterance is a right answer, apart from articles, case and punctuation."""
        said = " ".join(word for word in words(utterance) if word not in ARTICLES)
        return any(same_words(said, right) for right in (self.answer or "", *self.accepted))

    def misreading(self, facts: HouseFacts, rng: np.random.Generator) -> PlayhouseTask | None:
        """A question to which the scripted solver gives a wrong answer."""
        return replace(self, answer=self.mistakes[int(rng.integers(len(self.mistakes)))], accepted=())

    def look_at(self, facts: HouseFacts) -> XY:
        """Returns the point to look at before answering: the middle of what is asked about, or of the room."""
        if self.about:
            points = [facts.things[index].xy for index in self.about]
            return float(np.mean([x for x, _ in points])), float(np.mean([y for _, y in points]))
        room = next((r for r in facts.rooms if r.name == facts.bodies[self.solver].room), facts.rooms[0])
        return room.middle


class Answers(NamedTuple):
    """Answers to one question."""

    answer: str  # the one that the scripted solver gives
    mistakes: tuple[str, ...]  # plausible wrong ones
    accepted: tuple[str, ...] = ()  # all right ones, without articles


def question(
    context: TaskContext,
    kind: str,
    text: str,
    answers: Answers,
    about: tuple[int, ...] = (),
    *,
    scope: Scope = "room",
    room: str | None = None,
) -> Question:
    """Returns a question to the solver of this context."""
    return Question(
        kind=kind, instruction=text, solver=context.solver, about=about, scope=scope, room=room, **answers._asdict()
    )


def yes_or_no(truth: bool, *, accept_variants: bool = True) -> Answers:
    """Returns the answers to a yes/no question."""
    yes, no = (YES, NO) if accept_variants else ((), ())
    return Answers("yes", ("no",), yes) if truth else Answers("no", ("yes",), no)


def number_answers(number: int, plural: str, singular: str) -> Answers:
    """Returns the answers to a question for the number of things that these nouns name."""
    word = NUMBERS[number]
    neighbors = tuple(NUMBERS[n] for n in (number - 1, number + 1) if 0 <= n < len(NUMBERS))
    counted = f"{word} {singular if number == 1 else plural}"
    ways = (word, str(number), counted, f"there is {word}", f"there are {word}", f"there are {counted}")
    none = ("none", "there are none", f"no {plural}", f"there are no {plural}") if number == 0 else ()
    return Answers(word, neighbors, without_articles((*ways, f"there is {counted}", *none)))


def without_articles(answers: Iterable[str]) -> tuple[str, ...]:
    """Removes articles and duplicates, as `Question.accepted` requires."""
    kept = (" ".join(word for word in answer.split() if word not in ARTICLES) for answer in answers)
    return tuple(dict.fromkeys(kept))
