"""An LSTM along T steps whose gradient takes fewer operations than autograd takes: for GPUs, where each one counts.

As in `interplay.agent.recurrent.lstm_step`, with h and c before a step multiplied by `keep`::

    i, f, o = sigmoid(x + h R),  g = tanh(x + h R),  c' = i g + f c,  h' = o tanh(c')

What the backward pass needs of single steps is computed for all T at once, before and after its loop.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor


class _Unroll(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, projected: Tensor, keep: Tensor, hidden: Tensor, cell: Tensor, recurrent: Tensor
    ) -> tuple[Tensor, Tensor, Tensor]:
        width = hidden.shape[-1]
        gates, cells_in, cells, hiddens_in, hiddens = (list[Tensor]() for _ in range(5))
        for x_t, keep_t in zip(projected.unbind(0), keep.unbind(0), strict=True):
            hidden_in, cell_in = (hidden * keep_t).to(projected.dtype), cell * keep_t
            gate = torch.addmm(x_t, hidden_in, recurrent)
            gate[:, : 3 * width].sigmoid_()
            gate[:, 3 * width :].tanh_()
            i, f, o, g = gate.chunk(4, dim=-1)
            cell = torch.addcmul(i * g, f, cell_in)
            hidden = o * cell.tanh()
            for kept, value in zip(
                (gates, cells_in, cells, hiddens_in, hiddens), (gate, cell_in, cell, hidden_in, hidden), strict=True
            ):
                kept.append(value)
        saved = [torch.stack(each) for each in (gates, cells_in, cells, hiddens_in)]
        ctx.save_for_backward(keep, recurrent, *saved)
        return torch.stack(hiddens), hidden, cell

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, None, Tensor, Tensor, Tensor]:
        d_hiddens, d_hidden, d_cell = grads
        keep, recurrent, gates, cells_in, cells, hiddens_in = ctx.saved_tensors
        i, f, o, g = gates.to(cells.dtype).chunk(4, dim=-1)
        tanh = cells.tanh()
        of_cell = o * (1 - tanh.square())  # dh'/dc', [T, B, D]
        # Derivatives of c' by the inputs of gates i, f and g, and of h' by that of o: [T, B, 4, D].
        slopes = torch.stack(
            [g * i * (1 - i), cells_in * f * (1 - f), tanh * o * (1 - o), i * (1 - g.square())], dim=-2
        )
        passed_on = f * keep
        d_gates: list[Tensor] = []
        for t in reversed(range(len(gates))):
            d_hidden = d_hidden + d_hiddens[t]
            d_cell = torch.addcmul(d_cell, d_hidden, of_cell[t])
            d_gate = (slopes[t] * torch.stack([d_cell, d_cell, d_hidden, d_cell], dim=1)).flatten(1).to(gates.dtype)
            d_hidden = (d_gate @ recurrent.t()).to(d_cell.dtype) * keep[t]
            d_cell = d_cell * passed_on[t]
            d_gates.append(d_gate)
        d_projected = torch.stack(d_gates[::-1])
        d_recurrent = hiddens_in.flatten(0, 1).t() @ d_projected.flatten(0, 1)
        return d_projected, None, d_hidden, d_cell, d_recurrent


def lstm_unroll(
    projected: Tensor, keep: Tensor, hidden: Tensor, cell: Tensor, recurrent: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """Runs an LSTM along T steps; values and gradients are those of `lstm_step` up to rounding.

    Args:
        projected: [T, B, 4 D], the projected inputs of all steps, in the precision of the products.
        keep: [T, B, 1], 0 where the state is reset before a step, else 1.
        hidden, cell: float32 [B, D], the state before.
        recurrent: [D, 4 D], as `projected`.

    Returns:
        The outputs [T, B, D], hidden and cell after the last step, [B, D].
    """
    with torch.autocast(projected.device.type, enabled=False):
        found: tuple[Tensor, Tensor, Tensor] = _Unroll.apply(projected, keep, hidden, cell, recurrent)  # type: ignore[no-untyped-call]
    return found
