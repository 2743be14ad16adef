"""An agent in the solver's seat of several worlds at once: its policy decides a step for all lanes together."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch

from interplay.agent.inputs import LaneInputs
from interplay.agent.policy import Decision, Policy
from interplay.agent.recurrent import RecurrentState
from interplay.env.world import Action, View
from interplay.episodes.vocabulary import Vocabulary


class AgentRunner:
    """Holds what an agent needs between two steps: its inputs, its memory, its policy with the random state::

    playing.reset(lane)
    playing.observe(lane, view)          # for each lane
    actions = playing.decide()       # one for each lane
    """

    def __init__(self, policy: Policy, vocabulary: Vocabulary, lanes: int) -> None:
        self.policy = policy
        self.vocabulary = vocabulary
        self.inputs = LaneInputs(policy.layout, vocabulary, lanes)
        self.memory = policy.initial_state(lanes)

    def reset(self, lane: int) -> None:
        """The next view of this lane is the first of an episode."""
        self.inputs.reset(lane)

    def observe(self, lane: int, view: View) -> None:
        """What the lane's solver observes now."""
        self.inputs.observe(lane, view)

    def decide(self) -> tuple[list[Action], Decision]:
        """Acts in every lane; takes it that the actions are carried out."""
        decision = self.policy.decide(self.inputs.arrays, self.memory)
        self.memory = decision.state
        self.inputs.record_action(slice(None), decision.movement)
        said = [
            self.vocabulary.decode(decision.tokens[lane]) if spoke else "" for lane, spoke in enumerate(decision.speak)
        ]
        chunks = self.policy.layout.chunk(decision.movement)
        return [Action(chunk, text or None) for chunk, text in zip(chunks, said, strict=True)], decision

    def state(self) -> dict[str, Any]:
        """What a resume needs."""
        return {
            "inputs": {key: torch.from_numpy(value.copy()) for key, value in self.inputs.arrays.items()},
            "memory": list(self.memory),
            "generator": self.policy.random_state(),
        }

    def load_state(self, state: Mapping[str, Any]) -> None:
        """Goes on from what `state` returned."""
        for key, value in state["inputs"].items():
            np.copyto(self.inputs.arrays[key], value.numpy())
        self.memory = RecurrentState(*state["memory"])
        self.policy.load_random_state(state["generator"])
