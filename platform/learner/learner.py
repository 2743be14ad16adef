"""The learner: one forward pass over all lanes, the weighted loss terms, one step of Adam.

It is independent of processes and files.

    update = load (unrolls to the device) -> learn (forward, terms, backward, sum over ranks, step, metrics)

On a GPU `load` copies on a stream of its own, and with `LearnerConfig.check_lag` nothing of an update waits for the
device: the host prepares the next one while the GPU computes.

With `LearnerConfig.accumulate` forward, terms and backward run part by part (`interplay.learner.batch_parts`).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from interplay.agent.inference_device import send
from interplay.agent.mark_head import MarkState, mark_classes
from interplay.agent.network import Agent, AgentOutput
from interplay.agent.recurrent import RecurrentState
from interplay.agent.unroll import Unroll
from interplay.learner.averages import Mean
from interplay.learner.batch import LearnerBatch, Tensors, load_batch, tensors_of
from interplay.learner.batch_parts import BatchPart, counts_of, empty_like, split_batch
from interplay.learner.config import LearnerConfig
from interplay.learner.forward import Forward
from interplay.learner.losses import shuffled_lanes
from interplay.learner.objective import LossWeights, Term, demonstration_terms
from interplay.learner.pending_metrics import PendingMetrics, fetch_later
from interplay.learner.process_group import ProcessGroup, SingleProcess
from interplay.learner.rollout_terms import effective_shares, rollout_terms
from interplay.learner.weights_snapshot import WeightsSnapshot


class Learner:
    """Trains one agent, and carries the recurrent states of the dataset lanes from one unroll to the next.

    With `group`, one rank of several: each has the same agent, settings and generator, and its own lanes. They make the
    same steps as one learner with all lanes.
    """

    def __init__(
        self,
        agent: Agent,
        config: LearnerConfig,
        *,
        dataset_lanes: int,
        generator: torch.Generator,
        group: ProcessGroup | None = None,
    ) -> None:
        self.forward = Forward(agent, config)
        self.agent = agent
        self.config = config
        self.updates = 0
        self.group = SingleProcess() if group is None else group
        self._ranks_checked = False
        self._generator = generator
        self._dataset_state = agent.initial_state(dataset_lanes)
        self._mark_state = None if agent.marks is None else agent.marks.initial_state(dataset_lanes)
        # A fused kernel on GPUs, and where the device itself decides whether to step; None is torch's default.
        self._fused = True if self.device.type == "cuda" or config.check_lag else None
        self._pending: deque[PendingMetrics] = deque()
        self._broken = torch.zeros((), device=self.device)  # 1 once an update was not finite: no further step is made
        self._copies: torch.cuda.Stream | None = None
        if self.device.type == "cuda":
            self._copies = torch.cuda.Stream(self.device)  # type: ignore[no-untyped-call]  # torch does not annotate it
        self._optimizer = torch.optim.Adam(
            agent.parameters(), lr=config.learning_rate, betas=config.adam_betas, fused=self._fused
        )

    @property
    def device(self) -> torch.device:
        """The device it computes on."""
        return self.forward.device

    def update(self, *, demonstrated: Unroll | None, rollout: Unroll | None = None) -> dict[str, float]:
        """One optimizer step on unrolls of the same length, of one kind or both; returns metrics by name (over the
        lanes of all ranks).

        Raises:
            ValueError: no weighted loss applies to this agent and these unrolls; or ranks differ at the start.
            FloatingPointError: the loss or its gradient is not finite. The weights are unchanged.
        """
        return dict(self.begin_update(demonstrated=demonstrated, rollout=rollout))

    def begin_update(self, *, demonstrated: Unroll | None, rollout: Unroll | None = None) -> Mapping[str, float]:
        """As `update`, without waiting for the metrics if `config.check_lag` is above 0; reading one waits.

        The unrolls may change afterwards.

        Raises:
            FloatingPointError: as `update`, of this update or of one at most `config.check_lag` before.
        """
        return self.begin(self.load(demonstrated=demonstrated, rollout=rollout))

    def settle(self) -> None:
        """Waits for all updates that were begun.

        Raises:
            FloatingPointError: one was not finite; the weights are those before it.
        """
        self._settle(0)

    def _settle(self, most: int) -> None:
        """Waits until at most `most` updates are under way. One that was not finite stays the first of them, so that
        nothing can be saved or learned later on."""
        while len(self._pending) > most:
            self._pending[0].fetch()
            self._pending.popleft()

    def load(self, *, demonstrated: Unroll | None, rollout: Unroll | None = None) -> LearnerBatch:
        """Copy unrolls to the device, on a GPU while it computes. May be called for the next update, in another thread.

        On the CPU nothing is copied, so the unrolls must not change until `learn` has returned.

        Raises:
            ValueError: an array has the wrong shape or dtype, or the rollout has not been scored.
        """
        if rollout is not None and ("reward" not in rollout.arrays or rollout.state is None):
            raise ValueError("a rollout needs its array `reward` [T, B] and the recurrent state before its row 0")
        if self._copies is None:
            return load_batch(demonstrated, rollout, self.device)
        with torch.cuda.stream(self._copies):
            batch = load_batch(demonstrated, rollout, self.device)
            copied = torch.cuda.Event()  # type: ignore[no-untyped-call]  # torch does not annotate it
            copied.record(self._copies)
        return batch._replace(copied=copied)

    def learn(self, batch: LearnerBatch) -> dict[str, float]:
        """As `update`, from the result of `load`."""
        return dict(self.begin(batch))

    def begin(self, batch: LearnerBatch) -> Mapping[str, float]:
        """As `begin_update`, from the result of `load`."""
        self._check_ranks()
        self._take_over(batch)
        self._optimizer.zero_grad(set_to_none=True)
        names, scalars = self._backward(batch)
        self.group.sum_gradients(self.agent.parameters())
        scalars = {**scalars, "gradient_norm": self._clip()}
        for parameters in self._optimizer.param_groups:
            parameters["lr"] = self.config.rate_at(self.updates)
        metrics = self._step(scalars, names)
        self.updates += 1
        if batch.copied is not None:
            batch.copied.synchronize()  # the caller may overwrite the arrays
        return metrics

    def _step(self, scalars: Mapping[str, Tensor], names: list[str]) -> PendingMetrics:
        """The step of the optimizer. With `check_lag` the device omits it if this update, or one before, is not
        finite."""
        metrics = fetch_later(scalars, partial(_finished, names=names, update=self.updates))
        if self.config.check_lag:
            finite = torch.isfinite(torch.stack([scalars["loss"].double(), scalars["gradient_norm"].double()])).all()
            self._broken = torch.maximum(self._broken, 1.0 - finite.float())
            self._optimizer.found_inf = self._broken  # type: ignore[attr-defined]  # as torch.amp's scaler sets it
        else:
            metrics.fetch()
        self._optimizer.step()
        self._pending.append(metrics)
        self._settle(self.config.check_lag)
        return metrics

    def _take_over(self, batch: LearnerBatch) -> None:
        """Makes the computation wait for the copies of a batch, and their memory stay until it ends."""
        if batch.copied is not None:
            stream = torch.cuda.current_stream(self.device)
            stream.wait_event(batch.copied)
            for tensor in tensors_of(batch):
                tensor.record_stream(stream)

    def weights(self) -> dict[str, NDArray[np.generic]]:
        """A copy of the agent's weights on the CPU, for actors."""
        return self.snapshot()()

    def snapshot(self) -> WeightsSnapshot:
        """The weights after the last update, to be fetched when they are wanted; does not wait for a GPU."""
        return WeightsSnapshot(self.agent.state_dict())

    def state(self) -> dict[str, Any]:
        """State for a checkpoint except the agent's weights, the same on every rank; every rank must call it."""
        return {
            "optimizer": self._optimizer.state_dict(),
            "updates": self.updates,
            "generator": self._generator.get_state(),
            "dataset_state": self._all_lanes(self._dataset_state),
            **({} if self._mark_state is None else {"mark_state": self._all_lanes(self._mark_state)}),
        }

    def _all_lanes(self, state: Iterable[Tensor]) -> list[Tensor]:
        return [self.group.gather(part[None])[0].cpu() for part in state]

    def load_state(self, state: Mapping[str, Any]) -> None:
        """Restore a result of `state`, on any device and with any number of ranks.

        Raises:
            ValueError: the number of dataset lanes differs.
        """
        optimizer = state["optimizer"]
        groups = [{**group, "fused": self._fused} for group in optimizer["param_groups"]]
        self._optimizer.load_state_dict({**optimizer, "param_groups": groups})
        self.updates = state["updates"]
        self._generator.set_state(state["generator"])
        lanes = self._dataset_state.lanes
        found = len(state["dataset_state"][0])
        if found != lanes * self.group.size:
            raise ValueError(f"the saved state is of {found} dataset lanes, here are {self.group.size} x {lanes}")
        own = slice(self.group.rank * lanes, (self.group.rank + 1) * lanes)
        self._dataset_state = RecurrentState(*(part[own].to(self.device) for part in state["dataset_state"]))
        if self._mark_state is not None:
            self._mark_state = MarkState(*(part[own].to(self.device) for part in state["mark_state"]))
        self._ranks_checked = False

    def _check_ranks(self) -> None:
        """Verify once that all ranks start from the same state; otherwise they would diverge unnoticed."""
        if not self._ranks_checked:
            lanes = torch.tensor([self._dataset_state.lanes, self.updates])
            self.group.check_same("lanes, updates and random state", [lanes, self._generator.get_state()])
            self.group.check_same("agent", self.agent.state_dict().values())
            self._ranks_checked = True

    def _backward(self, batch: LearnerBatch) -> tuple[list[str], dict[str, Tensor]]:
        """Adds this rank's gradients, part by part; returns the names of the terms, and the metrics over all lanes."""
        parts = self._split(batch)
        shares: list[Tensor] = []
        scalars: list[dict[str, Tensor]] = []
        after: list[RecurrentState[Tensor]] = []
        marks_after: list[MarkState] = []
        for part in parts:
            output, state = self._forward(part)
            logits, mark_state = self._mark_logits(output, part)
            terms = self._terms(output, part, logits, self.forward.match)
            if not terms:
                raise ValueError(_nothing_to_learn(self.config.objective.weights, batch.rollout is not None))
            shares = shares or self._shares(parts, terms, output, logits)
            loss, found = _weigh(terms, shares[len(scalars)])
            loss.backward()  # type: ignore[no-untyped-call]  # torch does not annotate it
            scalars.append(found)
            after += [] if state is None else [state]
            marks_after += [] if mark_state is None else [mark_state]
        if after:
            self._dataset_state = RecurrentState(*map(torch.cat, zip(*after, strict=True)))
        if marks_after:
            self._mark_state = MarkState(*map(torch.cat, zip(*marks_after, strict=True)))
        summed = self.group.sum(torch.stack([_stacked(found) for found in scalars]).sum(0))
        return [term.name for term in terms], dict(zip(scalars[0], summed.unbind(), strict=True))

    def _split(self, batch: LearnerBatch) -> list[BatchPart]:
        permutation = None
        if batch.demonstrated is not None:
            own = batch.demonstrated.lanes
            # Every rank draws the same permutation of all lanes, so that the number of ranks changes nothing.
            permutation = shuffled_lanes(own * self.group.size, self._generator)[self.group.rank * own :][:own]
        read = None if self.agent.css is None else self.forward.read_texts
        return split_batch(batch, self.config.accumulate, permutation, self.group.gather, read)

    def _shares(
        self, parts: list[BatchPart], terms: list[Term], output: AgentOutput, logits: Tensor | None
    ) -> list[Tensor]:
        """The share of each part in every mean over the lanes of all parts and ranks; float32 [means] of each part."""
        if len(parts) == 1:
            return [self.group.shares(counts_of(terms))]
        with torch.no_grad():
            empty, marks = empty_like(output), None if logits is None else torch.zeros_like(logits)
            counts = [counts_of(self._terms(empty, part, marks, _no_match)) for part in parts]
        total = torch.stack(counts).sum(0)
        rank = self.group.shares(total).double()
        return [(rank * count / total.clamp(min=1)).float() for count in counts]

    def _forward(self, part: BatchPart) -> tuple[AgentOutput, RecurrentState[Tensor] | None]:
        """One forward over the rollout lanes, then the dataset's; also returns the state after the latter."""
        batch = part.batch
        inputs: list[tuple[dict[str, Tensor], RecurrentState[Tensor]]] = []
        if batch.rollout is not None and batch.rollout.state is not None:
            inputs.append((self._observations(batch.rollout.device), batch.rollout.state))
        if batch.demonstrated is not None:
            state = RecurrentState(*(each[part.lanes] for each in self._dataset_state))
            inputs.append((self._observations(batch.demonstrated.device), state))
        output, after = self.forward(*(inputs[0] if len(inputs) == 1 else _concatenate(inputs)))
        if batch.demonstrated is None:
            return output, None
        return output, RecurrentState(*(each[batch.rollout_lanes :].detach() for each in after))

    def _observations(self, arrays: Tensors) -> dict[str, Tensor]:
        return {key: arrays[key] for key in self.agent.layout.observations(0, 0)}

    def _terms(
        self,
        output: AgentOutput,
        part: BatchPart,
        mark_logits: Tensor | None,
        match: Callable[[Tensor, Tensor], Tensor],
    ) -> list[Term]:
        """The terms with a weight."""
        objective, batch, lanes = self.config.objective, part.batch, part.batch.rollout_lanes
        terms: list[Term] = []
        if batch.rollout is not None:
            terms += rollout_terms(self.agent, _select_lanes(output, slice(0, lanes)), batch.rollout, objective)
        if batch.demonstrated is not None and part.permutation is not None:
            terms += demonstration_terms(
                self.agent,
                _select_lanes(output, slice(lanes, None)),
                batch.demonstrated,
                part.permutation,
                objective,
                self.group.gather,
                mark_logits,
                match,
                part.others,
            )
        return [term for term in terms if term.weight > 0]

    def _mark_logits(self, output: AgentOutput, part: BatchPart) -> tuple[Tensor | None, MarkState | None]:
        """The logits of the marks, given the true ones before them, and the state after them; None unless the agent
        predicts marks."""
        rows = part.batch.demonstrated
        if self.agent.marks is None or self._mark_state is None or rows is None:
            return None, None
        core = output.core[:, part.batch.rollout_lanes :]
        marks = send(mark_classes(rows.host["positive"], rows.host["negative"]), core.device)
        state = MarkState(*(each[part.lanes] for each in self._mark_state))
        logits, after = self.agent.marks(core, marks, rows.device["first"], state)
        return logits, MarkState(*(each.detach() for each in after))

    def _clip(self) -> Tensor:
        limit = self.config.gradient_clip
        return torch.nn.utils.clip_grad_norm_(self.agent.parameters(), float("inf") if limit is None else limit)


