"""Gate logits of the policy from the start of reinforcement: the reference of the gate's KL penalty."""

from __future__ import annotations

from dataclasses import replace

import torch

from interplay.agent.network import Agent
from interplay.agent.observation import Arrays
from interplay.agent.weights import Weights
from interplay.reward.reward_functions import LaneState, RewardFunction, ScoredUnroll, forward_unroll


class WithReferenceGate(RewardFunction):
    """Adds the gate logits of a frozen reference policy to the scores of another reward function.

    Adds none in a world without utterances.
    """

    def __init__(self, function: RewardFunction, reference: Agent) -> None:
        self._function = function
        self._reference = reference.eval()
        self.version = function.version

    def score(self, arrays: Arrays, lane_state: LaneState) -> ScoredUnroll:
        scored = self._function.score(arrays, lane_state)
        steps, end, after = forward_unroll(self._reference, arrays, lane_state.reference)
        logits = None
        if steps.gate is not None and end.gate is not None:
            logits = torch.cat([steps.gate, end.gate]).cpu().numpy()
        return replace(scored, lane_state=replace(scored.lane_state, reference=after), reference_gate=logits)

    def load_version(self, weights: Weights, version: int) -> None:
        self._function.load_version(weights, version)
        self.version = version
