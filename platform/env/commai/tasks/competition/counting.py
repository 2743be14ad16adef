"""Counting the objects of one kind in a list."""

from __future__ import annotations

from collections.abc import Sequence

from interplay.env.commai.tasks.competition import messages
from interplay.env.commai.tasks.competition.question import QuestionTask

vocabulary = ["bell", "book", "candle", "cup", "egg", "key", "ladder", "orange", "pear", "stone", "umbrella"]
max_total = 10  # things in a list


class SimpleCountingTask(QuestionTask):
    """The number of objects of one kind in a list: "I have a key and a pear. How many pears ..."."""

    options = messages.numbers_in_words

    def ask(self) -> tuple[str, Sequence[str]]:
        kinds = self.rng.sample(vocabulary, 4)  # few kinds, so that some come more than once
        things = [self.rng.choice(kinds) for _ in range(self.rng.randint(1, max_total))]
        kind = self.rng.choice(kinds)
        question = f"I have {messages.enumerate_things(things)}. How many {messages.pluralize(kind, 2)} do I have?"
        return question, [messages.numbers_in_words[things.count(kind)]]

    def correct_answer(self) -> None:
        self.set_reward(0, f"Wrong. The right answer is: {self.answers[0]}.")
