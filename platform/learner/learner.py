"""The learner: one forward over all lanes, the weighted terms, one step of Adam. It knows no processes and no files.

update = load (unrolls to the device) -> learn (forward, terms, backward, sum over ranks, step, metrics)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from interplay.agent.network import Agent, AgentOutput
from interplay.agent.recurrent import RecurrentState
from interplay.agent.unroll import Unroll
from interplay.learner.averages import Mean
from interplay.learner.batch import LearnerBatch, Tensors, to_tensors
from interplay.learner.forward import Forward, ForwardConfig
from interplay.learner.losses import shuffled_lanes
from interplay.learner.objective import LossWeights, ObjectiveConfig, Term, demonstration_terms, rollout_terms
from interplay.learner.process_group import ProcessGroup, SingleProcess


@dataclass(frozen=True)
class LearnerConfig(ForwardConfig):
    """The objective and the optimizer, beside where and how the network computes. The defaults are the paper's."""

    objective: ObjectiveConfig = field(default_factory=ObjectiveConfig)
    learning_rate: float = 1e-4
    adam_betas: tuple[float, float] = (0.0, 0.999)
    gradient_clip: float | None = None  # the largest norm of the whole gradient
    warm_up: int = 0  # updates over which the learning rate grows from 0; choice

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.learning_rate > 0:
            raise ValueError(f"learning_rate is above 0, got {self.learning_rate}")
        if self.warm_up < 0:
            raise ValueError(f"warm_up is at least 0 updates, got {self.warm_up}")
        if self.gradient_clip is not None and not self.gradient_clip > 0:
            raise ValueError(f"gradient_clip is above 0, or null for none; got {self.gradient_clip}")


