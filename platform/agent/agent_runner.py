"""Runs one agent in several worlds (lanes): observations in, actions out, one forward pass for all lanes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch

from interplay.agent.inputs import LaneInputs, LaneViews
from interplay.agent.policy import Decision, Policy
from interplay.agent.recurrent import RecurrentState
from interplay.env.world import Action, View
from interplay.episodes.vocabulary import Vocabulary


class AgentRunner:
    """State of an agent between two steps: inputs, recurrent state, policy with its random state::

    runner.reset(lane)                 # at the start of an episode
    runner.observe(lane, view)         # for each lane
    actions, _ = runner.decide()       # one action for each lane
    """

    def __init__(self, policy: Policy, vocabulary: Vocabulary, lanes: int, views: LaneViews | None = None) -> None:
        """`views`: see `LaneInputs`."""
        self.policy = policy
        self.lanes = lanes
        self.vocabulary = vocabulary
        self.inputs = LaneInputs(policy.layout, vocabulary, lanes, views)
        self.memory = policy.initial_state(lanes)

    def reset(self, lane: int) -> None:
        """Start an episode: the lane's next view is its first."""
        self.inputs.reset(lane)

    def observe(self, lane: int, view: View) -> None:
        """Set the lane's current observation."""
        self.inputs.observe(lane, view)

    def decide(self) -> tuple[list[Action], Decision]:
        """Choose an action for every lane, and record it as executed."""
        decision = self.policy.decide(self.inputs.arrays, self.memory)
        self.memory = decision.state
        self.inputs.record_action(slice(None), decision.movement)
        texts = [
            self.vocabulary.decode(decision.tokens[lane]) if speak else "" for lane, speak in enumerate(decision.speak)
        ]
        chunks = self.policy.layout.chunk(decision.movement)
        return [Action(chunk, text or None) for chunk, text in zip(chunks, texts, strict=True)], decision

    def force(self, lane: int, action: Action) -> None:
        """Record another action as executed in a lane in place of the one just chosen.

        Its movement becomes the previous action; its utterance comes back with the next view.
        """
        self.inputs.record_action(lane, self.policy.layout.distinct(action.movement))

    def state(self) -> dict[str, Any]:
        """State for a checkpoint."""
        return {
            "inputs": {key: torch.from_numpy(value.copy()) for key, value in self.inputs.arrays.items()},
            "memory": [part.cpu() for part in self.memory],
            "generator": self.policy.random_state(),
        }

    def load_state(self, state: Mapping[str, Any]) -> None:
        """Restore a result of `state`."""
        self.inputs.load(state["inputs"])
        self.memory = RecurrentState(*state["memory"]).to_tensors(self.memory.hidden.device)
        self.policy.load_random_state(state["generator"])
