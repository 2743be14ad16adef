"""Base class of the tasks with one question: its right answers, and the teacher's reactions."""

from __future__ import annotations

import random
import string
from collections.abc import Collection, Iterator, Sequence
from typing import Any

from interplay.env.commai.task import World, on_message, on_start, on_timeout
from interplay.env.commai.tasks.competition import messages
from interplay.env.commai.tasks.competition.base import BaseTask


class QuestionTask(BaseTask):
    """One question or instruction and its right answers, which the learner closes with a full stop.

    A subclass implements `ask`, and states the rest in class attributes and, where it differs, in `mistake`,
    `reward_answer`, `correct_answer` and `give_away_answer`. `limit`: bits. `exact`: whether nothing but silence may
    precede the answer. `spoken`: the characters that the right answers need. `options`: answers, right and wrong ones.
    """

    limit = 3000
    exact = False
    spoken = f"{string.ascii_lowercase} ."
    options: Collection[str] = ()

    def __init__(self, world: World | None = None) -> None:
        super().__init__(max_time=self.limit, world=world)
        self.question = ""
        self.answers: Sequence[str] = ()  # without the full stop; an expert says the first

    def ask(self) -> tuple[str, Sequence[str]]:
        """Draws a question and its right answers."""
        raise NotImplementedError

    def mistake(self, rng: random.Random) -> str:
        """A wrong answer of the right form."""
        return another(self.options, self.answers, rng)

    def is_right(self, event: Any) -> bool:
        """Whether the sentence that has just ended is a right answer."""
        matches = event.is_message_exact if self.exact else event.is_message
        return any(matches(answer, ".") for answer in self.answers)

    def reward_answer(self) -> None:
        """Reaction to a right answer."""
        self.set_reward(1, self.rng.choice(messages.congratulations))

    def correct_answer(self) -> None:
        """Reaction to a wrong answer."""
        self.set_reward(0, self.rng.choice(messages.failed))

    def give_away_answer(self) -> None:
        """Reaction to the end of the time."""
        self.correct_answer()

    @on_start()
    def on_start(self, event: Any) -> None:
        self.question, self.answers = self.ask()
        self.set_message(self.question)

    @on_message(r"\.$")
    def on_sentence(self, event: Any) -> None:
        if self._env.is_silent():  # otherwise the teacher has not listened
            if self.is_right(event):
                self.reward_answer()
            else:
                self.correct_answer()

    @on_timeout()
    def on_timeout(self, event: Any) -> None:
        self.give_away_answer()

    def expert(self) -> Iterator[str]:
        """What to say to be rewarded."""
        for answer in self.answers[:1]:
            yield f"{answer}."

    def confused(self, rng: random.Random) -> Iterator[str]:
        """A wrong answer of the right form."""
        yield f"{self.mistake(rng)}."


def another(options: Collection[str], right: Collection[str], rng: random.Random) -> str:
    """One of the options that would not be taken for any of the right answers."""
    return rng.choice([option for option in options if not option.endswith(tuple(right))])


def last_sentence(message: str) -> str:
    """The last sentence of a message that ends in a full stop, without that and without silence around it."""
    return message[:-1].rpartition(".")[2].strip()
