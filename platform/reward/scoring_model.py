"""What a reward replica does with an unroll: it pays it, and says how the frozen gate would have acted along it.

Nothing is kept between two requests: the lanes' states come with the request and go back with the answer.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from interplay.agent.network import Agent
from interplay.agent.observation import Arrays
from interplay.agent.recurrent import state_from_arrays, state_to_arrays
from interplay.agent.weights import Weights
from interplay.reward.reference_gate import gate_logits
from interplay.reward.service import RewardService


@dataclass(frozen=True)
class LaneState:
    """What the two networks remember of the lanes, before the next unroll's row 0; by name [b, D]."""

    payment: Arrays | None = None  # None: nothing yet, or nobody pays by a model
    gate: Arrays | None = None


@dataclass(frozen=True)
class ScoredUnroll:
    """The answer for one unroll."""

    reward: NDArray[np.float32] | None  # [T, b]; None where no model pays
    gate: NDArray[np.float32] | None  # [T + 1, b]; None where there is no frozen gate
    states: LaneState
    version: int  # of the reward model
    utility: NDArray[np.float32] | None = None  # [T + 1, b], beside the reward


class ScoringModel:
    """Pays with a reward model, and asks the frozen gate; either may be missing."""

    def __init__(self, *, service: RewardService | None, reference: Agent | None, version: int) -> None:
        self._service = service
        self._reference = None if reference is None else reference.eval()
        self.version = version

    def score(self, arrays: Arrays, states: LaneState) -> ScoredUnroll:
        """Judges one unroll [T + 1, b].

        Raises:
            ValueError: an array that a network needs is missing.
        """
        lanes = arrays["first"].shape[1]
        reward = utility = payment = logits = gate = None
        if self._service is not None:
            scored = self._service.score(arrays, states.payment or self._service.initial_state(lanes))
            reward, utility, payment = scored.reward, scored.utility, scored.state
        if self._reference is not None:
            before = self._reference.initial_state(lanes)
            if states.gate is not None:
                before = state_from_arrays([states.gate[name] for name in ("hidden", "cell")], self._reference.device)
            logits, between = gate_logits(self._reference, arrays, before)
            gate = dict(zip(("hidden", "cell"), state_to_arrays(between), strict=True))
        return ScoredUnroll(reward, logits, LaneState(payment, gate), self.version, utility)

    def load_version(self, weights: Weights, version: int) -> None:
        """From the next request on, pays with these weights of the reward model.

        Raises:
            ValueError: they are of another model, or nobody pays by a model here.
        """
        if self._service is None:
            raise ValueError("no reward model pays here, so none can be replaced")
        self._service.load_weights(weights)
        self.version = version
