"""The reward of a trained reward model: the change of its utility."""

from __future__ import annotations

from dataclasses import replace

import torch

from interplay.agent.inference_device import InferenceDevice, fetch
from interplay.agent.network import Agent
from interplay.agent.observation import Arrays
from interplay.agent.weights import UTILITY_PREFIX, Weights, load_weights
from interplay.learner.ibt import utility_reward
from interplay.reward.reward_functions import (
    LaneState,
    RewardFunction,
    ScoredUnroll,
    fetched_state,
    forward_unroll,
)


class LearnedReward(RewardFunction):
    """Scores unrolls with a reward model."""

    def __init__(self, model: Agent, version: int, on: InferenceDevice | None = None) -> None:
        """
        Args:
            on: device and precision, to which it moves the model; float32 on the model's by default.
        """
        if model.utility is None:
            raise ValueError("this agent has no utility head: give a checkpoint of the reward stage, not of a policy")
        self._on = on or InferenceDevice(model.device)
        self._model = model.to(self._on.device).eval()
        self.version = version

    def score(self, arrays: Arrays, lane_state: LaneState) -> ScoredUnroll:
        with self._on.running():
            output = forward_unroll(self._model, arrays, lane_state.reward, self._on)
            assert output.steps.utility is not None and output.end.utility is not None
            found = fetch({"utility": torch.cat([output.steps.utility, output.end.utility]), **output.memory})
            utility = torch.from_numpy(found["utility"])
            reward = utility_reward(utility=utility, last=torch.from_numpy(arrays["last"]))
        state = replace(lane_state, reward=fetched_state(found))
        return ScoredUnroll(reward.numpy(), state, self.version, utility.numpy())

    def load_version(self, weights: Weights, version: int) -> None:
        if not any(name.startswith(UTILITY_PREFIX) for name in weights):
            raise ValueError("these weights have no utility head: give those of a reward stage, not of a policy")
        with self._on.stream():
            load_weights(self._model, weights)
        self.version = version
