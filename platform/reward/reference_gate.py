"""The policy as it was when reinforcement began: the reference of the gate's KL penalty."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from interplay.agent.network import Agent
from interplay.agent.observation import Arrays
from interplay.agent.policy import tensors
from interplay.agent.recurrent import RecurrentState
from interplay.agent.unroll import Unroll


def gate_logits(
    agent: Agent, arrays: Arrays, before: RecurrentState
) -> tuple[NDArray[np.float32] | None, RecurrentState]:
    """The logits of an agent's gate along an unroll [T + 1, b], from its state before row 0; also that before row T.

    None instead of logits where the world has no utterances.
    """
    observations = tensors({key: arrays[key] for key in agent.layout.observations(0, 0)}, agent.device)
    with torch.inference_mode():
        upto, between = agent({key: value[:-1] for key, value in observations.items()}, before)
        end, _ = agent({key: value[-1:] for key, value in observations.items()}, between)
    return None if upto.gate is None else torch.cat([upto.gate, end.gate]).cpu().numpy(), between


class ReferenceGate:
    """The policy as it was: the logits of its gate along the played lanes, for the KL penalty."""

    def __init__(self, agent: Agent, lanes: int) -> None:
        self.agent = agent.eval()
        self._lanes = agent.initial_state(lanes)

    def logits(self, unroll: Unroll) -> NDArray[np.float32] | None:
        """[T + 1, b] for the lanes' next unroll; None where the world has no utterances."""
        logits, self._lanes = gate_logits(self.agent, unroll.arrays, self._lanes)
        return logits

    def state(self) -> Any:
        """What a resume needs: its weights, too, so that the reference stays what it was."""
        return {"weights": self.agent.state_dict(), "lanes": [part.clone() for part in self._lanes]}

    def load_state(self, state: Mapping[str, Any]) -> None:
        """Goes on from what `state` returned."""
        self.agent.load_state_dict(state["weights"])
        self._lanes = RecurrentState(*(part.to(self.agent.device) for part in state["lanes"]))
