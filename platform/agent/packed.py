"""Linear layers for inference, with weights packed into oneDNN's layout once per version of the weights.

A product of few rows with a large matrix spends most of its time on packing that matrix, which torch repeats in every
call. With 16 rows and 3456 x 256 weights a product took 370 microseconds, and 275 with packed weights; with 4 rows 170
and 93, with 64 1190 and 1030. Products of more rows gain little and use torch's own layer, as do those with gradients.
"""

from __future__ import annotations

from typing import Any, cast

import torch
from torch import Tensor, nn
from torch.nn import functional

MIN_PACKED_ELEMENTS = 1 << 16  # weights with more elements are packed; smaller ones stay in the cache anyway
LAYOUT_ROWS = 16  # of the product that the layout is optimized for
MAX_PACKED_ROWS = 64  # of a product with packed weights; oneDNN compiles a kernel for each number of rows


class PackedLinear(nn.Module):
    """Drop-in replacement of a linear layer, with the same parameters and names. In `torch.inference_mode`, on the CPU
    and in float32, products of few rows use packed weights; others are those of the plain layer. Large weights are in
    memory twice."""

    def __init__(self, layer: nn.Linear) -> None:
        super().__init__()
        self.weight, self.bias = layer.weight, layer.bias
        self._packed: Tensor | None = None
        self._changes = -1  # torch's version counter of the weights when they were packed

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_packed": None}  # it cannot be copied; the copy packs its own

    def forward(self, x: Tensor) -> Tensor:
        """[..., inputs] -> [..., outputs]; equal to the plain layer's up to rounding."""
        few = x.numel() <= MAX_PACKED_ROWS * x.shape[-1]
        exact = x.device.type == "cpu" and x.dtype == torch.float32 and not torch.is_autocast_enabled("cpu")
        if not (few and exact and torch.is_inference_mode_enabled()):
            return functional.linear(x, self.weight, self.bias)
        changes = self.weight._version  # read first: a concurrent change leads to packing again
        if self._packed is None or self._changes != changes:
            self._packed = torch.ops.mkldnn._reorder_linear_weight(self.weight.detach(), LAYOUT_ROWS)
            self._changes = changes
        return cast(Tensor, torch.ops.mkldnn._linear_pointwise(x, self._packed, self.bias, "none", [], ""))


def pack(network: nn.Module) -> None:
    """Replace a network's large linear layers by `PackedLinear`, if torch has oneDNN."""
    if not torch.backends.mkldnn.is_available():  # type: ignore[no-untyped-call]  # torch does not annotate it
        return
    for name, layer in list(network.named_modules()):
        if type(layer) is nn.Linear and layer.weight.numel() > MIN_PACKED_ELEMENTS:
            network.set_submodule(name, PackedLinear(layer))
