"""Small tasks, and a teacher's session by hand, for the tests of the engine."""

from __future__ import annotations

from typing import Any

from interplay.env.commai.environment import Environment
from interplay.env.commai.scheduler import SequentialTaskScheduler
from interplay.env.commai.serializer import IdentitySerializer, StandardSerializer
from interplay.env.commai.task import Task, on_message, on_start


class SayA(Task):
    """Says "A" and pays 1 with "ok" at any character."""

    def __init__(self, world: Any = None) -> None:
        super().__init__(max_time=100, world=world)

    @on_start()
    def begin(self, event: Any) -> None:
        self.set_message("A")

    @on_message()
    def answer(self, event: Any) -> None:
        self.set_reward(1, "ok")


def environment_of(*tasks: Any, bits: bool = False, **settings: Any) -> Environment:
    serializer: Any = StandardSerializer() if bits else IdentitySerializer()
    return Environment(serializer, SequentialTaskScheduler(tasks), **{"seed": 1, **settings})


def talk(environment: Environment, said: str, first: bool = True) -> str:
    """What the teacher says while the learner says `said`, characters as tokens; `first` adds the opening call."""
    tokens: list[Any] = [None, *said] if first else list(said)
    return "".join(environment.next(token)[0] for token in tokens)
