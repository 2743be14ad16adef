"""How often a part has died of late: what happens once a day is outlived, what happens at each start is not."""

from __future__ import annotations

import time
from collections.abc import Callable


class RestartBudget:
    """Counts the deaths of one part, over all its lives."""

    def __init__(self, window: float, clock: Callable[[], float] = time.monotonic) -> None:
        """`window`: seconds after which a death is forgotten; `clock`: seconds from anywhere."""
        self._window = window
        self._clock = clock
        self._counted: list[tuple[float, int]] = []  # when, and what had been made by then

    def count(self, made: int) -> int:
        """One more death, of what has made so many pieces in all its lives; returns how many count, this one with them.

        Older ones are forgotten, but not those since which nothing was made: a part that needs an hour to start, and
        dies of it each time, is given up all the same.
        """
        now = self._clock()
        self._counted = [(at, by) for at, by in self._counted if now - at <= self._window or made <= by]
        self._counted.append((now, made))
        return len(self._counted)
