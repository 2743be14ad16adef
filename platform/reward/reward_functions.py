"""Reward functions: true progress or success, the environment's own reward, or a learned model (`learned_reward`).

All are stateless: the recurrent states of the lanes are an argument and part of the result, so that any process can
score any unroll, and a request can be repeated.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field

import numpy as np
import torch
from numpy.typing import NDArray

from interplay.agent.network import Agent, AgentOutput
from interplay.agent.observation import Arrays
from interplay.agent.policy import tensors
from interplay.agent.recurrent import RecurrentArrays
from interplay.agent.weights import Weights
from interplay.learner.ibt import utility_reward


@dataclass(frozen=True)
class LaneState:
    """Recurrent states of the lanes before row 0 of their next unroll; None before the first, or without a network."""

    reward: RecurrentArrays | None = None  # of the reward model
    reference: RecurrentArrays | None = None  # of the reference policy


@dataclass(frozen=True)
class ScoredUnroll:
    """The score of one unroll."""

    reward: NDArray[np.float32]  # [T, b]
    lane_state: LaneState = field(default_factory=LaneState)
    version: int = 0  # of the reward model; 0 without one
    utility: NDArray[np.float32] | None = None  # [T + 1, b], of a reward model
    reference_gate: NDArray[np.float32] | None = None  # [T + 1, b]: gate logits of the reference policy

    def arrays(self) -> Arrays:
        """The arrays that the score adds to its unroll (see `interplay.agent.unroll`)."""
        gate = {} if self.reference_gate is None else {"reference_gate": self.reference_gate}
        return {"reward": self.reward, **gate}


class RewardFunction(ABC):
    """Scores unrolls."""

    version: int = 0  # of the reward model; 0 without one

    @abstractmethod
    def score(self, arrays: Arrays, lane_state: LaneState) -> ScoredUnroll:
        """Score one unroll.

        Args:
            arrays: of the unroll [T + 1, b, ...]; they may be read-only.
            lane_state: of the previous score of these lanes; `LaneState()` for their first unroll.

        Raises:
            ValueError: an array that the reward is computed from is missing.
        """

    def load_version(self, weights: Weights, version: int) -> None:
        """Replace the weights of the reward model.

        Raises:
            ValueError: the weights belong to another model, or this reward has no model.
        """
        raise ValueError("no reward model pays here, so none can be replaced")


class ProgressReward(RewardFunction):
    """The change of the task's true progress: an upper bound, and the probe reward of the paper's agents."""

    def score(self, arrays: Arrays, lane_state: LaneState) -> ScoredUnroll:
        if np.isnan(arrays["progress"]).any():
            raise ValueError("these unrolls carry no true progress; set reinforce.actor.progress=true")
        return ScoredUnroll(_change(arrays, "progress"), lane_state)


class SuccessReward(RewardFunction):
    """+1 at the step in which a task becomes successful, once a task; 0 otherwise, also for a wrong answer.

    The reward of the scripted probes (section 6.3 of the paper).
    """

    def score(self, arrays: Arrays, lane_state: LaneState) -> ScoredUnroll:
        if np.isnan(arrays["achieved"]).any():
            raise ValueError("these unrolls carry no true success of each step; set reinforce.actor.achieved=true")
        return ScoredUnroll(_change(arrays, "achieved"), lane_state)


class EnvironmentReward(RewardFunction):
    """The world's own reward, as in Gymnasium environments."""

    def score(self, arrays: Arrays, lane_state: LaneState) -> ScoredUnroll:
        reward: NDArray[np.float32] = np.where(arrays["last"], np.float32(0), arrays["env_reward"])
        return ScoredUnroll(reward[:-1], lane_state)


def _change(arrays: Arrays, level: str) -> NDArray[np.float32]:
    """The change of a level [T + 1, b] in each step, [T, b]; 0 for terminal rows."""
    change = utility_reward(utility=torch.tensor(arrays[level]), last=torch.tensor(arrays["last"]))
    reward: NDArray[np.float32] = change.numpy()
    return reward


def forward_unroll(
    model: Agent, arrays: Arrays, state: RecurrentArrays | None
) -> tuple[AgentOutput, AgentOutput, RecurrentArrays]:
    """Run a network along an unroll from its state before row 0; None is the initial state.

    Returns:
        The outputs of rows 0 .. T - 1, that of row T, and the state before row T, which is row 0 of the next unroll.

    Raises:
        ValueError: an array is missing.
    """
    wanted = [*model.layout.observations(0, 0)]
    missing = [key for key in [*wanted, "last"] if key not in arrays]
    if missing:
        raise ValueError(f"the unroll lacks {', '.join(missing)}; it has {', '.join(sorted(arrays))}")
    observations = tensors({key: arrays[key] for key in wanted}, model.device)
    before = model.initial_state(arrays["first"].shape[1]) if state is None else state.to_tensors(model.device)
    with torch.inference_mode():
        steps, between = model({key: value[:-1] for key, value in observations.items()}, before)
        end, _ = model({key: value[-1:] for key, value in observations.items()}, between)
    return steps, end, between.to_arrays()
