"""The world that every contestant of `throughput.py` plays: pictures of noise, at a known price.

Needs numpy alone, so that each contestant can import it from its own virtual environment.
"""

from __future__ import annotations

import time

import numpy as np
from numpy.typing import NDArray

HEIGHT, WIDTH = 72, 96
ACTIONS = 9
EPISODE = 200  # steps
PICTURES = 64  # drawn once; a step shows one of them


class Pixels:
    """A step takes `work` seconds of CPU, and sleeps for `wait` seconds more, as a slow simulator would."""

    def __init__(self, work: float, wait: float = 0.0) -> None:
        self._work = work
        self._wait = wait
        self._pictures = np.random.default_rng(0).integers(256, size=(PICTURES, HEIGHT, WIDTH, 3), dtype=np.uint8)
        self.steps = 0
        self.at = 0

    def reset(self, seed: int) -> NDArray[np.uint8]:
        """The first picture of an episode, uint8 [72, 96, 3]."""
        self.steps, self.at = 0, seed % PICTURES
        return self._pictures[self.at]

    def step(self, action: int) -> tuple[NDArray[np.uint8], float, bool]:
        """The next picture, the reward, and whether the episode is over."""
        until = time.thread_time() + self._work
        self.steps += 1
        self.at = (self.at + 1 + action) % PICTURES
        while time.thread_time() < until:
            pass
        if self._wait:
            time.sleep(self._wait)
        return self._pictures[self.at], float(action == self.at % ACTIONS), self.steps >= EPISODE
