"""The reward of a trained reward model: the change of its utility."""

from __future__ import annotations

from dataclasses import replace

import torch

from interplay.agent.network import Agent
from interplay.agent.observation import Arrays
from interplay.agent.weights import UTILITY_PREFIX, Weights, load_weights
from interplay.learner.ibt import utility_reward
from interplay.reward.reward_functions import LaneState, RewardFunction, ScoredUnroll, forward_unroll


class LearnedReward(RewardFunction):
    """Scores unrolls with a reward model, on the model's device."""

    def __init__(self, model: Agent, version: int) -> None:
        if model.utility is None:
            raise ValueError("this agent has no utility head: give a checkpoint of the reward stage, not of a policy")
        self._model = model.eval()
        self.version = version

    def score(self, arrays: Arrays, lane_state: LaneState) -> ScoredUnroll:
        steps, end, after = forward_unroll(self._model, arrays, lane_state.reward)
        assert steps.utility is not None and end.utility is not None
        with torch.inference_mode():
            utility = torch.cat([steps.utility, end.utility]).cpu()
            reward = utility_reward(utility=utility, last=torch.from_numpy(arrays["last"]))
        return ScoredUnroll(reward.numpy(), replace(lane_state, reward=after), self.version, utility.numpy())

    def load_version(self, weights: Weights, version: int) -> None:
        if not any(name.startswith(UTILITY_PREFIX) for name in weights):
            raise ValueError("these weights have no utility head: give those of a reward stage, not of a policy")
        load_weights(self._model, weights)
        self.version = version
