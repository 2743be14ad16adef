"""Three learners to begin with."""

from __future__ import annotations

from typing import Any

from interplay.env.commai.channels import InputChannel, OutputChannel
from interplay.env.commai.learners.base import BaseLearner
from interplay.env.commai.serializer import StandardSerializer


class SampleRepeatingLearner(BaseLearner):
    """Answers each token with the same token."""

    def next(self, token: Any) -> Any:
        return token


class SampleSilentLearner(BaseLearner):
    """Sends silence, in the tokens of a serializer."""

    def __init__(self, serializer: Any = None) -> None:
        self.serializer = serializer or StandardSerializer()
        self._mouth = OutputChannel(self.serializer)

    def next(self, token: Any) -> Any:
        if self._mouth.is_empty():
            self._mouth.set_message(self.serializer.SILENCE_TOKEN)
        return self._mouth.consume_bit()


class SampleMemorizingLearner(SampleSilentLearner):
    """Memorizes the answer that was rewarded for each message; to others, it answers with the message's last word."""

    def __init__(self, serializer: Any = None) -> None:
        super().__init__(serializer)
        self._ear = InputChannel(self.serializer)
        self._memory: dict[str, str] = {}
        self._answered: list[tuple[str, str]] = []  # messages and answers since the last reward

    def reward(self, reward: float) -> None:
        if reward > 0 and self._answered:
            message, answer = self._answered[0]
            self._memory[message] = answer
        self._answered.clear()

    def next(self, token: Any) -> Any:
        self._ear.consume_bit(token)
        heard = self._ear.get_text()
        if heard[-2:-1] in _CLOSING and heard.endswith(self.serializer.SILENCE_TOKEN) and heard.strip():
            message = heard.strip()
            words = message.rstrip(_CLOSING).split()
            answer = self._memory.get(message, f"{words[-1]}." if words else ".")
            self._answered.append((message, answer))
            self._mouth.set_message(answer)
            self._ear.set_deserialized_buffer("")
        return super().next(token)


_CLOSING = ".?!"
