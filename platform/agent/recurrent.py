"""Recurrent core: an LSTM over [T, B] whose state is reset where an episode starts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Generic, NamedTuple, TypeVar, cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from interplay.agent.lstm_unroll import lstm_unroll

Values = TypeVar("Values", bound=Tensor | NDArray[np.float32])


class RecurrentState(NamedTuple, Generic[Values]):
    """State of the LSTM, float32, both [B, D]: tensors in a network, numpy arrays between processes and in requests.

    Checkpoints hold it as a list of two tensors.
    """

    hidden: Values
    cell: Values

    @property
    def lanes(self) -> int:
        """B."""
        return int(self.hidden.shape[0])

    def to_arrays(self) -> RecurrentState[NDArray[np.float32]]:
        """The state as numpy arrays; on the CPU they share memory with tensors."""
        return RecurrentState(*(torch.as_tensor(part).detach().float().cpu().numpy() for part in self))

    def to_tensors(self, device: torch.device | str = "cpu") -> RecurrentState[Tensor]:
        """The state as tensors on a device; on the CPU they share memory with arrays."""
        return RecurrentState(*(torch.as_tensor(part, device=device) for part in self))

    def select(self, lanes: slice) -> RecurrentState[Values]:
        """The state of some of the lanes."""
        hidden, cell = cast(tuple[Any, Any], self)
        return RecurrentState(hidden[lanes], cell[lanes])


RecurrentArrays = RecurrentState[NDArray[np.float32]]


def concatenate_states(states: Sequence[RecurrentArrays]) -> RecurrentArrays:
    """The states of several groups of lanes, as that of all lanes."""
    return RecurrentState(*(np.concatenate(parts) for parts in zip(*states, strict=True)))


Step = Callable[[Tensor, Tensor, Tensor, Tensor, Tensor], tuple[Tensor, Tensor]]


def lstm_step(x_t: Tensor, keep_t: Tensor, hidden: Tensor, cell: Tensor, recurrent: Tensor) -> tuple[Tensor, Tensor]:
    """One step of an LSTM.

    Args:
        x_t: [B, 4 D], the projected inputs of the input, forget and output gates, then of the candidate.
        keep_t: [B, 1], 0 where the state is reset before the step, else 1.
        hidden, cell: [B, D], the state before.
        recurrent: [D, 4 D].

    Returns:
        hidden and cell after it, [B, D].
    """
    width = hidden.shape[-1]
    gates = torch.addmm(x_t, hidden * keep_t, recurrent)
    input_gate, forget_gate, output_gate = gates[:, : 3 * width].sigmoid().chunk(3, dim=-1)
    candidate = gates[:, 3 * width :].tanh()
    cell = torch.addcmul(input_gate * candidate, forget_gate, cell * keep_t)
    return output_gate * functional.tanh(cell), cell


class RecurrentCore(nn.Module):
    """An LSTM whose input projections are computed for all T at once; only the recurrence is a loop.

    torch's own LSTM cannot reset single lanes in the middle of an unroll, so it would have to be split at each start.
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

    def initial_state(self, lanes: int) -> RecurrentState[Tensor]:
        """Zeros, [B, D]."""
        zeros = self.recurrent.new_zeros(lanes, self.width)
        return RecurrentState(zeros, zeros)

    def forward(
        self, inputs: Tensor, first: Tensor, state: RecurrentState[Tensor], step: Step = lstm_step
    ) -> tuple[Tensor, RecurrentState[Tensor]]:
        """Run over time.

        Args:
            inputs: [T, B, inputs].
            first: bool [T, B]; the state is reset before a step where it is True.
            state: before the first step.
            step: `lstm_step`, or a compiled one.

        Returns:
            The outputs [T, B, D], and the state after the last step.
        """
        projected = self.input(inputs)  # [T, B, 4 D]
        keep = (~first).to(projected.dtype)[..., None]  # [T, B, 1]
        hidden, cell = state
        recurrent = self.recurrent.to(projected.dtype).t()  # casts once under autocast instead of in every step
        if step is lstm_step and projected.device.type == "cuda" and torch.is_grad_enabled():
            found: tuple[Tensor, Tensor, Tensor] = lstm_unroll(projected, keep, hidden, cell, recurrent)
            return found[0], RecurrentState(found[1], found[2])
        outputs = []
        for x_t, keep_t in zip(projected.unbind(0), keep.unbind(0), strict=True):
            hidden, cell = step(x_t, keep_t, hidden, cell, recurrent)
            outputs.append(hidden)
        return torch.stack(outputs), RecurrentState(hidden, cell)
