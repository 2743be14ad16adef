"""Linear layers for acting: the weights lie as oneDNN's kernels read them, laid out once for each version of them.

A product of few rows with a large matrix is mostly the laying out of that matrix, which torch does anew each time. With
16 rows and 3456 x 256 weights a product took 370 microseconds, and 270 from weights that lie ready; with 4 rows 160 and
86. Products of hundreds of rows, as the learner's, gain little and need gradients: they stay torch's.
"""

from __future__ import annotations

from typing import Any, cast

import torch
from torch import Tensor, nn
from torch.nn import functional

LARGE = 1 << 16  # elements: weights above this are packed; smaller ones stay in the cache, and nothing is gained
ROWS = 16  # of the product that the layout is chosen for; it may have any number


class PackedLinear(nn.Module):
    """Takes the place of a linear layer, with its parameters and their names. In `torch.inference_mode` on the CPU it
    multiplies by weights that lie ready; otherwise it is the layer that it was."""

    def __init__(self, layer: nn.Linear) -> None:
        super().__init__()
        self.weight, self.bias = layer.weight, layer.bias
        self._packed: Tensor | None = None
        self._version = -1  # of the weights that are packed, as torch counts changes in place

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_packed": None}  # it can not be copied, and is made again

    def forward(self, x: Tensor) -> Tensor:
        """[..., inputs] -> [..., outputs]; equal to the layer's but for rounding."""
        if not torch.is_inference_mode_enabled() or x.device.type != "cpu" or x.dtype != torch.float32:
            return functional.linear(x, self.weight, self.bias)
        if self._packed is None or self._version != self.weight._version:
            self._packed = torch.ops.mkldnn._reorder_linear_weight(self.weight.detach(), ROWS)
            self._version = self.weight._version
        return cast(Tensor, torch.ops.mkldnn._linear_pointwise(x, self._packed, self.bias, "none", [], ""))


def pack(network: nn.Module) -> None:
    """Makes the large linear layers of a network that will act `PackedLinear`, where torch has oneDNN."""
    if not torch.backends.mkldnn.is_available():  # type: ignore[no-untyped-call]  # torch does not annotate it
        return
    for name, layer in list(network.named_modules()):
        if type(layer) is nn.Linear and layer.weight.numel() > LARGE:
            network.set_submodule(name, PackedLinear(layer))
