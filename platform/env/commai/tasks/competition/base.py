"""Base class of the tasks in language: input is masked while the teacher speaks, and a silence separates tasks."""

from __future__ import annotations

from typing import Any

from interplay.env.commai.task import Task, on_message


class BaseTask(Task):
    """A task that masks the learner's characters while the teacher speaks, and ends with a silence."""

    @on_message()
    def on_any_message(self, event: Any) -> None:
        """Masks the learner's last character if the teacher is speaking. Handlers run in the order of their names;
        those before this one see the character."""
        if not self._env.is_silent() and event.message[-1:] != self._env._serializer.SILENCE_TOKEN:
            self.ignore_last_char()

    def deinit(self) -> None:
        """Adds a silence before the next task, unless the last character sent is one."""
        silence = self._env._serializer.SILENCE_TOKEN
        if self._env._output_channel_listener.get_text()[-1:] != silence:
            self.add_message(silence)
