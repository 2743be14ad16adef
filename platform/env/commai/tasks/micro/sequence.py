"""Tasks whose answer is judged character by character, from the teacher's full stop on."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

from interplay.env.commai.task import World, on_message, on_output_message, on_start, on_timeout
from interplay.env.commai.tasks.competition.base import BaseTask


class SequenceTask(BaseTask):
    """Message and result, both closed by a full stop: +1 when the result is whole, -1 at the first wrong character.

    Silence before the answer is not judged, but the limit counts it. late: the reward at the limit. pondering: a
    character that a learner may say instead of silence.
    """

    spoken = "01."
    late = 0
    pondering = ""

    def __init__(self, world: World | None = None) -> None:
        super().__init__(max_time=0, world=world)  # `on_start` sets the limit
        self.answer = ""
        self.answered = 0
        self.listening = False

    def compose(self) -> tuple[str, str]:
        """Draws a message and its result, without full stops."""
        raise NotImplementedError

    def limit_of(self, message: str, answer: str, width: int) -> int:
        """The limit in bits, with `width` bits a character."""
        raise NotImplementedError

    @on_start()
    def on_start(self, event: Any) -> None:
        message, result = self.compose()
        self.answer, self.answered, self.listening = f"{result}.", 0, False
        self._max_time = self.limit_of(f"{message}.", self.answer, len(self._env._serializer.to_binary("0")))
        self.set_message(f"{message}.")

    @on_output_message(r"\.$")
    def on_full_stop(self, event: Any) -> None:
        self.listening = True

    @on_message()
    def on_character(self, event: Any) -> None:
        character = event.message[-1:]
        if not self.listening or (not self.answered and (character.isspace() or character in self.pondering)):
            return
        self.answered += 1
        if character != self.answer[self.answered - 1]:
            self.set_reward(-1)
        elif self.answered == len(self.answer):
            self.set_reward(1)

    @on_timeout()
    def on_timeout(self, event: Any) -> None:
        self.set_reward(self.late)

    def expert(self) -> Iterator[str]:
        """The result."""
        yield self.answer

    def confused(self, rng: random.Random) -> Iterator[str]:
        """The result with one digit flipped."""
        at = rng.randrange(len(self.answer) - 1)
        yield f"{self.answer[:at]}{1 - int(self.answer[at])}{self.answer[at + 1 :]}"
