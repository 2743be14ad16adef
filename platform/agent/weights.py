"""Weights as numpy arrays, for transfer between processes and for initializing a reward model from an agent."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from interplay.agent.network import Agent

Weights = dict[str, NDArray[np.generic]]
UTILITY_PREFIX, MARK_PREFIX = "utility.", "marks."
REWARD_HEADS = (UTILITY_PREFIX, MARK_PREFIX)  # which a policy lacks


def export_weights(agent: Agent) -> Weights:
    """The agent's weights by name; on the CPU they are views that change with the next update."""
    return as_arrays(agent.state_dict())


def as_arrays(tensors: Mapping[str, Tensor]) -> Weights:
    """Weights from tensors; those on the CPU share their memory."""
    return {name: tensor.detach().cpu().numpy() for name, tensor in tensors.items()}


def load_weights(agent: Agent, weights: Mapping[str, NDArray[np.generic]]) -> None:
    """Copy weights into the agent. A reward model accepts a policy's weights and keeps its own head.

    Raises:
        ValueError: other weights are missing, unknown or of another shape.
    """
    if wrong := misfit(agent, weights, may_lack=REWARD_HEADS):
        raise ValueError(
            f"these weights are of another agent ({wrong}); use the size, world and vocabulary that they were trained "
            "with"
        )
    own = agent.state_dict()
    with torch.no_grad():
        for name, value in weights.items():
            own[name].copy_(torch.as_tensor(np.array(value)))


def misfit(
    agent: Agent, weights: Mapping[str, Any], *, may_lack: tuple[str, ...] = (), may_add: tuple[str, ...] = ()
) -> str:
    """Which weights are missing, unknown or of another shape than the agent's; empty if all fit.

    Names that begin with one of `may_lack` may be missing, those with one of `may_add` unknown.
    """
    own = agent.state_dict()
    missing = sorted(name for name in own if name not in weights and not name.startswith(may_lack))
    unknown = sorted(name for name in weights if name not in own and not name.startswith(may_add))
    shapes = [
        f"{name} {tuple(np.shape(weights[name]))} into {tuple(own[name].shape)}"
        for name in own
        if name in weights and tuple(np.shape(weights[name])) != tuple(own[name].shape)
    ]
    if not (missing or unknown or shapes):
        return ""
    return f"missing: {missing[:5]}, unknown: {unknown[:5]}, shapes: {shapes[:5]}"
