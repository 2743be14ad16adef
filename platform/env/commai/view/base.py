"""The curses view of a session: time, reward, task; keys for its speed."""

from __future__ import annotations

import curses
from typing import Any

STEP = 0.001  # seconds by which a key changes the pause between two tokens
EVERY = 50  # tokens between two drawings, unless the session is slow


class BaseView:
    """Status lines. Keys: + is faster, - is slower, 0 the default speed."""

    def __init__(self, env: Any, session: Any) -> None:
        self._env = env
        self._session = session
        self._screen: Any = None
        self._task = ""
        self._result = ""

    def initialize(self) -> None:
        """Opens the screen.

        Raises:
            ValueError: there is no terminal to draw on.
        """
        try:
            self._screen = curses.initscr()
        except curses.error as missing:
            raise ValueError(f"{type(self).__name__} needs a terminal ({missing}); use -v PlainView") from missing
        curses.noecho()
        curses.cbreak()
        self._screen.nodelay(True)
        self._session.total_time_updated.register(self._on_time)
        self._env.task_updated.register(self._on_task)
        self._env.reward_given.register(self._on_reward)

    def finalize(self) -> None:
        """Closes the screen."""
        if self._screen is None:
            return
        self._screen = None
        self._session.total_time_updated.deregister(self._on_time)
        self._env.task_updated.deregister(self._on_task)
        self._env.reward_given.deregister(self._on_reward)
        curses.nocbreak()
        curses.echo()
        curses.endwin()

    def lines(self) -> list[str]:
        """What is drawn, from the top."""
        session = self._session
        total, pause = session.get_total_reward(), session.get_sleep()
        return [
            f"time {session.get_total_time()}   reward {total:g}   pause {pause:.3f} s",
            f"task {self._task} ({sum(session.get_task_count().values())})   last {self._result}",
        ]

    def draw(self) -> None:
        """Draws the lines."""
        height, width = self._screen.getmaxyx()
        self._screen.erase()
        for row, line in enumerate(self.lines()[: height - 1]):
            self._screen.addstr(row, 0, line[: width - 1])
        self._screen.refresh()

    def on_key(self, key: int) -> None:
        """Handles a key."""
        if key == ord("+"):
            self._session.add_sleep(-STEP)
        elif key == ord("-"):
            self._session.add_sleep(STEP)
        elif key == ord("0"):
            self._session.reset_sleep()

    def _on_time(self, time: int) -> None:
        if time % EVERY == 0 or self._session.get_sleep() > STEP:
            self.on_key(self._screen.getch())
            self.draw()

    def _on_task(self, task: Any) -> None:
        self._task = task.get_name()

    def _on_reward(self, task: Any, reward: float) -> None:
        self._result = f"{task.get_name()} {reward:g}"
