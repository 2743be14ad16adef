"""When the next frame is due, and how large and frequent the pictures are."""

from __future__ import annotations

from collections import deque

LATEST_SECONDS = 0.25  # after which time is stretched instead of made up for
RUNGS = ((1, 1.0), (2, 1.0), (2, 0.75), (2, 0.5))  # (frames a picture, share of the full size)
SLOW_TICK_SECONDS = 0.024
LAG_SECONDS = 2.0
EASE_SECONDS = 10.0
TICKS = 60  # over which the 95th percentile is taken
STARTING_TICKS = 60  # the first ones, which compile functions and wait for agents to load; they are not counted


class FrameClock:
    """The clock of a session: frames at a fixed rate, made up for when late, up to a limit."""

    def __init__(self, frames_per_second: float, now: float) -> None:
        self._step = 1.0 / frames_per_second
        self._next = now
        self.lost = 0.0  # seconds by which time was stretched

    def wait(self, now: float) -> float:
        """Seconds until the next frame is due; 0 if it is."""
        return max(0.0, self._next - now)

    def advance(self, now: float) -> None:
        """Notes that the due frame has run."""
        self._next += self._step
        if (late := now - self._next) > LATEST_SECONDS:
            self.lost += late
            self._next = now

    def restart(self, now: float) -> None:
        """Continues from now, after a pause."""
        self._next = now


class PictureLadder:
    """Chooses rate and size of the pictures: a rung down where ticks or a viewer are slow, up after a while of ease."""

    def __init__(self, now: float, every: int = 1) -> None:
        """`every`: frames a picture at least."""
        self._every = every
        self._ticks: deque[float] = deque(maxlen=TICKS)
        self._changed = self._eased = now
        self._starting = STARTING_TICKS  # ticks that are still to come before any counts
        self.rung = 0

    def tick(self, seconds: float, lag: float, now: float) -> bool:
        """Takes in how long a tick took and how far the slowest viewer lags; whether the rung has changed."""
        if self._starting:
            self._starting -= 1
            self._changed = self._eased = now
            return False
        self._ticks.append(seconds)
        busy = len(self._ticks) == TICKS and sorted(self._ticks)[int(0.95 * TICKS)] > SLOW_TICK_SECONDS
        slow = busy or lag > LAG_SECONDS
        if slow:
            self._eased = now
        if slow and self.rung + 1 < len(RUNGS) and now - self._changed > LAG_SECONDS:
            return self._move(1, now)
        if self.rung and now - max(self._eased, self._changed) > EASE_SECONDS:
            return self._move(-1, now)
        return False

    def shows(self, frame: int) -> bool:
        """Whether this frame is drawn."""
        return frame % max(RUNGS[self.rung][0], self._every) == 0

    def size(self, size: tuple[int, int]) -> tuple[int, int]:
        """Height and width of the pictures, where `size` is the full one."""
        share = RUNGS[self.rung][1]
        return int(size[0] * share), int(size[1] * share)

    def _move(self, by: int, now: float) -> bool:
        self.rung += by
        self._changed = self._eased = now
        self._ticks.clear()
        return True
