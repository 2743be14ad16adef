"""The smallest tasks in words: repeating one or two letters."""

from __future__ import annotations

import random
from collections.abc import Sequence

from interplay.env.commai.tasks.competition.question import QuestionTask


class _Repeat(QuestionTask):
    """Up to `longest` letters, of the first `letters` ones, to repeat: "repeat: AB."."""

    limit = 64 + 3 * (8 + 8)
    letters = "A"
    longest = 1

    def ask(self) -> tuple[str, Sequence[str]]:
        target = "".join(self.rng.choice(self.letters) for _ in range(self.rng.randint(1, self.longest)))
        return f"repeat: {target}.", [target]

    def mistake(self, rng: random.Random) -> str:
        right = self.answers[0]
        at = rng.randrange(len(right))
        other = rng.choice([letter for letter in "ABC" if letter != right[at]])
        return f"{right[:at]}{other}{right[at + 1 :]}"

    def reward_answer(self) -> None:
        self.set_reward(1, "correct.")

    def correct_answer(self) -> None:
        self.set_reward(0, f"wrong: {self.answers[0]}.")


class Repeat1V1L(_Repeat):
    """One letter of one."""

    spoken = "A."


class Repeat3V1L(_Repeat):
    """One letter of three."""

    spoken = "ABC."
    letters = "ABC"


class Repeat3V2L(_Repeat):
    """One or two letters of three."""

    spoken = "ABC."
    limit = 64 + 3 * (2 * 8 + 8)
    letters = "ABC"
    longest = 2
