"""Policies: choose one step's actions for many lanes in a single forward pass, without gradients."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from interplay.agent.heads import gate_log_prob
from interplay.agent.inference_device import InferenceDevice, fetch, send
from interplay.agent.network import Agent, AgentOutput
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


def act(
    agent: Agent,
    observations: Mapping[str, Tensor],
    state: RecurrentState[Tensor],
    noise: Noise,
    greedy: bool = False,
    on: InferenceDevice | None = None,
    *,
    fetch_state: bool = False,
) -> Decision:
    """Chooses one step's actions of all lanes, given the recurrent state before the step.

    Args:
        observations: [1, B, ...], uploaded by `on`; see `observation.py`.
        on: precision and stream of the computation. By default float32 on a new stream, which does not wait for work
            on others: on a GPU, give one.
        fetch_state: return the state after the step on the host, in the same transfer as the actions.
    """
    on = on or InferenceDevice(agent.device)
    with on.running():
        with on.autocast():
            output, after = agent(dict(observations), state, with_vision=False)
        chosen = _choose(agent, output, noise, greedy)
        if not fetch_state:
            return Decision(**fetch(chosen), state=after)
        found = fetch({**chosen, **after._asdict()})
        kept = RecurrentState(*(torch.from_numpy(found.pop(name)) for name in RecurrentState._fields))
        return Decision(**found, state=kept)


def _choose(agent: Agent, output: AgentOutput, noise: Noise, greedy: bool) -> dict[str, Tensor]:
    """The fields of a `Decision` but its state, on the agent's device.

    Waits for a GPU once to learn which lanes speak, and once for each token that they write.
    """
    core = output.core[0]  # [B, the width of the core]
    lanes, layout = core.shape[0], agent.layout
    movement = torch.zeros(lanes, layout.actions_per_step, layout.components, dtype=torch.int8, device=core.device)
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
        speak = gate > 0 if greedy else noise.uniform(gate) < gate.sigmoid()
        language_log_prob = gate_log_prob(gate, speak)
        speaking = speak.cpu()
        if speaking.any():
            where = send(speaking.nonzero()[:, 0], core.device)
            written, log_prob = agent.language.write(core[where], noise.only(speaking), greedy)
            tokens[where] = written.to(torch.int16)
            language_log_prob[where] += log_prob
    return {
        "movement": movement,
        "movement_log_prob": movement_log_prob.float(),
        "speak": speak,
        "tokens": tokens,
        "language_log_prob": language_log_prob.float(),
        "value": output.value[0].float(),
    }


class Policy(Protocol):
    """Chooses actions for a batch of lanes. The caller holds the recurrent state; the policy only its random state."""

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

    def __init__(
        self, agent: Agent, generator: torch.Generator, greedy: bool = False, on: InferenceDevice | None = None
    ) -> None:
        """
        Args:
            on: device and precision of its decisions, to which it moves the agent; float32 on the agent's by default.
        """
        self._on = on or InferenceDevice(agent.device)
        self.agent = agent.to(self._on.device).eval()
        pack(self.agent)
        self.layout = agent.layout
        self.greedy = greedy
        self._generator = generator

    def initial_state(self, lanes: int) -> RecurrentState[Tensor]:
        with self._on.stream():
            return self.agent.initial_state(lanes)

    def decide(self, observations: Arrays, state: RecurrentState[Tensor]) -> Decision:
        noise = Noise.of(self._generator, state.lanes)
        return act(self.agent, self._on.upload(observations), state, noise, self.greedy, self._on)

    def load_version(self, weights: Weights, version: int) -> None:
        with self._on.stream():
            load_weights(self.agent, weights)

    def random_state(self) -> Tensor:
        return self._generator.get_state()

    def load_random_state(self, state: Tensor) -> None:
        self._generator.set_state(state)
