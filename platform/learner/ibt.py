"""Inter-temporal Bradley-Terry (IBT): a utility learned from marks on moments, and the reward derived from it.

After section 4 of "Improving Multimodal Interactive Agents with Reinforcement Learning from Human Feedback"
(arXiv 2211.11602): a rater who marks progress somewhere in an interval prefers its end to its beginning.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional

from interplay.learner.averages import masked_mean
from interplay.learner.check_shapes import check_shapes


class IBT(NamedTuple):
    """The loss, and how well the utility orders the pairs that raters ordered."""

    loss: Tensor  # scalar, mean over pairs; 0 without pairs
    pairs: Tensor  # scalar, int: the number of pairs
    accuracy: Tensor  # scalar: the share of pairs ordered as by the rater; ties count half
    margin: Tensor  # scalar: the mean of s (U_j - U_i)


def ibt_loss(*, utility: Tensor, marks_positive: Tensor, marks_negative: Tensor, first: Tensor, valid: Tensor) -> IBT:
    """softplus(-s (U_j - U_i)), averaged over all pairs of rows that a rater ordered.

    A pair is i < j of one episode with at least one mark in (i, j], all of sign s; pairs with no mark, or with marks
    of both signs in between, are ignored. A mark at row k was made after seeing everything up to row k, so it belongs
    to the interval that ends at row k.

    Design choices: all pairs inside the window count, as one masked T x T matrix, whose shape does not depend on the
    marks; the mean is over the pairs of the batch. One column is one (episode, rater), so raters who disagree occupy
    different columns and never cancel out.

    Args:
        utility: float [T, B].
        marks_positive, marks_negative: int [T, B], the number of marks of each sign at each row.
        first: bool [T, B], an episode starts here.
        valid: bool [T, B]; a pair counts if both its rows are valid.
    """
    check_shapes(utility=(utility, "float [T, B]"), first=(first, "bool [T, B]"))
    sign = pair_signs(marks_positive=marks_positive, marks_negative=marks_negative, first=first, valid=valid)
    ordered = sign != 0  # [T, T, B], at [i, j]
    margin = torch.where(ordered, sign * (utility - utility[:, None]), 0.0)
    with torch.no_grad():
        right = (margin > 0).to(utility.dtype) + 0.5 * (margin == 0).to(utility.dtype)
    return IBT(
        loss=masked_mean(functional.softplus(-margin), ordered),
        pairs=ordered.sum(),
        accuracy=masked_mean(right, ordered),
        margin=masked_mean(margin.detach(), ordered),
    )


def pair_signs(*, marks_positive: Tensor, marks_negative: Tensor, first: Tensor, valid: Tensor) -> Tensor:
    """The rater's order of each pair of rows: int8 [T, T, B], at [i, j] +1 (j is better), -1 or 0 (unordered).

    Arguments as in `ibt_loss`.
    """
    check_shapes(
        first=(first, "bool [T, B]"),
        valid=(valid, "bool [T, B]"),
        marks_positive=(marks_positive, "int [T, B]"),
        marks_negative=(marks_negative, "int [T, B]"),
    )
    positive_counts = _marks_between(marks_positive)  # [T, T, B]: the number of marks in (i, j]
    negative_counts = _marks_between(marks_negative)
    episode = first.cumsum(0)
    same_episode = (episode[:, None] == episode) & valid[:, None] & valid
    better = same_episode & (positive_counts > 0) & (negative_counts == 0)
    worse = same_episode & (negative_counts > 0) & (positive_counts == 0)
    return better.to(torch.int8) - worse.to(torch.int8)


def _marks_between(marks: Tensor) -> Tensor:
    """[T, B] -> [T, T, B]: the number of marks in (i, j], from cumulative counts; above 0 only if i < j."""
    cumulative = marks.to(torch.int32).cumsum(0)
    return cumulative - cumulative[:, None]


def utility_reward(*, utility: Tensor, last: Tensor) -> Tensor:
    """r_t = U_{t+1} - U_t, float [T, B], from `utility` and `last` [T+1, B]; without gradient.

    0 from a terminal row to the first row of the next episode, so the rewards of an episode sum to U_end - U_start.
    The reward is neither clipped nor normalized nor corrected for the discount.
    """
    check_shapes(utility=(utility, "float [T+1, B]"), last=(last, "bool [T+1, B]"))
    change = (utility[1:] - utility[:-1]).detach()
    return torch.where(last[:-1], torch.zeros_like(change), change)
