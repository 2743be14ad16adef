"""Gate logits of the policy from the start of reinforcement: the reference of the gate's KL penalty."""

from __future__ import annotations

from dataclasses import replace

import torch

from interplay.agent.inference_device import InferenceDevice, SharedUpload, fetch
from interplay.agent.network import Agent
from interplay.agent.observation import Arrays
from interplay.agent.weights import Weights
from interplay.reward.reward_functions import (
    LaneState,
    RewardFunction,
    ScoredUnroll,
    fetched_state,
    forward_unroll,
)


class WithReferenceGate(RewardFunction):
    """Adds the gate logits of a frozen reference policy to the scores of another reward function.

    Adds none in a world without utterances.
    """

    def __init__(self, function: RewardFunction, reference: Agent, on: InferenceDevice | None = None) -> None:
        """
        Args:
            on: device and precision of the reference, and of `function` if that has a network: both then share one
                upload of the unroll. Float32 on the reference's device by default.
        """
        self._function = function
        self._on = on or InferenceDevice(reference.device)
        self._reference = reference.to(self._on.device).eval()
        self.version = function.version

    def score(self, arrays: Arrays, lane_state: LaneState) -> ScoredUnroll:
        shared = SharedUpload(arrays, self._on)
        scored = self._function.score(shared, lane_state)
        with self._on.running():
            output = forward_unroll(self._reference, shared, lane_state.reference, self._on)
            results = output.memory
            if output.steps.gate is not None and output.end.gate is not None:
                results["gate"] = torch.cat([output.steps.gate, output.end.gate])
            found = fetch(results)
        state = replace(scored.lane_state, reference=fetched_state(found))
        return replace(scored, lane_state=state, reference_gate=found.get("gate"))

    def load_version(self, weights: Weights, version: int) -> None:
        self._function.load_version(weights, version)
        self.version = version
