"""What the agent is paid for an unroll, behind one interface: by the learned model, by true progress, by the world."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from interplay.agent.observation import Arrays
from interplay.agent.unroll import Unroll
from interplay.learner.ibt import utility_reward
from interplay.reward.service import RewardService


class RewardFunction(ABC):
    """Pays lanes unroll after unroll."""

    version: int = 0  # of the reward model that pays; 0 where none does

    @abstractmethod
    def pay(self, unroll: Unroll) -> NDArray[np.float32]:
        """The reward of the lanes' next unroll, float32 [T, b]."""

    @abstractmethod
    def state(self) -> dict[str, Any]:
        """What a resume needs."""

    @abstractmethod
    def load_state(self, state: Mapping[str, Any]) -> None:
        """Goes on from what `state` returned."""


class LearnedReward(RewardFunction):
    """Asks the reward service, and carries the lanes' states for it."""

    def __init__(self, service: RewardService, lanes: int, version: int) -> None:
        self.version = version
        self._service = service
        self._lanes: Arrays = service.initial_state(lanes)

    def pay(self, unroll: Unroll) -> NDArray[np.float32]:
        scored = self._service.score(unroll.arrays, self._lanes)
        self._lanes = scored.state
        return scored.reward

    def state(self) -> dict[str, Any]:
        return {name: torch.from_numpy(array.copy()) for name, array in self._lanes.items()}

    def load_state(self, state: Mapping[str, Any]) -> None:
        self._lanes = {name: tensor.numpy() for name, tensor in state.items()}


class ProgressReward(RewardFunction):
    """The change of the task's true progress: an upper bound, and what the paper's agents on probe rewards had."""

    def pay(self, unroll: Unroll) -> NDArray[np.float32]:
        progress = torch.from_numpy(unroll.arrays["progress"])
        if torch.isnan(progress).any():
            raise ValueError("these unrolls carry no true progress; set reinforce.actor.progress=true")
        return utility_reward(utility=progress, last=torch.from_numpy(unroll.arrays["last"])).numpy()

    def state(self) -> dict[str, Any]:
        return {}

    def load_state(self, state: Mapping[str, Any]) -> None:
        assert not state, "the scripted payment keeps nothing"


class EnvironmentReward(RewardFunction):
    """What the world itself pays, as Gymnasium's environments do."""

    def pay(self, unroll: Unroll) -> NDArray[np.float32]:
        paid: NDArray[np.float32] = np.where(unroll.arrays["last"], np.float32(0), unroll.arrays["env_reward"])
        return paid[: unroll.steps]

    def state(self) -> dict[str, Any]:
        return {}

    def load_state(self, state: Mapping[str, Any]) -> None:
        assert not state, "the world's payment keeps nothing"
