"""The gradient of one update, as a function of what lies on the learner's device: forward, terms, backward, by parts.

Nothing here reads a value on the host, and shapes depend on those of the inputs alone, so that a GPU need not be waited
for and the whole can be recorded as a CUDA graph (`interplay.learner.update_graphs`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from interplay.agent.mark_head import MarkState, mark_classes
from interplay.agent.network import Agent, AgentOutput
from interplay.agent.recurrent import RecurrentState
from interplay.learner.averages import Mean
from interplay.learner.batch import Tensors, UnrollTensors
from interplay.learner.batch_parts import BatchPart, counts_of, empty_like, split_batch
from interplay.learner.forward import Forward
from interplay.learner.loss_rows import LossRows
from interplay.learner.objective import ObjectiveConfig, Term, demonstration_terms
from interplay.learner.process_group import ProcessGroup
from interplay.learner.rollout_terms import rollout_terms


class UpdateInputs(NamedTuple):
    """All that an update reads on the learner's device, except the weights and the state of the optimizer."""

    demonstrated: UnrollTensors | None  # without the arrays on the host
    rollout: UnrollTensors | None  # likewise
    permutation: Tensor | None  # int64 [b]: the lane whose language CSS pairs with each demonstrated lane's vision
    selected: tuple[LossRows, ...]  # of each part
    dataset_state: RecurrentState[Tensor]  # of the demonstrated lanes, before row 0
    mark_state: MarkState | None  # likewise, of a reward model that predicts marks
    learning_rate: float | Tensor  # a scalar
    broken: Tensor  # float32 scalar: 1 if an update before was not finite, else 0


class UpdateResults(NamedTuple):
    """Results of an update, on the learner's device."""

    scalars: dict[str, Tensor]  # metrics over all lanes, float64
    dataset_state: RecurrentState[Tensor]  # after the last row; as before without demonstrations
    mark_state: MarkState | None  # likewise
    broken: Tensor  # 1 if this update or one before was not finite and the device omitted its step


class GradientFunction:
    """Adds the gradient of an update to that of the agent's weights."""

    def __init__(self, forward: Forward, objective: ObjectiveConfig, group: ProcessGroup) -> None:
        self.forward = forward
        self.agent: Agent = forward.agent
        self.objective = objective
        self.group = group

    def __call__(self, inputs: UpdateInputs) -> UpdateResults:
        """Adds this rank's gradients, part by part; returns the metrics over all lanes, and the states after them.

        Raises:
            ValueError: no weighted loss applies to this agent and these unrolls.
        """
        parts = split_batch(*inputs[:4], self.forward.read_texts)
        shares: list[Tensor] = []
        scalars: list[dict[str, Tensor]] = []
        after: list[RecurrentState[Tensor]] = []
        marks_after: list[MarkState] = []
        for part in parts:
            output, state = self._forward(part, inputs.dataset_state)
            logits, mark_state = self._mark_logits(output, part, inputs.mark_state)
            terms = self._terms(output, part, logits, self.forward.match)
            if not terms:
                raise ValueError(self._nothing_to_learn(inputs.rollout is not None))
            shares = shares or self._shares(parts, terms, output, logits)
            loss, found = _weigh(terms, shares[len(scalars)])
            loss.backward()  # type: ignore[no-untyped-call]  # torch does not annotate it
            scalars.append(found)
            after += [] if state is None else [state]
            marks_after += [] if mark_state is None else [mark_state]
        summed = self.group.sum(torch.stack([_stacked(found) for found in scalars]).sum(0))
        return UpdateResults(
            scalars=dict(zip(scalars[0], summed.unbind(), strict=True)),
            dataset_state=_joined_lanes(after) if after else inputs.dataset_state,
            mark_state=MarkState(*map(torch.cat, zip(*marks_after, strict=True))) if marks_after else inputs.mark_state,
            broken=inputs.broken,
        )

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

    def _forward(
        self, part: BatchPart, dataset_state: RecurrentState[Tensor]
    ) -> tuple[AgentOutput, RecurrentState[Tensor] | None]:
        """One forward over the rollout lanes, then the dataset's; also returns the state after the latter."""
        inputs: list[tuple[dict[str, Tensor], RecurrentState[Tensor]]] = []
        if part.rollout is not None and part.rollout.state is not None:
            inputs.append((self._observations(part.rollout.device), part.rollout.state))
        if part.demonstrated is not None:
            state = RecurrentState(*(each[part.lanes] for each in dataset_state))
            inputs.append((self._observations(part.demonstrated.device), state))
        output, after = self.forward(*(inputs[0] if len(inputs) == 1 else _concatenate(inputs)))
        if part.demonstrated is None:
            return output, None
        return output, RecurrentState(*(each[part.rollout_lanes :].detach() for each in after))

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
        lanes = part.rollout_lanes
        terms: list[Term] = []
        if part.rollout is not None:
            played = _select_lanes(output, slice(0, lanes))
            terms += rollout_terms(self.agent, played, part.rollout, part.selected.played, self.objective)
        if part.demonstrated is not None and part.permutation is not None:
            terms += demonstration_terms(
                self.agent,
                _select_lanes(output, slice(lanes, None)),
                part.demonstrated,
                part.selected,
                part.permutation,
                self.objective,
                gather=self.group.gather,
                mark_logits=mark_logits,
                match=match,
                others=part.others,
            )
        return [term for term in terms if term.weight > 0]

    def _mark_logits(
        self, output: AgentOutput, part: BatchPart, mark_state: MarkState | None
    ) -> tuple[Tensor | None, MarkState | None]:
        """The logits of the marks, given the true ones before them, and the state after them; None unless the agent
        predicts marks."""
        rows = part.demonstrated
        if self.agent.marks is None or mark_state is None or rows is None:
            return None, None
        core = output.core[:, part.rollout_lanes :]
        marks = mark_classes(rows.device["positive"], rows.device["negative"])
        state = MarkState(*(each[part.lanes] for each in mark_state))
        logits, after = self.agent.marks(core, marks, rows.device["first"], state)
        return logits, MarkState(*(each.detach() for each in after))

    def _nothing_to_learn(self, plays: bool) -> str:
        """The message where no weighted loss applies."""
        weights = ", ".join(f"{name}={weight:g}" for name, weight in vars(self.objective.weights).items() if weight > 0)
        cloning = "movement_cloning" if self.agent.layout.components else "language_cloning"
        return (
            f"none of the losses with a weight above 0 ({weights}) applies to an agent of this world that "
            f"{'plays' if plays else 'is shown episodes and does not play'}; give one that does a "
            f"weight, as learner.objective.weights.{'value' if plays else cloning}=1"
        )


def _concatenate(
    inputs: Sequence[tuple[dict[str, Tensor], RecurrentState[Tensor]]],
) -> tuple[dict[str, Tensor], RecurrentState[Tensor]]:
    """Observations [T, B, ...] and states of several sources, concatenated along the lanes."""
    streams, states = zip(*inputs, strict=True)
    joined = {key: torch.cat([stream[key] for stream in streams], dim=1) for key in streams[0]}
    return joined, _joined_lanes(states)


def _joined_lanes(states: Sequence[RecurrentState[Tensor]]) -> RecurrentState[Tensor]:
    return RecurrentState(*map(torch.cat, zip(*states, strict=True)))


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


def _select_lanes(output: AgentOutput, lanes: slice) -> AgentOutput:
    return AgentOutput(*(None if part is None else part[:, lanes] for part in output))  # type: ignore[arg-type]