def _concatenate(
    inputs: Sequence[tuple[dict[str, Tensor], RecurrentState[Tensor]]],
) -> tuple[dict[str, Tensor], RecurrentState[Tensor]]:
    """Observations [T, B, ...] and states of several sources, concatenated along the lanes."""
    streams, states = zip(*inputs, strict=True)
    joined = {key: torch.cat([stream[key] for stream in streams], dim=1) for key in streams[0]}
    return joined, RecurrentState(*(torch.cat(each) for each in zip(*states, strict=True)))


def _weigh(terms: list[Term], shares: Tensor) -> tuple[Tensor, dict[str, Tensor]]:
    """The share of some lanes in the loss over all lanes, and in the metrics over all lanes: scalars by name."""
    left = iter(shares.unbind())
    losses: dict[str, Tensor] = {}
    scalars: dict[str, Tensor] = {}
    for term in terms:
        losses[term.name] = _share_of(term.loss, left)
        scalars |= {name: _share_of(parts, left).detach() for name, parts in term.metrics.items()}
        scalars |= term.totals
    loss = torch.stack([term.weight * losses[term.name] for term in terms]).sum()
    return loss, scalars | {"loss": loss.detach(), **{name: each.detach() for name, each in losses.items()}}


def _share_of(means: tuple[Mean, ...], shares: Iterator[Tensor]) -> Tensor:
    """The share of some lanes in a sum of means over all lanes; consumes one share for each mean."""
    parts = [mean.value * next(shares) for mean in means]
    return parts[0] if len(parts) == 1 else torch.stack(parts).sum()


