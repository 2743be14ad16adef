"""The time convention of unrolls, and the masks and discounts that follow from it.

An unroll has T + 1 rows of observations and T steps between them. An episode of N actions fills N + 1 rows: the row
of its terminal observation is `last`, and the row after it is the `first` of the next episode::

    row        0      1      2      3      4      5
    first      -      -      -      -      yes    -
    last       -      -      -      yes    -      -
    valid      yes    yes    yes    no     yes           steps 0 .. T-1: is an action taken here?
    discount   g      g      0      0      g
"""

from __future__ import annotations

import torch
from torch import Tensor

from interplay.learner.check_shapes import check_shapes


def valid_steps(*, last: Tensor) -> Tensor:
    """bool [T+1, B] -> bool [T, B]: the steps with an action; terminal observations have none."""
    check_shapes(last=(last, "bool [T+1, B]"))
    return ~last[:-1]


def discounts(*, last: Tensor, gamma: float) -> Tensor:
    """The weight of the next row's value, float32 [T, B], from `last` [T+1, B].

    `gamma` inside an episode; 0 where the next row is terminal, because its value is 0; 0 at a terminal row itself,
    because the next row belongs to another episode.
    """
    check_shapes(last=(last, "bool [T+1, B]"))
    continues = ~(last[:-1] | last[1:])
    return continues.to(torch.float32) * gamma