class Learner:
    """Improves one agent. Dataset lanes' recurrent states are carried here from one unroll to the next.

    With `peers`, one rank of several: each has the same agent, settings and generator, and lanes of its own. They
    make the same steps that one learner with all lanes would make.
    """

    def __init__(
        self,
        agent: Agent,
        config: LearnerConfig,
        *,
        dataset_lanes: int,
        generator: torch.Generator,
        peers: ProcessGroup | None = None,
    ) -> None:
        self.forward = Forward(agent, config)
        self.agent = agent
        self.config = config
        self.updates = 0
        self.peers = SingleProcess() if peers is None else peers
        self._compared = False
        self._generator = generator
        self._dataset_state = agent.initial_state(dataset_lanes)
        # One kernel for all weights, which torch has for GPUs; None is its choice on the CPU.
        self._fused = True if self.device.type == "cuda" else None
        self._optimizer = torch.optim.Adam(
            agent.parameters(), lr=config.learning_rate, betas=config.adam_betas, fused=self._fused
        )

    @property
    def device(self) -> torch.device:
        """Where it computes."""
        return self.forward.device

    def update(self, *, demonstrated: Unroll | None, rollout: Unroll | None = None) -> dict[str, float]:
        """One optimizer step on unrolls of the same length, of one kind or both; returns metrics by name (over the
        lanes of all ranks).

        Raises:
            ValueError: no loss with a weight applies to this agent and these unrolls; or ranks differ at the start.
            FloatingPointError: the loss or its gradient is not finite. The weights are as they were before.
        """
        return self.learn(self.load(demonstrated=demonstrated, rollout=rollout))

    def load(self, *, demonstrated: Unroll | None, rollout: Unroll | None = None) -> LearnerBatch:
        """Copy unrolls to the device. May be called for the next update from another thread.

        On the CPU nothing is copied, so the unrolls must not change until `learn` has returned.

        Raises:
            ValueError: an array has the wrong shape or dtype, or the rollout has not been scored.
        """
        if rollout is not None and ("reward" not in rollout.arrays or rollout.state is None):
            raise ValueError("a rollout needs its array `reward` [T, B] and the recurrent state before its row 0")
        return LearnerBatch(
            *(None if each is None else to_tensors(each, self.device) for each in (demonstrated, rollout))
        )

    def learn(self, batch: LearnerBatch) -> dict[str, float]:
        """One step on what `load` returned; otherwise as `update`."""
        self._compare()
        terms = [term for term in self._terms(self._forward(batch), batch) if term.weight > 0]
        if not terms:
            raise ValueError(_nothing_to_learn(self.config.objective.weights, batch.rollout is not None))
        loss, told = self._merged(terms)
        self._optimizer.zero_grad(set_to_none=True)
        loss.backward()  # type: ignore[no-untyped-call]  # torch does not annotate it
        self.peers.sum_gradients(self.agent.parameters())
        metrics = _fetched({**told, "gradient_norm": self._clip()})
        self._refuse_infinite(metrics, terms)
        for group in self._optimizer.param_groups:
            group["lr"] = self.config.learning_rate * min(1.0, (self.updates + 1) / max(1, self.config.warm_up))
        self._optimizer.step()
        self.updates += 1
        return metrics

    def weights(self) -> dict[str, NDArray[np.generic]]:
        """A copy of the agent's weights on the CPU, as actors take them."""
        state = self.agent.state_dict()
        if self.device.type == "cpu":
            return {name: tensor.detach().numpy().copy() for name, tensor in state.items()}
        # From a GPU in one piece: hundreds of small ones would each wait for it.
        flat = torch.cat([tensor.detach().reshape(-1) for tensor in state.values()]).cpu()
        parts = torch.split(flat, [tensor.numel() for tensor in state.values()])
        return {name: part.view(state[name].shape).numpy() for name, part in zip(state, parts, strict=True)}

    def state(self) -> dict[str, Any]:
        """What a resume needs beside the agent's weights, the same on every rank; all of them must ask."""
        return {
            "optimizer": self._optimizer.state_dict(),
            "updates": self.updates,
            "generator": self._generator.get_state(),
            "dataset_state": [self.peers.gather(part[None])[0].cpu() for part in self._dataset_state],
        }

    def load_state(self, state: Mapping[str, Any]) -> None:
        """Goes on from what `state` returned, on whatever device and with however many ranks that was.

        Raises:
            ValueError: it is of another number of dataset lanes.
        """
        optimizer = state["optimizer"]
        groups = [{**group, "fused": self._fused} for group in optimizer["param_groups"]]
        self._optimizer.load_state_dict({**optimizer, "param_groups": groups})
        self.updates = state["updates"]
        self._generator.set_state(state["generator"])
        lanes = self._dataset_state.lanes
        found = len(state["dataset_state"][0])
        if found != lanes * self.peers.size:
            raise ValueError(f"the saved state is of {found} dataset lanes, here are {self.peers.size} x {lanes}")
        own = slice(self.peers.rank * lanes, (self.peers.rank + 1) * lanes)
        self._dataset_state = RecurrentState(*(part[own].to(self.device) for part in state["dataset_state"]))
        self._compared = False

    def _compare(self) -> None:
        """Before the first step: ranks that start apart would stay apart, and nothing would tell."""
        if not self._compared:
            lanes = torch.tensor([self._dataset_state.lanes, self.updates])
            self.peers.check_same("lanes, updates and random state", [lanes, self._generator.get_state()])
            self.peers.check_same("agent", self.agent.state_dict().values())
            self._compared = True

    def _forward(self, batch: LearnerBatch) -> AgentOutput:
        """One forward over the rollout lanes, then the dataset's."""
        inputs: list[tuple[dict[str, Tensor], RecurrentState[Tensor]]] = []
        if batch.rollout is not None and batch.rollout.state is not None:
            inputs.append((self._observations(batch.rollout.device), batch.rollout.state))
        if batch.demonstrated is not None:
            inputs.append((self._observations(batch.demonstrated.device), self._dataset_state))
        output, after = self.forward(*(inputs[0] if len(inputs) == 1 else _concatenated(inputs)))
        if batch.demonstrated is not None:
            self._dataset_state = RecurrentState(*(part[batch.rollout_lanes :].detach() for part in after))
        return output

    def _observations(self, arrays: Tensors) -> dict[str, Tensor]:
        return {key: arrays[key] for key in self.agent.layout.observations(0, 0)}

    def _terms(self, output: AgentOutput, batch: LearnerBatch) -> list[Term]:
        objective, lanes = self.config.objective, batch.rollout_lanes
        terms: list[Term] = []
        if batch.rollout is not None:
            terms += rollout_terms(self.agent, _lanes(output, slice(0, lanes)), batch.rollout, objective)
        if batch.demonstrated is None:
            return terms
        own = batch.demonstrated.lanes
        # Drawn over the lanes of all ranks, and by all alike, so that the number of ranks changes nothing.
        permutation = shuffled_lanes(own * self.peers.size, self._generator)[self.peers.rank * own :][:own]
        terms += demonstration_terms(
            self.agent,
            _lanes(output, slice(lanes, None)),
            batch.demonstrated,
            permutation,
            objective,
            self.peers.gather,
        )
        return terms

    def _merged(self, terms: list[Term]) -> tuple[Tensor, dict[str, Tensor]]:
        """This rank's part of the loss over the lanes of all, and what to tell of all: scalars by name."""
        means = [mean for term in terms for parts in (term.loss, *term.metrics.values()) for mean in parts]
        shares = iter(self.peers.shares(torch.stack([mean.over for mean in means])).unbind())
        losses: dict[str, Tensor] = {}
        told: dict[str, Tensor] = {}
        for term in terms:
            losses[term.name] = _part(term.loss, shares)
            told |= {name: _part(parts, shares).detach() for name, parts in term.metrics.items()}
            told |= term.totals
        loss = torch.stack([term.weight * losses[term.name] for term in terms]).sum()
        told |= {"loss": loss.detach(), **{name: each.detach() for name, each in losses.items()}}
        summed = self.peers.sum(torch.stack([each.double() for each in told.values()]))
        return loss, dict(zip(told, summed.unbind(), strict=True))

    def _clip(self) -> Tensor:
        limit = self.config.gradient_clip
        return torch.nn.utils.clip_grad_norm_(self.agent.parameters(), float("inf") if limit is None else limit)

    def _refuse_infinite(self, metrics: Mapping[str, float], terms: list[Term]) -> None:
        listed = ", ".join(f"{term.name}={metrics[term.name]:.4g}" for term in terms)
        if not np.isfinite(metrics["loss"]):
            raise FloatingPointError(f"the loss of update {self.updates} is {metrics['loss']}: {listed}")
        norm = metrics["gradient_norm"]
        if not np.isfinite(norm):  # of a finite loss, as where exp() overflows on the way back
            raise FloatingPointError(f"the gradient of update {self.updates} has norm {norm}: {listed}")


