"""Gymnasium environments of every shape keep the contract of a world."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from interplay.env import registry
from interplay.env.conformance import WorldConformance
from interplay.env.world import World


class Pixels(gymnasium.Env[Any, Any]):
    """A dot on a grey picture that two joint controls push about; the walls are its end."""

    observation_space = spaces.Box(0, 255, (20, 30, 1), np.uint8)
    action_space = spaces.MultiDiscrete([3, 3], start=[-1, -1])

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.at = self.np_random.integers(8, 12, 2)
        return self._picture(), {}

    def step(self, action: NDArray[np.int64]) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        self.at = self.at + action
        outside = bool((self.at < 1).any() or self.at[0] > 18 or self.at[1] > 28)
        return self._picture(), float(action.sum()), outside, False, {}

    def _picture(self) -> NDArray[np.uint8]:
        picture = np.zeros((20, 30, 1), np.uint8)
        y, x = self.at
        picture[max(y - 1, 0) : y + 1, max(x - 1, 0) : x + 1] = 200
        return picture


gymnasium.register("Pixels-v0", Pixels)


class TestBabyAI(WorldConformance):
    def make_world(self) -> World:
        return registry.make("gymnasium", id="BabyAI-GoToLocal-v0", image=[64, 64])


class TestLockedRooms(WorldConformance):
    def make_world(self) -> World:
        return registry.make("gymnasium", id="BabyAI-UnlockPickup-v0")


class TestVector(WorldConformance):
    def make_world(self) -> World:
        return registry.make("gymnasium", id="CartPole-v1", instruction="balance the pole", success_return=195)


class TestContinuous(WorldConformance):
    def make_world(self) -> World:
        return registry.make("gymnasium", id="Pendulum-v1")


class TestOneHot(WorldConformance):
    def make_world(self) -> World:
        return registry.make("gymnasium", id="FrozenLake-v1", instruction="reach the goal")


class TestPixels(WorldConformance):
    def make_world(self) -> World:
        return registry.make("gymnasium", id="Pixels-v0", image=[48, 64])
