"""The two networks of the contest, as every contestant builds them in its own way: convolutions, one layer, an LSTM.

A 4x4 convolution of stride 4, residual blocks, a 3x3 convolution of stride 2, residual blocks, a layer, the LSTM, and a
linear layer each for the policy and the value.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Size:
    """One network."""

    channels: tuple[int, int]
    blocks: tuple[int, int]  # residual blocks after each of the two convolutions
    lstm: int  # also the width of the layer before it


SIZES = {"small": Size((32, 32), (0, 0), 256), "large": Size((32, 64), (1, 1), 512)}
