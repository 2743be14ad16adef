"""A task with a learner that a test speaks for."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

from interplay.env.commai.environment import Environment
from interplay.env.commai.serializer import IdentitySerializer, StandardSerializer


class OneTask:
    """A scheduler that repeats one task."""

    def __init__(self, task: Any) -> None:
        self.task = task

    def get_next_task(self, train_mode: bool = True) -> Any:
        return self.task

    def step(self, reward: float, train_mode: bool = True) -> None:
        pass


class Lesson:
    """A task in an environment of its own. Tokens are characters, or bits."""

    def __init__(self, task: Any, seed: int = 1, bits: bool = False) -> None:
        self.task = task
        self.serializer: Any = StandardSerializer() if bits else IdentitySerializer()
        self.environment = Environment(self.serializer, OneTask(task), max_reward_per_task=None, seed=seed)
        self.rewards: list[float] = []
        self.tokens: list[Any] = []
        self._width = len(self.serializer.to_binary("a"))
        self._answered = 0  # characters the teacher had sent when the learner began to speak, or this run began
        self._send(None)

    def _send(self, token: Any) -> None:
        given, reward = self.environment.next(token)
        self.tokens.append(given)
        if reward is not None:
            self.rewards.append(reward)
            self._answered = (len(self.tokens) - 1) // self._width  # the next run begins with this token

    @property
    def text(self) -> str:
        """All the teacher has said, in full characters."""
        complete = len(self.tokens) // self._width * self._width
        return str(self.serializer.to_text("".join(self.tokens[:complete])))

    @property
    def last(self) -> str:
        """What the teacher has said last, since the learner began to speak or this run began."""
        return self.text[self._answered :].rstrip().rpartition("  ")[2].strip()

    def say(self, text: str) -> None:
        """Says a text, whether the teacher is silent or not, then silence until it is."""
        self._answered = len(self.text)
        for token in self.serializer.to_binary(text):
            self._send(token)
        self.listen()

    def listen(self) -> str:
        """Silence until the teacher is silent or the task is over; returns what the teacher said last."""
        while not self.environment.is_silent() and not self.task.has_ended():
            self.wait()
        return self.last

    def wait(self, characters: int = 1) -> None:
        """Silence for so many characters."""
        for token in self.serializer.to_binary(self.serializer.SILENCE_TOKEN * characters):
            self._send(token)

    def finish(self, paid: int | None = None) -> float:
        """Silence until there are more rewards than `paid`, by default than now; returns the last one."""
        paid = len(self.rewards) if paid is None else paid
        while len(self.rewards) == paid:
            assert len(self.tokens) < 100_000, "this task never ends"
            self.wait()
        return self.rewards[-1]

    def follow(self, script: Iterator[str], at_once: bool = False) -> float:
        """Says what a script yields, each part when the teacher is silent (or `at_once`); returns the reward."""
        paid = len(self.rewards)
        if not at_once:
            self.listen()
        for text in script:
            if self.task.has_ended():
                break
            self.say(text)
            if len(self.rewards) > paid:
                break
        return self.finish(paid)


def expert_reward(task: Any, seed: int, bits: bool = False) -> float:
    """What a task pays its expert."""
    return Lesson(task, seed, bits).follow(task.expert())


def confused_reward(task: Any, seed: int, bits: bool = False) -> float:
    """What a task pays for its wrong answer."""
    script = task.confused(random.Random(seed))
    return Lesson(task, seed, bits).follow(script, at_once=getattr(task, "interrupts", False))
