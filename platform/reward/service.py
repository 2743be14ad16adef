"""The reward model as a service: it scores whole unrolls and keeps nothing between two requests.

The recurrent state of a lane comes with the request and goes back with the answer, so that any replica can answer
any request, and a request can be repeated.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from interplay.agent.network import Agent
from interplay.agent.observation import Arrays
from interplay.agent.policy import tensors
from interplay.agent.recurrent import RecurrentState, state_from_arrays, state_to_arrays
from interplay.agent.weights import UTILITY_PREFIX, Weights, load_weights
from interplay.learner.ibt import utility_reward


@dataclass(frozen=True)
class Scored:
    """What an unroll earned."""

    utility: NDArray[np.float32]  # [T + 1, b]
    reward: NDArray[np.float32]  # [T, b]: the change of utility, 0 across the boundary of episodes
    state: Arrays  # of the lanes, before row T, which is row 0 of the next unroll; by name [b, D]


class RewardService:
    """Scores unrolls with a trained reward model."""

    def __init__(self, model: Agent) -> None:
        if model.utility is None:
            raise ValueError("this agent has no utility head: give a checkpoint of the reward stage, not of a policy")
        self._model = model.eval()

    def initial_state(self, lanes: int) -> Arrays:
        """What a lane's first request carries; by name [b, D]."""
        hidden, cell = state_to_arrays(self._model.initial_state(lanes))
        return {"hidden": hidden, "cell": cell}

    def score(self, arrays: Mapping[str, NDArray[np.generic]], state: Arrays) -> Scored:
        """Scores one unroll.

        Args:
            arrays: the observations [T + 1, b, ...] and `last` [T + 1, b] of an unroll.
            state: what `initial_state` or the previous answer for these lanes returned.

        Raises:
            ValueError: an array that the model needs is missing.
        """
        device = self._model.device
        observations = tensors({key: arrays[key] for key in self._wanted(arrays)}, device)
        before = state_from_arrays((state["hidden"], state["cell"]), device)
        with torch.inference_mode():
            # Row T opens the next unroll, so the state to hand back is the one before it.
            upto, between = self._model({key: value[:-1] for key, value in observations.items()}, before)
            end, _ = self._model({key: value[-1:] for key, value in observations.items()}, between)
            utility = torch.cat([upto.utility, end.utility]).cpu()
            reward = utility_reward(utility=utility, last=torch.from_numpy(arrays["last"]))
        hidden, cell = state_to_arrays(RecurrentState(*between))
        return Scored(utility.numpy(), reward.numpy(), {"hidden": hidden, "cell": cell})

    def load_weights(self, weights: Weights) -> None:
        """From the next request on, scores with these.

        Raises:
            ValueError: they are of another model.
        """
        if not any(name.startswith(UTILITY_PREFIX) for name in weights):
            raise ValueError("these weights have no utility head: give those of a reward stage, not of a policy")
        load_weights(self._model, weights)

    def _wanted(self, arrays: Mapping[str, NDArray[np.generic]]) -> list[str]:
        wanted = [*self._model.layout.observations(0, 0)]
        missing = [key for key in [*wanted, "last"] if key not in arrays]
        if missing:
            raise ValueError(f"the unroll lacks {', '.join(missing)}; it has {', '.join(sorted(arrays))}")
        return wanted
