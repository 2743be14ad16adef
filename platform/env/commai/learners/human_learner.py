"""A person as the learner."""

from __future__ import annotations

from typing import Any

from interplay.env.commai.channels import InputChannel, OutputChannel
from interplay.env.commai.learners.base import BaseLearner
from interplay.env.commai.serializer import StandardSerializer


class HumanLearner(BaseLearner):
    """Requests a line from its view when the teacher has been silent for two characters, counted from the end of the
    last line, so that the reply is heard first; an empty line is silence.

    `view` has a method `get_input()`, and perhaps `notify(text)`.
    """

    def __init__(self, serializer: Any = None, view: Any = None) -> None:
        self._serializer = serializer or StandardSerializer()
        self._view = view
        self._ear = InputChannel(self._serializer)
        self._mouth = OutputChannel(self._serializer)
        self._speaking = False

    def set_view(self, view: Any) -> None:
        """Sets the view that reads the lines."""
        self._view = view

    def next(self, token: Any) -> Any:
        silence = self._serializer.SILENCE_TOKEN
        if self._speaking and self._mouth.is_empty():
            self._speaking = False
            self._ear.set_deserialized_buffer("")
        self._ear.consume_bit(token)
        if self._mouth.is_empty():
            self._mouth.set_message(self.ask() if self._ear.get_text().endswith(2 * silence) else silence)
        return self._mouth.consume_bit()

    def ask(self) -> str:
        """Reads a line; returns silence for an empty one."""
        line: str = self._view.get_input()
        self._speaking = True
        if line and not line.endswith(".") and hasattr(self._view, "notify"):
            self._view.notify("answers end in a full stop")
        return line or 8 * self._serializer.SILENCE_TOKEN


class ManualHumanLearner(HumanLearner):
    """Learner that requests every single token from its view."""

    def next(self, token: Any) -> Any:
        if self._mouth.is_empty():
            self._mouth.set_message(self._view.get_input() or self._serializer.SILENCE_TOKEN)
        return self._mouth.consume_bit()
