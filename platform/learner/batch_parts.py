"""Parts of a batch, learned from one after another, whose gradients add up to that of the whole batch.

Only one part's activations are in memory at a time, and each row passes through the network once. Each part has as
many lanes of either kind. Its means count by its share of the batch, as those of a rank do by the rank's; the
shares are counted before, from the losses of zeros. CSS pairs the same lanes as in the whole batch: the language of the
paired lanes is embedded again from its tokens.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor

from interplay.agent.network import AgentOutput
from interplay.agent.recurrent import RecurrentState
from interplay.learner.batch import LearnerBatch, UnrollTensors
from interplay.learner.losses import OtherTexts
from interplay.learner.objective import Term, pairable_rows, texts_of


class BatchPart(NamedTuple):
    """Some lanes of a batch."""

    batch: LearnerBatch
    lanes: slice  # of the demonstrated lanes
    permutation: Tensor | None  # int64 [b]: the lane whose language is paired with each demonstrated lane's vision
    others: OtherTexts | None  # of those lanes; None in a batch of one part


def split_batch(
    batch: LearnerBatch,
    parts: int,
    permutation: Tensor | None,
    gather: Callable[[Tensor], Tensor],
    read_texts: Callable[[Tensor], Tensor] | None,
) -> list[BatchPart]:
    """Splits the lanes of a batch into consecutive parts.

    Args:
        permutation: of the demonstrated lanes of all ranks; None without demonstrations.
        gather: concatenates the lanes of all ranks.
        read_texts: tokens [N, 2 L] -> what the discriminator of CSS gets of them; None without words.

    Raises:
        ValueError: the lanes cannot be divided.
    """
    rows = batch.demonstrated
    own = 0 if rows is None else rows.lanes
    if parts == 1:
        return [BatchPart(batch, slice(0, own), permutation, None)]
    for kind, count in (("demonstrated", own), ("rollout", batch.rollout_lanes)):
        if count % parts:
            raise ValueError(f"learner.accumulate={parts} does not divide the {count} {kind} lanes")
    others: OtherTexts | None = None
    if rows is not None and permutation is not None and read_texts is not None:
        text, mask = gather(texts_of(rows))[:, permutation], gather(pairable_rows(rows))[:, permutation]
        others = OtherTexts(text, mask, read_texts)
    shown, played = _slices(own, parts), _slices(batch.rollout_lanes, parts)
    return [_part(batch, *lanes, permutation, others) for lanes in zip(shown, played, strict=True)]


def _slices(lanes: int, parts: int) -> list[slice]:
    size = lanes // parts
    return [slice(part * size, (part + 1) * size) for part in range(parts)]


def _part(
    batch: LearnerBatch, shown: slice, played: slice, permutation: Tensor | None, others: OtherTexts | None
) -> BatchPart:
    demonstrated = None if batch.demonstrated is None else select_lanes(batch.demonstrated, shown)
    rollout = None if batch.rollout is None else select_lanes(batch.rollout, played)
    if others is not None:
        others = OtherTexts(others.text[:, shown], others.mask[:, shown], others.read)
    paired = None if permutation is None else permutation[shown]
    return BatchPart(LearnerBatch(demonstrated, rollout), shown, paired, others)


def select_lanes(rows: UnrollTensors, lanes: slice) -> UnrollTensors:
    """Some lanes of an unroll, as views."""
    host, device = ({key: tensor[:, lanes] for key, tensor in arrays.items()} for arrays in (rows.host, rows.device))
    state = None if rows.state is None else RecurrentState(*(part[lanes] for part in rows.state))
    return UnrollTensors(host, device, state)


def counts_of(terms: list[Term]) -> Tensor:
    """What each mean of the terms and of their metrics is over, int64 [means]."""
    return torch.stack([mean.over for term in terms for parts in (term.loss, *term.metrics.values()) for mean in parts])


def empty_like(output: AgentOutput) -> AgentOutput:
    """Zeros in place of an output: the counts of all means depend on masks alone, so the terms of zeros have them."""
    return AgentOutput(*(None if part is None else torch.zeros_like(part) for part in output))  # type: ignore[arg-type]