def _stacked(scalars: Mapping[str, Tensor]) -> Tensor:
    return torch.stack([each.double() for each in scalars.values()])


def _no_match(vision: Tensor, language: Tensor) -> Tensor:
    """Takes the place of `Agent.match` where only the number of pairs counts."""
    return vision.new_zeros(len(vision))


def _finished(metrics: dict[str, float], *, names: list[str], update: int) -> dict[str, float]:
    listed = ", ".join(f"{name}={metrics[name]:.4g}" for name in names)
    if not np.isfinite(metrics["loss"]):
        raise FloatingPointError(f"the loss of update {update} is {metrics['loss']}: {listed}")
    norm = metrics["gradient_norm"]
    if not np.isfinite(norm):  # of a finite loss, as when exp() overflows in the backward pass
        raise FloatingPointError(f"the gradient of update {update} has norm {norm}: {listed}")
    return effective_shares(metrics)


def _nothing_to_learn(weights: LossWeights, plays: bool) -> str:
    weighted = ", ".join(f"{name}={weight:g}" for name, weight in vars(weights).items() if weight > 0)
    return (
        f"none of the losses with a weight above 0 ({weighted}) applies to an agent of this world that "
        f"{'plays' if plays else 'is shown episodes and does not play'}; give one that does a "
        f"weight, as learner.objective.weights.{'value' if plays else 'movement_cloning'}=1"
    )


def _select_lanes(output: AgentOutput, lanes: slice) -> AgentOutput:
    return AgentOutput(*(None if part is None else part[:, lanes] for part in output))  # type: ignore[arg-type]
