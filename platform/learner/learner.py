"""The learner: one forward pass over all lanes, the weighted loss terms, one step of Adam.

It is independent of processes and files.

    update = load (unrolls to the device) -> learn (forward, terms, backward, sum over ranks, step, metrics)

On a GPU `load` copies on a stream of its own, and with `LearnerConfig.check_lag` no part of an update waits for the
device: the host prepares the next one while the GPU computes.

With `LearnerConfig.accumulate` forward, terms and backward run part by part (`interplay.learner.batch_parts`). With
`LearnerConfig.cuda_graph` a GPU repeats a recording of all that (`interplay.learner.update_graphs`).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping
from contextlib import nullcontext
from functools import partial
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from interplay.agent.inference_device import send
from interplay.agent.mark_head import MarkState
from interplay.agent.network import Agent
from interplay.agent.recurrent import RecurrentState
from interplay.agent.unroll import Unroll
from interplay.learner.batch import LearnerBatch, load_batch, tensors_of
from interplay.learner.batch_parts import lanes_of_parts
from interplay.learner.config import LearnerConfig
from interplay.learner.forward import Forward
from interplay.learner.gradient import GradientFunction, UpdateInputs, UpdateResults
from interplay.learner.loss_rows import LossRows, RowLengths, select_loss_rows
from interplay.learner.losses import shuffled_lanes
from interplay.learner.objective import without_empty_means
from interplay.learner.pending_metrics import PendingMetrics, fetch_later
from interplay.learner.process_group import ProcessGroup, SingleProcess
from interplay.learner.rollout_terms import effective_shares
from interplay.learner.update_graphs import CudaRecorder, Recorder, UpdateGraphs, check_cuda_graph
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
        recorder: Recorder | None = None,
    ) -> None:
        """`recorder`: records updates in order to repeat them; with `config.cuda_graph` a `CudaRecorder` is made.

        Raises:
            ValueError: `config.cuda_graph` cannot be on this device or with several ranks.
        """
        self.forward = Forward(agent, config)
        self.agent = agent
        self.config = config
        self.updates = 0  # of the weights
        self.updates_per_batch = 1  # of the weights for each update that a stage counts; errors name both
        self.group = SingleProcess() if group is None else group
        self._gradient = GradientFunction(self.forward, config.objective, self.group)
        self._ranks_checked = False
        self._generator = generator
        self._dataset_state = agent.initial_state(dataset_lanes)
        self._mark_state = None if agent.marks is None else agent.marks.initial_state(dataset_lanes)
        if config.cuda_graph:
            check_cuda_graph(self.device, self.group.size)
            recorder = CudaRecorder(self.device)
        self._recorder = recorder
        self._graphs = None if recorder is None else UpdateGraphs(self._learn, recorder)
        self._lengths = None if recorder is None else RowLengths()
        # The device itself decides whether to make a step, instead of the host, which would have to wait for the loss.
        self._device_steps = bool(config.check_lag) or recorder is not None
        # A fused kernel on GPUs, and where the device itself decides; None is torch's default.
        self._fused = True if self.device.type == "cuda" or self._device_steps else None
        self._pending: deque[PendingMetrics] = deque()
        self._broken = torch.zeros((), device=self.device)  # 1 once an update was not finite: no further step is made
        # Of unrolls to a GPU, and of weights from it.
        self._copies, self._fetches = _new_stream(self.device), _new_stream(self.device)
        self._optimizer = torch.optim.Adam(
            agent.parameters(),
            lr=config.learning_rate,
            betas=config.adam_betas,
            fused=self._fused,
            capturable=recorder is not None,
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
            ValueError: as `update`.
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
        """Waits until at most `most` updates are under way.

        An update that was not finite stays the first of them, so that every later save or update raises its error.
        """
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
        with nullcontext() if self._recorder is None else self._recorder.stream():
            self._take_over(batch)
            inputs = self._inputs(batch)
            metrics = self._finish(self._learn(inputs) if self._graphs is None else self._graphs(inputs))
        self.updates += 1
        if batch.copied is not None:
            batch.copied.synchronize()  # the caller may overwrite the arrays
        return metrics

    def _inputs(self, batch: LearnerBatch) -> UpdateInputs:
        """What an update reads on the device; draws the lanes that CSS pairs, and selects rows on the host."""
        shown, permutation = batch.demonstrated, None
        lanes = lanes_of_parts(shown, batch.rollout, self.config.accumulate)
        if shown is not None:
            own = shown.lanes
            # Every rank draws the same permutation of all lanes, so that the number of ranks changes nothing.
            permutation = shuffled_lanes(own * self.group.size, self._generator)[self.group.rank * own :][:own]
        paired = None if self.agent.css is None else permutation
        rate = self.config.rate_at(self.updates)
        return UpdateInputs(
            demonstrated=None if shown is None else shown._replace(host={}),
            rollout=None if batch.rollout is None else batch.rollout._replace(host={}),
            permutation=None if permutation is None else send(permutation, self.device),
            selected=self._select_rows(batch, lanes, paired),
            dataset_state=self._dataset_state,
            mark_state=self._mark_state,
            learning_rate=rate if self._recorder is None else torch.full((), rate, device=self.device),
            broken=self._broken,
        )

    def _select_rows(
        self, batch: LearnerBatch, lanes: list[tuple[slice, slice]], permutation: Tensor | None
    ) -> tuple[LossRows, ...]:
        """The rows that losses select; forgets the graphs if they do not fit into the lists of before."""
        before = 0 if self._lengths is None else self._lengths.growths
        found = select_loss_rows(batch, lanes, permutation, self.group.gather, self.device, self._lengths)
        if self._graphs is not None and self._lengths is not None and self._lengths.growths > before:
            self._graphs.forget()
        return found

    def _learn(self, inputs: UpdateInputs) -> UpdateResults:
        """Computes the gradient and, if `_device_steps`, makes the optimizer's step, which the device skips once this
        update or an earlier one is not finite. Depends on its inputs, the weights and the optimizer's state alone."""
        self._optimizer.zero_grad(set_to_none=True)
        found = self._gradient(inputs)
        self.group.sum_gradients(self.agent.parameters())
        found = found._replace(scalars={**found.scalars, "gradient_norm": self._clip()})
        for parameters in self._optimizer.param_groups:
            parameters["lr"] = inputs.learning_rate
        if not self._device_steps:
            return found
        checked = torch.stack([found.scalars[name].double() for name in ("loss", "gradient_norm")])
        broken = torch.maximum(inputs.broken, 1.0 - torch.isfinite(checked).all().float())
        self._optimizer.found_inf = broken  # type: ignore[attr-defined]  # as torch.amp's scaler sets it
        self._optimizer.step()
        return found._replace(broken=broken)

    def _finish(self, found: UpdateResults) -> PendingMetrics:
        """Keeps the results of an update, and begins to fetch its metrics. Without `check_lag` it waits for them, and
        makes the step if they are finite and the device did not."""
        self._dataset_state, self._mark_state = found.dataset_state, found.mark_state
        names = [name for name in vars(self.config.objective.weights) if name in found.scalars]
        metrics = fetch_later(found.scalars, partial(_finished, names=names, update=self._name_of_update()))
        if self.config.check_lag:
            self._broken = found.broken
        else:
            metrics.fetch()
        if not self._device_steps:
            self._optimizer.step()
        self._pending.append(metrics)
        self._settle(self.config.check_lag)
        return metrics

    def _name_of_update(self) -> str:
        """The update under way, numbered from 1 as where it is logged and saved."""
        before, of_batch = divmod(self.updates, self.updates_per_batch)
        part = f" (step {of_batch + 1} of {self.updates_per_batch} on its batch)" if self.updates_per_batch > 1 else ""
        return f"update {before + 1}{part}"

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
        return WeightsSnapshot(self.agent.state_dict(), self._fetches)

    def state(self) -> dict[str, Any]:
        """State for a checkpoint except the agent's weights, the same on every rank; every rank must call it."""
        optimizer = self._optimizer.state_dict()
        groups = [{**group, "lr": float(group["lr"]), "capturable": False} for group in optimizer["param_groups"]]
        return {
            "optimizer": {**optimizer, "param_groups": groups},
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
        capturable = self._recorder is not None
        groups = [{**group, "fused": self._fused, "capturable": capturable} for group in optimizer["param_groups"]]
        self._optimizer.load_state_dict({**optimizer, "param_groups": groups})
        for parameter, kept in self._optimizer.state.items():  # fused Adam needs moments in the layout of weights
            for name in ("exp_avg", "exp_avg_sq"):
                kept[name] = torch.empty_like(parameter).copy_(kept[name])
        if self._graphs is not None:
            self._graphs.forget()  # the optimizer's state has other tensors now
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

    def _clip(self) -> Tensor:
        limit = self.config.gradient_clip
        return torch.nn.utils.clip_grad_norm_(self.agent.parameters(), float("inf") if limit is None else limit)


def _new_stream(device: torch.device) -> torch.cuda.Stream | None:
    """A stream of a GPU; None for the CPU."""
    return torch.cuda.Stream(device) if device.type == "cuda" else None  # type: ignore[no-untyped-call]  # torch does not annotate it


def _finished(metrics: dict[str, float], *, names: list[str], update: str) -> dict[str, float]:
    """The metrics of the update that `update` names.

    Raises:
        FloatingPointError: it was not finite.
    """
    listed = ", ".join(f"{name}={metrics[name]:.4g}" for name in names)
    if not np.isfinite(metrics["loss"]):
        raise FloatingPointError(f"the loss of {update} is {metrics['loss']}: {listed}")
    norm = metrics["gradient_norm"]
    if not np.isfinite(norm):  # of a finite loss, as when exp() overflows in the backward pass
        raise FloatingPointError(f"the gradient of {update} has norm {norm}: {listed}")
    return effective_shares(without_empty_means(metrics))
