"""`Pixels` as a Gymnasium environment, for everyone who takes those: `pixel_gym:Pixels-v0`."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
from numpy.typing import NDArray
from pixels import ACTIONS, HEIGHT, WIDTH, Pixels

Observation = NDArray[np.uint8]


class PixelEnv(gymnasium.Env[Observation, np.int64]):
    """See `Pixels`. `channels_first`: pictures are [3, 72, 96]."""

    def __init__(self, work: float = 1e-4, wait: float = 0.0, channels_first: bool = False) -> None:
        self._pixels = Pixels(work, wait)
        self._order = (2, 0, 1) if channels_first else (0, 1, 2)
        shape = tuple((HEIGHT, WIDTH, 3)[axis] for axis in self._order)
        self.observation_space = gymnasium.spaces.Box(0, 255, shape, np.uint8)
        self.action_space = gymnasium.spaces.Discrete(ACTIONS)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        super().reset(seed=seed)
        return self._pixels.reset(0 if seed is None else seed).transpose(self._order), {}

    def step(self, action: np.int64) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        picture, reward, over = self._pixels.step(int(action))
        return picture.transpose(self._order), reward, over, False, {}


gymnasium.register("Pixels-v0", PixelEnv)
