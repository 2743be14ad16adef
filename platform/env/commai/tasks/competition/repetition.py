"""Tasks of repetition: staying silent, repeating letters and phrases, several times, one of two, all but one."""

from __future__ import annotations

import random
import string
from collections.abc import Iterator, Sequence
from typing import Any

from interplay.env.commai.task import Task, World, on_message, on_start, on_timeout
from interplay.env.commai.tasks.competition import messages
from interplay.env.commai.tasks.competition.question import QuestionTask

verbs = ["say", "repeat"]
phrases = ["hello", "good morning", "thank you", "blue kite", "wooden boat", "drum", "see you soon"]
context = ["and earn a point", "to earn a reward", "and this exercise is done", "to show that you can"]
past_tense = {
    "sing": "sang",
    "run": "ran",
    "swim": "swam",
    "write": "wrote",
    "draw": "drew",
    "dance": "danced",
    "jump": "jumped",
    "read": "read",
    "listen": "listened",
    "rest": "rested",
}
repeat_min, repeat_max = 2, 4  # how many times a phrase is asked for


class BeSilentTask(Task):
    """Silence until the limit, which is drawn at each start: 100 to 1000 bits, with 64 left after the instruction."""

    spoken = ""

    def __init__(self, world: World | None = None) -> None:
        super().__init__(max_time=1000, world=world)

    @on_start()
    def on_start(self, event: Any) -> None:
        instruction = self.rng.choice(["be silent now.", "do not say anything."])
        self._max_time = max(self.rng.randint(100, 1000), len(self._env._serializer.to_binary(instruction)) + 64)
        self.set_message(instruction)

    @on_message()
    def on_message(self, event: Any) -> None:
        if not event.message.endswith(self._env._serializer.SILENCE_TOKEN):
            self.set_reward(0, self.rng.choice(messages.failed))

    @on_timeout()
    def on_timeout(self, event: Any) -> None:
        self.set_reward(1, self.rng.choice(messages.congratulations))

    def expert(self) -> Iterator[str]:
        """Nothing."""
        yield from ()

    def confused(self, rng: random.Random) -> Iterator[str]:
        """A letter."""
        yield rng.choice(string.ascii_lowercase)


class RepeatCharacterTask(QuestionTask):
    """A letter to repeat: "say x."."""

    limit = 1000
    spoken = f"{string.ascii_letters}."
    options: Sequence[str] = string.ascii_letters
    form = "{verb} {target}."

    def ask(self) -> tuple[str, Sequence[str]]:
        target, rng = self.rng.choice(self.options), self.rng
        return self.form.format(verb=rng.choice(verbs), target=target, context=rng.choice(context)), [target]


class RepeatWhatISayTask(RepeatCharacterTask):
    """A phrase to repeat: "say blue kite."."""

    spoken = QuestionTask.spoken
    options = phrases


class RepeatWhatISay2Task(RepeatWhatISayTask):
    """A phrase to repeat from the middle of a sentence: "say blue kite and earn a point."."""

    form = "{verb} {target} {context}."


class RepeatWhatISayMultipleTimesTask(QuestionTask):
    """A phrase to repeat several times, with `separator` between, and before the last one `last_separator`."""

    limit = 10000
    spoken = f"{string.ascii_lowercase} ,."
    form = "{verb} {phrase} {times} times."
    separator = last_separator = " "

    def ask(self) -> tuple[str, Sequence[str]]:
        rng = self.rng
        phrase, count = rng.choice(phrases), rng.randint(repeat_min, repeat_max)
        times = messages.number_to_string(count, rng)
        question = self.form.format(verb=rng.choice(verbs), phrase=phrase, times=times, context=rng.choice(context))
        return question, [self.last_separator.join([self.separator.join([phrase] * (count - 1)), phrase])]

    def mistake(self, rng: random.Random) -> str:
        return rng.choice(phrases)  # one is never enough

    def correct_answer(self) -> None:
        self.set_reward(0, f"{self.rng.choice(messages.failed)} correct answer is: {self.answers[0]}.")


class RepeatWhatISayMultipleTimes2Task(RepeatWhatISayMultipleTimesTask):
    """The same within a longer sentence."""

    form = "{verb} {phrase} {times} times {context}."


class RepeatWhatISayMultipleTimesSeparatedByCommaTask(RepeatWhatISayMultipleTimesTask):
    """The same as "drum, drum, drum."."""

    form = "{verb} {phrase} {times} times separated by comma (,)."
    separator = last_separator = ", "


class RepeatWhatISayMultipleTimesSeparatedByAndTask(RepeatWhatISayMultipleTimesTask):
    """The same as "drum and drum and drum."."""

    form = "{verb} {phrase} {times} times separated by and."
    separator = last_separator = " and "


class RepeatWhatISayMultipleTimesSeparatedByCATask(RepeatWhatISayMultipleTimesTask):
    """The same as "drum, drum and drum."."""

    form = "{verb} {phrase} {times} times separated by comma and and."
    separator, last_separator = ", ", " and "


class RepeatWhatISayDisjunctionTask(QuestionTask):
    """A choice of two phrases to repeat: "say drum or hello."."""

    exact = True
    options = phrases

    def ask(self) -> tuple[str, Sequence[str]]:
        pair = self.rng.sample(phrases, 2)
        return f"{self.rng.choice(verbs)} {pair[0]} or {pair[1]}.", pair


class RepeatWhatISayConjunctionNegationTask(QuestionTask):
    """Two phrases, each to repeat or not: "say drum and do not repeat hello."; silence where both are forbidden."""

    exact = True
    options = phrases

    def ask(self) -> tuple[str, Sequence[str]]:
        rng = self.rng
        pair, wanted, parts = rng.sample(phrases, 2), [], []
        for phrase in pair:
            negation = rng.choice(["", rng.choice(["do not ", "don't "])])
            parts.append(f"{negation}{rng.choice(verbs)} {phrase}")
            wanted += [] if negation else [phrase]
        answers = {" and ".join(wanted): None, " and ".join(reversed(wanted)): None} if wanted else {}
        return f"{' and '.join(parts)}.", list(answers)

    @on_message(r"\S$")
    def on_noise(self, event: Any) -> None:
        """Where silence is the answer, any character is wrong."""
        if not self.answers and self._env.is_silent():
            self.correct_answer()

    def give_away_answer(self) -> None:
        if self.answers:
            self.correct_answer()
        else:
            self.reward_answer()

    def mistake(self, rng: random.Random) -> str:
        return super().mistake(rng) if self.answers else rng.choice(phrases)


class VerbTask(QuestionTask):
    """Something to do by saying that one does it: "Say 'I sing' to sing."."""

    limit = 896
    spoken = f"I{string.ascii_lowercase} ."
    verb = ""

    def ask(self) -> tuple[str, Sequence[str]]:
        self.verb = self.rng.choice(list(past_tense))
        return f"Say 'I {self.verb}' to {self.verb}.", [f"I {self.verb}"]

    def mistake(self, rng: random.Random) -> str:
        return f"I {rng.choice([verb for verb in past_tense if verb != self.verb])}"

    def reward_answer(self) -> None:
        self.set_reward(1, f"You {past_tense[self.verb]}.")


RepeatWhatISayDisjunction = RepeatWhatISayDisjunctionTask
RepeatWhatISayConjunctionNegation = RepeatWhatISayConjunctionNegationTask
