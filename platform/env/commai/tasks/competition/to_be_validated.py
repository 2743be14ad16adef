"""Further tasks: counting properties in Italian, and guessing a number that the teacher states on request."""

from __future__ import annotations

import random
import string
from collections.abc import Iterator, Sequence
from typing import Any

from interplay.env.commai.task import on_message
from interplay.env.commai.tasks.competition import messages
from interplay.env.commai.tasks.competition.baskets import global_properties
from interplay.env.commai.tasks.competition.question import QuestionTask

italian_objects = {
    "anchor": "ancora",
    "bell": "campana",
    "clock": "orologio",
    "coat": "cappotto",
    "drum": "tamburo",
    "feather": "piuma",
    "key": "chiave",
    "kite": "aquilone",
    "lamp": "lampada",
    "mirror": "specchio",
    "rope": "corda",
    "spoon": "cucchiaio",
    "umbrella": "ombrello",
}
italian_numbers = ["zero", "uno", "due", "tre", "quattro", "cinque", "sei", "sette", "otto", "nove", "dieci"]
italian_congratulations = ["molto bene.", "esatto.", "perfetto.", "proprio cosi'."]
number_questions = [
    "tell me the number, please.",
    "what is the number?",
    "which number is it?",
    "may I know the number?",
]
longest_number = 5


class ItalianHowManyPropertiesDoesAnObjectHaveTask(QuestionTask):
    """Count the properties of an object, in Italian words or in digits. Wrong answers get no reply."""

    options = italian_numbers

    def ask(self) -> tuple[str, Sequence[str]]:
        basket = self.rng.choice(list(global_properties))
        name = self.rng.choice(list(global_properties[basket]))
        number = len(global_properties[basket][name])
        question = f"quante proprieta' ha {italian_objects[name]} nel cestino di {basket}?"
        return question, [italian_numbers[number], str(number)]

    def reward_answer(self) -> None:
        self.set_reward(1, self.rng.choice(italian_congratulations))

    def correct_answer(self) -> None:
        """Ignores a wrong answer."""

    def give_away_answer(self) -> None:
        self.set_reward(0, f"la risposta giusta e': {self.rng.choice(self.answers)}.")


class GuessTheNumberAskingQuestionsTask(QuestionTask):
    """Guess a number of one to five digits, which the teacher states on request. Wrong guesses get no reply."""

    spoken = f"{string.ascii_lowercase}{string.digits} I,?."
    asked_for = "number"
    invitation = "you can ask me for the number."
    explicit = False

    def ask(self) -> tuple[str, Sequence[str]]:
        digits = self.rng.randint(1, longest_number)
        number = str(self.rng.randrange(10 ** (digits - 1), 10**digits))
        self.questions = [question.replace("number", self.asked_for) for question in number_questions]
        self.given = 0  # digits that the teacher has stated
        invitation = f"you can ask me: {self.rng.choice(self.questions)}" if self.explicit else self.invitation
        return f"guess the {digits}-digit number I am thinking of; {invitation}", [number]

    @on_message(r"[.?]$")
    def on_question(self, event: Any) -> None:
        if self._env.is_silent() and any(event.is_message(question) for question in self.questions):
            self.set_message(self.reply())

    def reply(self) -> str:
        """The reply to a request for the number."""
        return f"{self.answers[0]}."

    def correct_answer(self) -> None:
        """Ignores a wrong guess."""

    def give_away_answer(self) -> None:
        question = self.rng.choice(self.questions)
        self.set_reward(0, f"you could have asked me: {question} the number is: {self.answers[0]}.")

    def mistake(self, rng: random.Random) -> str:
        right = self.answers[0]
        at = rng.randrange(len(right))
        return f"{right[:at]}{rng.choice([digit for digit in string.digits if digit != right[at]])}{right[at + 1 :]}"

    def expert(self) -> Iterator[str]:
        """A question, then the number."""
        yield self.questions[0]
        yield f"{self.answers[0]}."


class GuessTheNumberAskingQuestionsExplicitModelTask(GuessTheNumberAskingQuestionsTask):
    """The same with a question to use."""

    explicit = True


class GuessTheNumberAskingForDigitsTask(GuessTheNumberAskingQuestionsTask):
    """The same, one digit a question."""

    limit = 3500
    asked_for = "next digit"
    invitation = "you can ask me for its digits, one after the other."

    def reply(self) -> str:
        number = self.answers[0]
        if self.given == len(number):
            return f"the number has only {len(number)} {messages.pluralize('digit', len(number))}."
        self.given += 1
        return f"{number[self.given - 1]}."

    def expert(self) -> Iterator[str]:
        """A question for each digit, then the number."""
        yield from [self.questions[1]] * len(self.answers[0])
        yield f"{self.answers[0]}."


class GuessTheNumberAskingForDigitsExplicitModelTask(GuessTheNumberAskingForDigitsTask):
    """The same with a question to use."""

    explicit = True
