"""The time convention of unrolls, and the masks and discounts that follow from it.

An unroll has T + 1 rows of observations and T steps between them. An episode of N actions fills N + 1 rows: the row
of its terminal observation is `last`, and the row after it is the `first` of the next episode::

    row        0      1      2      3      4      5
    first      -      -      -      -      yes    -
    last       -      -      -      yes    -      -
    valid      yes    yes    yes    no     yes           steps 0 .. T-1: is an action taken here?
    discount   g      g      0      0      g

With row 3 `truncated` (time ran out, the world did not end), its value counts: the discount of step 2 is g.
"""

from __future__ import annotations

import torch
from torch import Tensor

from interplay.learner.check_shapes import check_shapes


def valid_steps(*, last: Tensor) -> Tensor:
    """bool [T+1, B] -> bool [T, B]: the steps with an action; terminal observations have none."""
    check_shapes(last=(last, "bool [T+1, B]"))
    return ~last[:-1]


def discounts(*, last: Tensor, gamma: float, truncated: Tensor | None = None) -> Tensor:
    """The weight of the next row's value, float32 [T, B], from `last` [T+1, B].

    `gamma` inside an episode; 0 where the next row is terminal, because its value is 0; 0 at a terminal row itself,
    because the next row belongs to another episode. A row of `last` that is also `truncated` [T+1, B] is the end of the
    recording but not of the world: the step before it keeps `gamma`.
    """
    check_shapes(last=(last, "bool [T+1, B]"))
    ends = last[1:]
    if truncated is not None:
        check_shapes(truncated=(truncated, "bool [T+1, B]"))
        ends = ends & ~truncated[1:]
    return (~(last[:-1] | ends)).to(torch.float32) * gamma
