"""The learner: one forward over all lanes, the weighted terms, one step of Adam. It knows no processes and no files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from interplay.actors.unroll import Unroll
from interplay.agent.memory import State, state_from_arrays
from interplay.agent.network import Agent, Output
from interplay.learner.losses import shuffled_lanes
from interplay.learner.objective import LossWeights, ObjectiveConfig, Term, demonstrated_terms, played_terms


@dataclass(frozen=True)
class LearnerConfig:
    """The objective and the optimiser. The defaults are the paper's."""

    objective: ObjectiveConfig = field(default_factory=ObjectiveConfig)
    learning_rate: float = 1e-4
    adam_betas: tuple[float, float] = (0.0, 0.999)
    gradient_clip: float | None = None  # the largest norm of the whole gradient
    warm_up: int = 0  # updates over which the learning rate grows from 0; choice

    def __post_init__(self) -> None:
        if not self.learning_rate > 0:
            raise ValueError(f"learning_rate is above 0, got {self.learning_rate}")
        if self.warm_up < 0:
            raise ValueError(f"warm_up is at least 0 updates, got {self.warm_up}")
        if self.gradient_clip is not None and not self.gradient_clip > 0:
            raise ValueError(f"gradient_clip is above 0, or null for none; got {self.gradient_clip}")


@dataclass(frozen=True)
class Played:
    """A played unroll with what it earned."""

    unroll: Unroll
    reward: NDArray[np.float32]  # [T, b]
    reference_gate: NDArray[np.float32] | None  # [T + 1, b]: logits of the frozen cloned policy's gate


class Learner:
    """Improves one agent. Dataset lanes' recurrent states are carried here from one unroll to the next."""

    def __init__(self, agent: Agent, config: LearnerConfig, *, dataset_lanes: int, generator: torch.Generator) -> None:
        self.agent = agent
        self.config = config
        self.updates = 0
        self._generator = generator
        self._dataset_state = agent.initial_state(dataset_lanes)
        self._optimiser = torch.optim.Adam(agent.parameters(), lr=config.learning_rate, betas=config.adam_betas)

    def update(self, *, demonstrated: Unroll, played: Played | None = None) -> dict[str, float]:
        """One step on unrolls of the same length; returns metrics by name.

        Raises:
            ValueError: no loss with a weight applies to this agent and these unrolls.
            FloatingPointError: the loss or its gradient is not finite. The weights are as they were before.
        """
        output, lanes = self._forward(demonstrated, played)
        terms = list(self._terms(output, lanes, demonstrated, played))
        if not terms:
            raise ValueError(_nothing_to_learn(self.config.objective.weights, played is not None))
        loss = torch.stack([term.weight * term.loss for term in terms]).sum()
        if not torch.isfinite(loss):
            raise FloatingPointError(f"the loss of update {self.updates} is {loss.item()}: {_listed(terms)}")
        self._optimiser.zero_grad(set_to_none=True)
        loss.backward()  # type: ignore[no-untyped-call]  # torch does not annotate it
        norm = self._clip()
        if not torch.isfinite(norm):  # of a finite loss, as where exp() overflows on the way back
            raise FloatingPointError(f"the gradient of update {self.updates} has norm {norm.item()}: {_listed(terms)}")
        for group in self._optimiser.param_groups:
            group["lr"] = self.config.learning_rate * min(1.0, (self.updates + 1) / max(1, self.config.warm_up))
        self._optimiser.step()
        self.updates += 1
        return self._metrics(terms, loss, norm)

    def weights(self) -> dict[str, NDArray[np.generic]]:
        """A copy of the agent's weights, as actors take them."""
        return {name: tensor.detach().numpy().copy() for name, tensor in self.agent.state_dict().items()}

    def state(self) -> dict[str, Any]:
        """What a resume needs beside the agent's weights."""
        return {
            "optimiser": self._optimiser.state_dict(),
            "updates": self.updates,
            "generator": self._generator.get_state(),
            "dataset_state": list(self._dataset_state),
        }

    def load_state(self, state: Mapping[str, Any]) -> None:
        """Goes on from what `state` returned."""
        self._optimiser.load_state_dict(state["optimiser"])
        self.updates = state["updates"]
        self._generator.set_state(state["generator"])
        self._dataset_state = State(*state["dataset_state"])

    def _forward(self, demonstrated: Unroll, played: Played | None) -> tuple[Output, int]:
        """One forward over the played lanes, then the dataset's; also the number of played lanes."""
        observations = _observations(self.agent, demonstrated)
        state, lanes = self._dataset_state, 0
        if played is not None:
            lanes = played.unroll.lanes
            theirs = _observations(self.agent, played.unroll)
            observations = {key: torch.cat([theirs[key], observations[key]], dim=1) for key in observations}
            start = state_from_arrays([played.unroll.state[name] for name in ("hidden", "cell")])
            state = State(*(torch.cat(pair) for pair in zip(start, state, strict=True)))
        output, after = self.agent(observations, state)
        self._dataset_state = State(*(part[lanes:].detach() for part in after))
        return output, lanes

    def _terms(self, output: Output, lanes: int, demonstrated: Unroll, played: Played | None) -> list[Term]:
        objective = self.config.objective
        terms: list[Term] = []
        if played is not None:
            gate = None if played.reference_gate is None else torch.from_numpy(played.reference_gate)
            arrays = _tensors(played.unroll)
            reward = torch.from_numpy(played.reward)
            terms += played_terms(self.agent, _lanes(output, slice(0, lanes)), arrays, reward, gate, objective)
        permutation = shuffled_lanes(demonstrated.lanes, self._generator)
        terms += demonstrated_terms(
            self.agent, _lanes(output, slice(lanes, None)), _tensors(demonstrated), permutation, objective
        )
        return [term for term in terms if term.weight > 0]

    def _clip(self) -> Tensor:
        limit = self.config.gradient_clip
        return torch.nn.utils.clip_grad_norm_(self.agent.parameters(), float("inf") if limit is None else limit)

    def _metrics(self, terms: list[Term], loss: Tensor, norm: Tensor) -> dict[str, float]:
        metrics = {"loss": loss.item(), "gradient_norm": norm.item()}
        for term in terms:
            metrics[term.name] = term.loss.item()
            metrics |= {name: value.item() for name, value in term.metrics.items()}
        return metrics


def _nothing_to_learn(weights: LossWeights, plays: bool) -> str:
    given = ", ".join(f"{name}={weight:g}" for name, weight in vars(weights).items() if weight > 0)
    return (
        f"none of the losses with a weight above 0 ({given}) applies to an agent of this world that "
        f"{'plays and is shown episodes' if plays else 'is shown episodes and does not play'}; give one that does a "
        f"weight, as learner.objective.weights.{'value' if plays else 'movement_cloning'}=1"
    )


def _listed(terms: list[Term]) -> str:
    return ", ".join(f"{term.name}={term.loss.item():.4g}" for term in terms)


def _observations(agent: Agent, unroll: Unroll) -> dict[str, Tensor]:
    wanted = agent.layout.observations(0, 0)
    return {key: torch.from_numpy(unroll.arrays[key]) for key in wanted}


def _tensors(unroll: Unroll) -> dict[str, Tensor]:
    return {key: torch.from_numpy(array) for key, array in unroll.arrays.items()}


def _lanes(output: Output, lanes: slice) -> Output:
    return Output(*(None if part is None else part[:, lanes] for part in output))  # type: ignore[arg-type]
