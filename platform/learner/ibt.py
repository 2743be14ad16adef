"""Inter-temporal Bradley-Terry (IBT): a utility learned from marks on moments, and the reward that it pays.

After section 3.2 of "Improving Multimodal Interactive Agents with Reinforcement Learning from Human Feedback"
(arXiv 2211.11602): a rater who marks progress somewhere in an interval prefers its end to its beginning.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional

from interplay.learner.check_shapes import check_shapes


class IBT(NamedTuple):
    """The loss and how well the utility orders the pairs it was asked about."""

    loss: Tensor  # scalar, mean over pairs; 0 without pairs
    pairs: Tensor  # scalar, int: how many there were
    accuracy: Tensor  # scalar: the share of pairs ordered as the rater ordered them; ties count half
    margin: Tensor  # scalar: the mean of s (U_j - U_i)


def ibt_loss(*, utility: Tensor, marks_positive: Tensor, marks_negative: Tensor, first: Tensor, valid: Tensor) -> IBT:
    """softplus(-s (U_j - U_i)), averaged over all pairs of rows that a rater ordered.

    A pair is i < j of one episode with at least one mark in (i, j], all of sign s; pairs with no mark, or with marks
    of both signs in between, say nothing. A mark at row k was made after seeing what happened up to row k, so it
    lies in the interval whose end is row k.

    Choices: all pairs inside the window count, as one masked T x T matrix; the mean is over the pairs of the batch.
    One column is one (episode, rater), so raters who disagree stand side by side and never cancel out.

    Args:
        utility: float [T, B].
        marks_positive, marks_negative: int [T, B], how many marks of each sign lie at each row.
        first: bool [T, B], an episode starts here.
        valid: bool [T, B]; a pair needs both its rows valid.

    All but `utility` may stay on the host while the network is on a GPU: then choosing pairs does not wait for it.
    """
    check_shapes(utility=(utility, "float [T, B]"), first=(first, "bool [T, B]"))
    sign = pair_signs(marks_positive=marks_positive, marks_negative=marks_negative, first=first, valid=valid)
    where = sign.nonzero(as_tuple=True)
    direction = sign[where].to(utility.device, utility.dtype, non_blocking=True)  # [pairs]
    earlier, later, lane = (index.to(utility.device, non_blocking=True) for index in where)
    margin = direction * (utility[later, lane] - utility[earlier, lane])

    count = max(1, len(margin))
    with torch.no_grad():
        ordered = (margin > 0).to(utility.dtype) + 0.5 * (margin == 0).to(utility.dtype)
        accuracy = ordered.sum() / count
    return IBT(
        loss=functional.softplus(-margin).sum() / count,
        pairs=torch.full((), len(margin), dtype=torch.int64, device=utility.device),
        accuracy=accuracy,
        margin=margin.detach().sum() / count,
    )


def pair_signs(*, marks_positive: Tensor, marks_negative: Tensor, first: Tensor, valid: Tensor) -> Tensor:
    """What the rater said about each pair of rows: int8 [T, T, B], at [i, j] +1 (j is better), -1 or 0 (nothing).

    Arguments as of `ibt_loss`.
    """
    check_shapes(
        first=(first, "bool [T, B]"),
        valid=(valid, "bool [T, B]"),
        marks_positive=(marks_positive, "int [T, B]"),
        marks_negative=(marks_negative, "int [T, B]"),
    )
    between_positive = _between(marks_positive)  # [T, T, B]: how many marks lie in (i, j]
    between_negative = _between(marks_negative)
    episode = first.cumsum(0)
    asked = (episode[:, None] == episode) & valid[:, None] & valid
    better = asked & (between_positive > 0) & (between_negative == 0)
    worse = asked & (between_negative > 0) & (between_positive == 0)
    return better.to(torch.int8) - worse.to(torch.int8)


def _between(marks: Tensor) -> Tensor:
    """Counts [T, B] -> [T, T, B]: the marks in (i, j], by cumulative counts; never above 0 unless i < j."""
    upto = marks.to(torch.int32).cumsum(0)
    return upto - upto[:, None]


def utility_reward(*, utility: Tensor, last: Tensor) -> Tensor:
    """r_t = U_{t+1} - U_t, float [T, B], from `utility` and `last` [T+1, B]; carries no gradient.

    0 from a terminal row to the first row of the next episode, so the rewards of an episode sum to U_end - U_start.
    Neither clipped nor normalized, nor corrected for the discount.
    """
    check_shapes(utility=(utility, "float [T+1, B]"), last=(last, "bool [T+1, B]"))
    change = (utility[1:] - utility[:-1]).detach()
    return torch.where(last[:-1], torch.zeros_like(change), change)
