"""Console of a human learner: both streams, the map, an input line."""

from __future__ import annotations

import curses
from typing import Any

from interplay.env.commai.channels import InputChannel
from interplay.env.commai.portraits import map_lines
from interplay.env.commai.view.base import BaseView
from interplay.env.commai.view.plain import PlainView, typed

__all__ = ["BaseView", "ConsoleView", "PlainView"]

LABEL = 9  # columns before a stream


class ConsoleView(BaseView):
    """Streams of teacher and learner, one under the other. SKIP in the input line ends the task."""

    def __init__(self, env: Any, session: Any, serializer: Any, show_world: bool = False) -> None:
        super().__init__(env, session)
        self._show_world = show_world
        self._ears = {"teacher": InputChannel(serializer), "learner": InputChannel(serializer)}
        self._notice = ""

    def initialize(self) -> None:
        super().initialize()
        self._session.env_token_updated.register(self._ears["teacher"].consume_bit)
        self._session.learner_token_updated.register(self._ears["learner"].consume_bit)

    def lines(self) -> list[str]:
        width = self._screen.getmaxyx()[1] if self._screen is not None else 80
        streams = [f"{who + ':':<{LABEL}}{ear.get_text()[-(width - LABEL - 1) :]}" for who, ear in self._ears.items()]
        drawn = map_lines(self._env._current_world, 9) if self._show_world else []
        return [*super().lines(), "", *streams, self._notice, *drawn]

    def notify(self, text: str) -> None:
        """Shows a line under the streams."""
        self._notice = text

    def get_input(self) -> str:
        """Reads a line that is typed under the streams."""
        self.draw()
        self._screen.nodelay(False)
        curses.echo()
        self._screen.addstr(len(self.lines()) + 1, 0, "you: ")
        line = self._screen.getstr().decode(errors="replace")
        curses.noecho()
        self._screen.nodelay(True)
        self._notice = ""
        return typed(self._env, line)