def _concatenated(
    inputs: Sequence[tuple[dict[str, Tensor], RecurrentState[Tensor]]],
) -> tuple[dict[str, Tensor], RecurrentState[Tensor]]:
    """Observations [T, B, ...] and states of several sources, concatenated along the lanes."""
    streams, states = zip(*inputs, strict=True)
    joined = {key: torch.cat([stream[key] for stream in streams], dim=1) for key in streams[0]}
    return joined, RecurrentState(*(torch.cat(each) for each in zip(*states, strict=True)))


def _part(means: tuple[Mean, ...], shares: Iterator[Tensor]) -> Tensor:
    """This rank's part of a sum of means over the lanes of all; takes as many shares as there are means."""
    parts = [mean.value * next(shares) for mean in means]
    return parts[0] if len(parts) == 1 else torch.stack(parts).sum()


def _fetched(values: Mapping[str, Tensor]) -> dict[str, float]:
    """Scalars by name as numbers, in one piece: this is the one place in an update that waits for the device."""
    numbers = torch.stack([value.double() for value in values.values()]).tolist()
    return dict(zip(values, numbers, strict=True))


def _nothing_to_learn(weights: LossWeights, plays: bool) -> str:
    given = ", ".join(f"{name}={weight:g}" for name, weight in vars(weights).items() if weight > 0)
    return (
        f"none of the losses with a weight above 0 ({given}) applies to an agent of this world that "
        f"{'plays' if plays else 'is shown episodes and does not play'}; give one that does a "
        f"weight, as learner.objective.weights.{'value' if plays else 'movement_cloning'}=1"
    )


def _lanes(output: AgentOutput, lanes: slice) -> AgentOutput:
    return AgentOutput(*(None if part is None else part[:, lanes] for part in output))  # type: ignore[arg-type]
