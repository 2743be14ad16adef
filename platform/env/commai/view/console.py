"""Console of a human learner: both streams, the map, an input line."""

from __future__ import annotations

import curses
import sys
from typing import Any

from interplay.env.commai.channels import InputChannel
from interplay.env.commai.portraits import map_lines
from interplay.env.commai.view.base import BaseView
from interplay.env.commai.view.plain import PlainView, typed

__all__ = ["BaseView", "ConsoleView", "PlainView"]

LABEL = 9  # columns before a stream
PROMPT = "you: "
ENTER, ERASE, END = ("\n", "\r"), ("\b", "\x7f"), "\x04"  # keys; Ctrl-D ends the input
KEPT = 2000  # characters of a stream, more than any terminal is wide
REDRAW = 500  # milliseconds between two drawings while no key is typed


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
        room = max(1, width - LABEL - 1)
        for ear in self._ears.values():
            if len(ear.get_text()) > 2 * KEPT:
                ear.set_deserialized_buffer(ear.get_text()[-KEPT:])
        streams = [f"{who + ':':<{LABEL}}{_shown(ear.get_text()[-room:])}" for who, ear in self._ears.items()]
        drawn = map_lines(self._env._current_world, 9) if self._show_world else []
        return [*super().lines(), "", *streams, self._notice, *drawn]

    def notify(self, text: str) -> None:
        """Shows a line under the streams."""
        self._notice = text

    def get_input(self) -> str:
        """Reads a line that is typed under the streams.

        curses tests for a resized terminal before it waits for a key, so it misses a signal that arrives between the
        two. A wait with a limit draws the new size after `REDRAW` at the latest.

        Raises:
            KeyboardInterrupt: the input has ended.
        """
        self._screen.timeout(REDRAW)
        line, key = "", ""
        while key not in ENTER:
            self._draw_prompt(line)
            key = self._read_key()
            if key in ERASE:
                line = line[:-1]
            elif key.isprintable():
                line += key
        self._screen.nodelay(True)
        self._notice = ""
        return typed(self._env, line)

    def _draw_prompt(self, line: str) -> None:
        """Draws everything, with the line that is being typed in the last row if there is no other."""
        self.draw()
        height, width = self._screen.getmaxyx()
        room = max(1, width - len(PROMPT) - 1)
        row = min(len(self.lines()) + 1, height - 1)
        self._screen.addstr(row, 0, f"{PROMPT}{_shown(line[-room:])}"[: max(0, width - 1)])
        self._screen.clrtoeol()
        self._screen.refresh()

    def _read_key(self) -> str:
        """The next key; "" for one without a character, such as that of a resized terminal, and for none in time."""
        try:
            key = self._screen.get_wch()
        except curses.error:  # no key, a signal, or a terminal that has gone
            if not sys.stdin.isatty():
                raise KeyboardInterrupt from None
            return ""
        if key == END:
            raise KeyboardInterrupt
        return key if isinstance(key, str) else ERASE[0] if key == curses.KEY_BACKSPACE else ""


def _shown(text: str) -> str:
    """A text without characters that would move the cursor."""
    return "".join(character if character.isprintable() else "?" for character in text)
