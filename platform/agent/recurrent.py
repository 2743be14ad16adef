"""The recurrent memory of an agent: an LSTM over [T, B] that forgets where an episode starts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional


class RecurrentState(NamedTuple):
    """What an agent remembers, float32; both [B, D]."""

    hidden: Tensor
    cell: Tensor


def state_to_arrays(state: RecurrentState) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """The state as numpy arrays [B, D], as it travels with an unroll."""
    return state.hidden.detach().float().cpu().numpy(), state.cell.detach().float().cpu().numpy()


def state_from_arrays(arrays: Sequence[NDArray[np.float32]], device: torch.device | str = "cpu") -> RecurrentState:
    """The inverse of `state_to_arrays`."""
    hidden, cell = arrays
    return RecurrentState(torch.as_tensor(hidden, device=device), torch.as_tensor(cell, device=device))


Step = Callable[[Tensor, Tensor, Tensor, Tensor, Tensor], tuple[Tensor, Tensor]]


def lstm_step(x_t: Tensor, keep_t: Tensor, hidden: Tensor, cell: Tensor, recurrent: Tensor) -> tuple[Tensor, Tensor]:
    """One step of an LSTM.

    Args:
        x_t: [B, 4 D], the products of the inputs: gates enter, forget and emit, then the candidate.
        keep_t: [B, 1], 0 where the state is reset first, else 1.
        hidden, cell: [B, D], the state before.
        recurrent: [D, 4 D].

    Returns:
        hidden and cell after it, [B, D].
    """
    width = hidden.shape[-1]
    gates = torch.addmm(x_t, hidden * keep_t, recurrent)
    enter, forget, emit = gates[:, : 3 * width].sigmoid().chunk(3, dim=-1)
    candidate = gates[:, 3 * width :].tanh()
    cell = torch.addcmul(enter * candidate, forget, cell * keep_t)
    return emit * functional.tanh(cell), cell


class RecurrentCore(nn.Module):
    """An LSTM whose input products are computed for all T at once; only the recurrence is a loop.

    torch's own LSTM can not reset single lanes in the middle of an unroll, so it would have to be cut at each start.
    """

    def __init__(self, inputs: int, width: int) -> None:
        super().__init__()
        self.width = width
        self.input = nn.Linear(inputs, 4 * width)
        self.recurrent = nn.Parameter(torch.empty(4 * width, width))
        nn.init.normal_(self.recurrent, std=width**-0.5)
        nn.init.zeros_(self.input.bias)
        with torch.no_grad():
            self.input.bias[width : 2 * width] = 1.0  # the forget gate starts open

    def initial_state(self, lanes: int) -> RecurrentState:
        """Nothing remembered, [B, D]."""
        zeros = self.recurrent.new_zeros(lanes, self.width)
        return RecurrentState(zeros, zeros)

    def forward(
        self, inputs: Tensor, first: Tensor, state: RecurrentState, step: Step = lstm_step
    ) -> tuple[Tensor, RecurrentState]:
        """Runs over time.

        Args:
            inputs: [T, B, inputs].
            first: bool [T, B]; the state is reset before a step where it is True.
            state: what was remembered before the first step.
            step: `lstm_step`, or a compiled one.

        Returns:
            The outputs [T, B, D], and the state after the last step.
        """
        projected = self.input(inputs)  # [T, B, 4 D]
        keep = (~first).to(projected.dtype)[..., None]  # [T, B, 1]
        hidden, cell = state
        recurrent = self.recurrent.to(projected.dtype).t()  # under autocast once, and not in every step
        outputs = []
        for x_t, keep_t in zip(projected.unbind(0), keep.unbind(0), strict=True):
            hidden, cell = step(x_t, keep_t, hidden, cell, recurrent)
            outputs.append(hidden)
        return torch.stack(outputs), RecurrentState(hidden, cell)
