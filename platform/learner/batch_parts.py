"""Gradient accumulation: parts of a batch, computed one after another, whose gradients add up to the batch's.

Only one part's activations are in memory at a time, and each row passes through the network once. Demonstrated lanes
and rollout lanes are each divided evenly. The means of a part are weighted by its share of what they average over, as
are those of a rank; these counts are computed first, from outputs of zeros (`empty_like`). CSS pairs the same lanes as
in the whole batch: the language of the paired lanes is embedded again from its tokens.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from interplay.agent.network import AgentOutput
from interplay.agent.recurrent import RecurrentState
from interplay.learner.batch import UnrollTensors
from interplay.learner.loss_rows import LossRows
from interplay.learner.losses import OtherTexts
from interplay.learner.objective import Term


class BatchPart(NamedTuple):
    """Some lanes of a batch, on the learner's device."""

    demonstrated: UnrollTensors | None
    rollout: UnrollTensors | None
    lanes: slice  # of the demonstrated lanes
    permutation: Tensor | None  # int64 [b]: the lane whose language is paired with each demonstrated lane's vision
    others: OtherTexts | None  # of those lanes; None in a batch of one part
    selected: LossRows

    @property
    def rollout_lanes(self) -> int:
        """Number of rollout lanes in the joint forward; they come first."""
        return 0 if self.rollout is None else self.rollout.lanes


def lanes_of_parts(
    demonstrated: UnrollTensors | None, rollout: UnrollTensors | None, parts: int
) -> list[tuple[slice, slice]]:
    """The demonstrated lanes and the rollout lanes of each of `parts` consecutive parts.

    Raises:
        ValueError: the number of lanes of a kind is not divisible by `parts`.
    """
    slices = []
    for kind, rows in (("demonstrated", demonstrated), ("rollout", rollout)):
        lanes = 0 if rows is None else rows.lanes
        if lanes % parts:
            raise ValueError(f"learner.accumulate={parts} does not divide the {lanes} {kind} lanes")
        size = lanes // parts
        slices.append([slice(part * size, (part + 1) * size) for part in range(parts)])
    return list(zip(*slices, strict=True))


def split_batch(
    demonstrated: UnrollTensors | None,
    rollout: UnrollTensors | None,
    permutation: Tensor | None,
    selected: Sequence[LossRows],
    read_texts: Callable[[Tensor], Tensor],
) -> list[BatchPart]:
    """Splits the lanes of a batch into consecutive parts, as views.

    Args:
        permutation: int64 [b], of the demonstrated lanes; see `BatchPart`.
        selected: the loss rows of each part.
        read_texts: tokens [N, 2 L] -> the features that the discriminator of CSS reads.
    """
    lanes = lanes_of_parts(demonstrated, rollout, len(selected))
    return [
        BatchPart(
            demonstrated=None if demonstrated is None else select_lanes(demonstrated, here),
            rollout=None if rollout is None else select_lanes(rollout, there),
            lanes=here,
            permutation=None if permutation is None else permutation[here],
            others=None if rows.other_texts is None else OtherTexts(rows.other_texts, read_texts),
            selected=rows,
        )
        for (here, there), rows in zip(lanes, selected, strict=True)
    ]


def select_lanes(rows: UnrollTensors, lanes: slice) -> UnrollTensors:
    """Some lanes of an unroll, as views."""
    host, device = ({key: tensor[:, lanes] for key, tensor in arrays.items()} for arrays in (rows.host, rows.device))
    state = None if rows.state is None else RecurrentState(*(part[lanes] for part in rows.state))
    return UnrollTensors(host, device, state)


def counts_of(terms: list[Term]) -> Tensor:
    """The number of values that each mean of the terms and of their metrics averages over, int64 [means]."""
    return torch.stack([mean.over for term in terms for parts in (term.loss, *term.metrics.values()) for mean in parts])


def empty_like(output: AgentOutput) -> AgentOutput:
    """An output of zeros. Its loss terms have the counts of the real ones, because counts depend on masks alone."""
    return AgentOutput(*(None if part is None else torch.zeros_like(part) for part in output))  # type: ignore[arg-type]
