"""A view in lines of text, for logs and pipes."""

from __future__ import annotations

import sys
from typing import Any, TextIO

from interplay.env.commai.channels import InputChannel
from interplay.env.commai.events import Timeout

SKIP = "SKIP"


class PlainView:
    """Writes one line per finished task, and prompts for input on a separate line."""

    def __init__(self, env: Any, session: Any, output: TextIO | None = None, input_from: TextIO | None = None) -> None:
        self._env = env
        self._session = session
        self._output = output or sys.stdout
        self._input = input_from or sys.stdin
        self._ear: InputChannel | None = None
        self._watching = False

    def initialize(self) -> None:
        """Starts watching."""
        self._env.reward_given.register(self._on_reward)
        self._watching = True

    def finalize(self) -> None:
        """Stops watching."""
        if self._watching:
            self._env.reward_given.deregister(self._on_reward)
        self._watching = False

    def listen(self, serializer: Any) -> None:
        """Also writes the teacher's text when input is requested."""
        self._ear = InputChannel(serializer)
        self._session.env_token_updated.register(self._ear.consume_bit)

    def notify(self, text: str) -> None:
        """Writes a line."""
        self._output.write(f"{text}\n")
        self._output.flush()

    def get_input(self) -> str:
        """Reads a line; SKIP ends the task as its time limit would.

        Raises:
            KeyboardInterrupt: the input has ended.
        """
        if self._ear is not None and self._ear.get_text().strip():
            self.notify(f"teacher: {' '.join(self._ear.get_text().split())}")
            self._ear.set_deserialized_buffer("")
        self._output.write("learner: ")
        self._output.flush()
        line = self._input.readline()
        if not line:
            raise KeyboardInterrupt
        return typed(self._env, line)

    def _on_reward(self, task: Any, reward: float) -> None:
        time, total = self._session.get_total_time(), self._session.get_total_reward() + reward
        self.notify(f"time {time}  task {task.get_name()}  reward {reward:g}  total {total:g}")


def typed(env: Any, line: str) -> str:
    """The message of a typed line; SKIP is an empty message that ends the task."""
    line = line.rstrip("\r\n")
    if line.strip() != SKIP:
        return line
    env.raise_event(Timeout())
    env._current_task.end()
    return ""
