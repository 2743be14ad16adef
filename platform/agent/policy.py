"""Policies: choose one step's actions for many lanes in a single forward pass, without gradients."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from interplay.agent.heads import gate_log_prob
from interplay.agent.network import Agent
from interplay.agent.noise import Noise
from interplay.agent.observation import Arrays, Layout
from interplay.agent.packed import pack
from interplay.agent.recurrent import RecurrentState
from interplay.agent.weights import Weights, load_weights
from interplay.episodes.vocabulary import PAD


class Decision(NamedTuple):
    """Actions of B lanes in one step. Log-probabilities are under the stochastic policy, even for greedy choices."""

    movement: NDArray[np.int8]  # [B, A, K]; K is 0 where the world has no movement
    movement_log_prob: NDArray[np.float32]  # [B, A], of each action, summed over its components
    speak: NDArray[np.bool_]  # [B]
    tokens: NDArray[np.int16]  # [B, L], all padding where silent
    language_log_prob: NDArray[np.float32]  # [B], of the speak gate, plus the tokens where the agent speaks
    value: NDArray[np.float32]  # [B]
    state: RecurrentState[Tensor]  # after this step


def tensors(arrays: Mapping[str, NDArray[np.generic]], device: torch.device | str = "cpu") -> dict[str, Tensor]:
    """Converts NumPy arrays to tensors; on the CPU both share memory."""
    return {key: torch.from_numpy(value).to(device) for key, value in arrays.items()}


@torch.inference_mode()
def act(
    agent: Agent, observations: Mapping[str, Tensor], state: RecurrentState[Tensor], noise: Noise, greedy: bool = False
) -> Decision:
    """Chooses one step's actions, given the recurrent state before the step.

    Args:
        observations: [1, B, ...]; see `observation.py`.
    """
    output, state = agent(dict(observations), state, with_vision=False)
    core = output.core[0]  # [B, D]
    lanes, layout = core.shape[0], agent.layout
    movement = torch.zeros(lanes, layout.actions_per_step, layout.components, dtype=torch.int8)
    movement_log_prob = core.new_zeros(lanes, layout.actions_per_step)
    if agent.movement is not None and output.movement is not None:
        chosen, log_probs = agent.movement.sample(output.movement[0], noise, greedy)
        movement = chosen.to(torch.int8)
        movement_log_prob = log_probs.sum(-1)
    speak = torch.zeros(lanes, dtype=torch.bool, device=core.device)
    tokens = torch.full((lanes, layout.utterance_length), PAD, dtype=torch.int16, device=core.device)
    language_log_prob = core.new_zeros(lanes)
    if agent.language is not None and output.gate is not None:
        gate = output.gate[0]
        if greedy:
            speak = gate > 0
        else:
            speak = noise.uniform(gate) < gate.sigmoid()
        language_log_prob = gate_log_prob(gate, speak)
        if speak.any():
            written, log_prob = agent.language.write(core[speak], noise.only(speak), greedy)
            tokens[speak] = written.to(torch.int16)
            language_log_prob[speak] += log_prob
    return Decision(
        movement=movement.cpu().numpy(),
        movement_log_prob=movement_log_prob.float().cpu().numpy(),
        speak=speak.cpu().numpy(),
        tokens=tokens.cpu().numpy(),
        language_log_prob=language_log_prob.float().cpu().numpy(),
        value=output.value[0].float().cpu().numpy(),
        state=state,
    )


class Policy(Protocol):
    """Chooses actions for a batch of lanes. The caller holds the recurrent state; the policy only its random state."""

    greedy: bool

    @property
    def layout(self) -> Layout:
        """Shapes of its observation and action arrays."""

    def initial_state(self, lanes: int) -> RecurrentState[Tensor]:
        """Returns the recurrent state at the start of an episode, [B, D]."""

    def decide(self, observations: Arrays, state: RecurrentState[Tensor]) -> Decision:
        """Chooses one step's actions for observations [1, B, ...], given the recurrent state before the step."""

    def load_version(self, weights: Weights, version: int) -> None:
        """Uses the weights of this version from the next step on."""

    def random_state(self) -> Tensor:
        """State of its random generator, as a uint8 tensor."""

    def load_random_state(self, state: Tensor) -> None:
        """Restores the state that `random_state` returned."""


class LocalPolicy:
    """A `Policy` with the network in this process; its layers are converted for fast inference (see `pack`)."""

    def __init__(self, agent: Agent, generator: torch.Generator, greedy: bool = False) -> None:
        self.agent = agent.eval()
        pack(self.agent)
        self.greedy = greedy
        self._generator = generator

    @property
    def layout(self) -> Layout:
        return self.agent.layout

    def initial_state(self, lanes: int) -> RecurrentState[Tensor]:
        return self.agent.initial_state(lanes)

    def decide(self, observations: Arrays, state: RecurrentState[Tensor]) -> Decision:
        noise = Noise.of(self._generator, state.lanes)
        return act(self.agent, tensors(observations, self.agent.device), state, noise, self.greedy)

    def load_version(self, weights: Weights, version: int) -> None:
        load_weights(self.agent, weights)

    def random_state(self) -> Tensor:
        return self._generator.get_state()

    def load_random_state(self, state: Tensor) -> None:
        self._generator.set_state(state)
