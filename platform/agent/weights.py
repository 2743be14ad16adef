"""Weights as numpy arrays, for transfer between processes and for initializing a reward model from an agent."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import torch
from numpy.typing import NDArray

from interplay.agent.network import Agent

Weights = dict[str, NDArray[np.generic]]
UTILITY_PREFIX, MARK_PREFIX = "utility.", "marks."
REWARD_HEADS = (UTILITY_PREFIX, MARK_PREFIX)  # which a policy lacks


def export_weights(agent: Agent) -> Weights:
    """The agent's weights by name; on the CPU they are views that change with the next update."""
    return {name: tensor.detach().cpu().numpy() for name, tensor in agent.state_dict().items()}


def load_weights(agent: Agent, weights: Mapping[str, NDArray[np.generic]]) -> None:
    """Copy weights into the agent. A reward model accepts a policy's weights and keeps its own head.

    Raises:
        ValueError: other weights are missing, unknown or of another shape.
    """
    own = agent.state_dict()
    missing = sorted(name for name in own if name not in weights and not name.startswith(REWARD_HEADS))
    unknown = sorted(name for name in weights if name not in own)
    shapes = [
        f"{name} {weights[name].shape} into {tuple(own[name].shape)}"
        for name in own
        if name in weights and weights[name].shape != tuple(own[name].shape)
    ]
    if missing or unknown or shapes:
        raise ValueError(
            f"these weights are of another agent (missing: {missing[:5]}, unknown: {unknown[:5]}, "
            f"shapes: {shapes[:5]}); use the size, world and vocabulary that they were trained with"
        )
    with torch.no_grad():
        for name, value in weights.items():
            own[name].copy_(torch.as_tensor(np.array(value)))
