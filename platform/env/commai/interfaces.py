"""The three ways in which a world exchanges tokens with the teacher: bits, characters, and whole utterances."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from interplay.env.commai.environment import Environment
from interplay.env.commai.serializer import SILENCE, IdentitySerializer, StandardSerializer
from interplay.env.world import Component

MOST_CHARACTERS = 2000  # of one step in utterances


@dataclass
class Exchange:
    """Result of one step: the teacher's characters or bits, and the rewards of the tasks that ended in it."""

    heard: str = ""
    rewards: tuple[float, ...] = ()


class Interface(ABC):
    """How a step is exchanged with an environment.

    `symbols`: what a movement chooses from, silence first. `movement`: of the solver. `serializer`: of the environment.
    `characters_per_step`: how much of a task's time a step takes, for time limits.
    """

    symbols: str = ""
    movement: tuple[Component, ...] = ()
    serializer: Any
    characters_per_step: float = 1.0

    @abstractmethod
    def open(self, environment: Environment) -> Exchange:
        """The first call, before any step."""

    @abstractmethod
    def step(self, environment: Environment, said: Any) -> Exchange:
        """One step. `said`: the chosen symbol's index, or the solver's utterance or None."""

    def senses(self, exchange: Exchange) -> NDArray[np.float32]:
        """The vector observation: the teacher's symbol one-hot, the reward clipped to +-1, whether a task ended."""
        vector = np.zeros(len(self.symbols) + 2, np.float32)
        at = self.symbols.find(exchange.heard[-1:]) if exchange.heard else -1
        if at >= 0:
            vector[at] = 1.0
        if exchange.rewards:
            vector[-2:] = min(max(sum(exchange.rewards), -1.0), 1.0), 1.0
        return vector


class Bits(Interface):
    """One bit per step; silence is zeros. `nano`: the tasks are defined on bits."""

    symbols = "01"
    movement = (Component("bit", 2, 0),)

    def __init__(self, nano: bool) -> None:
        self.nano = nano
        self.serializer = IdentitySerializer() if nano else StandardSerializer("\0")
        self.characters_per_step = 1.0 if nano else 1 / 8

    def open(self, environment: Environment) -> Exchange:
        return _collected([environment.next(None)])

    def step(self, environment: Environment, said: Any) -> Exchange:
        return _collected([environment.next(self.symbols[said])])


class Characters(Interface):
    """One character of eight bits per step. The first bit of the teacher's next character waits for the next step."""

    def __init__(self, alphabet: str) -> None:
        self.symbols = alphabet
        self.movement = (Component("character", len(alphabet), 0),)
        self.serializer = StandardSerializer()
        self._bits = [self.serializer.to_binary(character) for character in alphabet]
        self._waiting = ""  # the first bit of the teacher's next character

    def open(self, environment: Environment) -> Exchange:
        self._waiting = environment.next(None)[0]
        return Exchange()

    def step(self, environment: Environment, said: Any) -> Exchange:
        return self.exchange(environment, self._bits[said])

    def exchange(self, environment: Environment, bits: str) -> Exchange:
        """Sends the eight bits of a character."""
        step = environment.next
        calls = [step(bit) for bit in bits]
        sent = self._waiting + "".join([token for token, _ in calls[:-1]])
        self._waiting = calls[-1][0]
        heard = self.serializer.to_text(sent) or ""
        return Exchange(heard, tuple(reward for _, reward in calls if reward is not None))


class Utterances(Characters):
    """One step is the solver's utterance, or silence, and the teacher's text until its second silence begins.

    A silent step lasts `silence` characters if the teacher is silent, too. The end of a task ends the step, so that the
    words of the next one come with the next step.
    """

    def __init__(self, silence: int) -> None:
        super().__init__("")
        self.movement = ()
        self.silence = silence
        self.characters_per_step = float(silence)

    def step(self, environment: Environment, said: Any) -> Exchange:
        words = "" if said is None else closed(said)
        heard, idle = "", 0  # idle: how many silences in a row the teacher has begun
        for number in range(MOST_CHARACTERS):
            waited = number >= self.silence if said is None else True
            if number >= len(words) and (waited if not heard.strip() else idle > 1) and environment.is_idle():
                break
            character = words[number] if number < len(words) else SILENCE
            for part in _whole_bytes(self.serializer.to_binary(character)):
                now = self.exchange(environment, part)
                heard += now.heard
                idle = idle + 1 if environment.is_idle() else 0
                if now.rewards:
                    return Exchange(heard, now.rewards)
        return Exchange(heard)


def closed(words: str) -> str:
    """An utterance with the full stop that answers end in."""
    return words if words.endswith(".") else f"{words}."


def _whole_bytes(bits: str) -> Sequence[str]:
    return [bits[at : at + 8] for at in range(0, len(bits), 8)]


def _collected(calls: Sequence[tuple[str, float | None]]) -> Exchange:
    return Exchange("".join(token for token, _ in calls), tuple(reward for _, reward in calls if reward is not None))
