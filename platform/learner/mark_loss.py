"""Loss of an autoregressive reward model: the cross-entropy of the rater's mark at every row."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional

from interplay.agent.mark_head import NO_MARK
from interplay.learner.averages import masked_mean
from interplay.learner.check_shapes import check_shapes


class MarkLoss(NamedTuple):
    """The loss, and how well the marks are predicted from the true marks before them."""

    loss: Tensor  # scalar, mean over rows
    rows: Tensor  # scalar, int64
    marked: Tensor  # scalar, int64: rows with a mark
    predicted: Tensor  # scalar: mean predicted probability of a mark, over all rows
    sign_accuracy: Tensor  # scalar: share of the marked rows at which the mark's sign is the more likely one


def mark_loss(*, logits: Tensor, marks: Tensor) -> MarkLoss:
    """Cross-entropy of the mark's class, averaged over the rows, after appendix A.5 of arXiv 2211.11602.

    Design choice: rows with and without a mark weigh the same, although marks are rare. The reward is a sample of this
    distribution, and weights would make it mark more often than raters do.

    Args:
        logits: float [T, B, 3], of no mark, a positive and a negative one.
        marks: int [T, B], the classes.
    """
    check_shapes(logits=(logits, "float [T, B, 3]"), marks=(marks, "int [T, B]"))
    marked = marks != NO_MARK
    with torch.no_grad():
        right = logits[..., 1:].argmax(-1) + 1 == marks
        accuracy = masked_mean(right.to(logits.dtype), marked)
        predicted = 1 - logits.softmax(-1)[..., NO_MARK].mean()
    return MarkLoss(
        loss=functional.cross_entropy(logits.flatten(0, 1), marks.flatten()),
        rows=torch.full((), marks.numel(), dtype=torch.int64, device=logits.device),
        marked=marked.sum(),
        predicted=predicted,
        sign_accuracy=accuracy,
    )
