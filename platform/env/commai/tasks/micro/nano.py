"""Tasks of single bits without any serializer: 0 is silence, 11 asks to speak, 01 to be silent, 1000 closes."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

from interplay.env.commai.task import Task, World, on_message, on_output_message, on_start, on_timeout


class _NanoTask(Task):
    """An instruction in bits and the bits to answer, each judged at once; a 1 before the end of the instruction fails.

    patient: whether the reward waits for the time limit. The limit is in tokens. With a serializer of several bits a
    character it is counted in characters, and three longer, for an answer that waits for silence.
    """

    spoken = "01"
    interrupts = False  # whether the wrong answer has to be said while the teacher speaks
    instruction = ""
    right = ""

    def __init__(self, world: World | None = None, patient: bool = False) -> None:
        super().__init__(max_time=self._tokens(), world=world)
        self.patient = patient
        self.verdict: int | None = None  # decided, but not yet given
        self.listening = False
        self.answered = 0
        self.separated = False

    def _tokens(self) -> int:
        return len(self.instruction) + len(self.right)

    def get_default_output(self) -> str:
        """Silence, which also separates this task from the next."""
        self.separated = True
        return "0"

    def deinit(self) -> None:
        """Adds the separator, unless the last token was silence."""
        if not self.separated:
            self.add_message("0")

    @on_start()
    def on_start(self, event: Any) -> None:
        width = len(self._env._serializer.to_binary("0"))
        self._max_time = self._tokens() if width == 1 else (self._tokens() + 3) * width
        self.verdict, self.listening, self.answered, self.separated = None, False, 0, False
        self.set_message(self.instruction)

    @on_output_message(r"1000$")
    def on_instruction_heard(self, event: Any) -> None:
        self.listening = True
        if not self.right:
            self.decide(1)

    @on_message(r"[01]$")
    def on_bit(self, event: Any) -> None:
        bit = event.message[-1]
        if not self.listening:
            if bit == "1":
                self.decide(-1)
        elif self.verdict is None:
            self.answered += 1
            if bit != self.right[self.answered - 1]:
                self.decide(-1)
            elif self.answered == len(self.right):
                self.decide(1)

    @on_timeout()
    def on_timeout(self, event: Any) -> None:
        self.set_reward(-1 if self.verdict is None else self.verdict)

    def decide(self, reward: int) -> None:
        """Decides the reward, once; gives it immediately unless `patient`."""
        if self.verdict is None:
            self.verdict = reward
            if not self.patient:
                self.set_reward(reward)

    def expert(self) -> Iterator[str]:
        """The requested bits, if any."""
        if self.right:
            yield self.right

    def confused(self, rng: random.Random) -> Iterator[str]:
        """One bit wrong; a 1 before the end where silence is right."""
        at = rng.randrange(len(self.right)) if self.right else 0
        yield f"{self.right[:at]}{1 - int(self.right[at] if self.right else '0')}"


class Task0(_NanoTask):
    """Silence."""

    interrupts = True
    instruction = "011000"


class Task1(_NanoTask):
    """A single 1."""

    instruction = "1111000"
    right = "1"


class Task11(_NanoTask):
    """Twice 1."""

    instruction = "11111000"
    right = "11"


class Task10(_NanoTask):
    """1, then 0."""

    instruction = "11101000"
    right = "10"
