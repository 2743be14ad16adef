"""The arrays of an unroll as tensors: where they came from, and where the network is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import torch
from numpy.typing import NDArray
from torch import Tensor

from interplay.agent.recurrent import RecurrentState
from interplay.agent.unroll import Unroll

Tensors = Mapping[str, Tensor]

# What only the host reads: which rows the marks order, where a row lies, what the world said about it.
HOST_ONLY = frozenset({"positive", "negative", "row", "env_reward", "progress", "success", "untouched"})


class UnrollTensors(NamedTuple):
    """The arrays of an unroll, [T + 1, b, ...] each, twice; on the CPU both are the same.

    Which rows a loss is about (where somebody spoke, which pairs a rater ordered) is read on the host. A device asked
    how many there are would first have to finish all that it was given.
    """

    host: Tensors
    device: Tensors


class PlayedRows(NamedTuple):
    """A played unroll on the device, with what it earned."""

    rows: UnrollTensors
    reward: Tensor  # [T, b]
    reference_gate: Tensor | None  # [T + 1, b]
    state: RecurrentState  # [b, D], before row 0


class LearnerBatch(NamedTuple):
    """What one update learns from, on the learner's device."""

    demonstrated: UnrollTensors | None
    played: PlayedRows | None

    @property
    def played_lanes(self) -> int:
        """How many lanes of the joint forward are played ones; they come first."""
        return 0 if self.played is None else int(self.played.rows.host["first"].shape[1])


def to_tensors(unroll: Unroll, device: torch.device) -> UnrollTensors:
    """The unroll on the device. Each array travels as one block; on the CPU memory is shared and nothing moves."""
    host = {key: torch.from_numpy(array) for key, array in unroll.arrays.items()}
    if device.type == "cpu":
        return UnrollTensors(host, host)
    return UnrollTensors(host, {key: move(tensor, device) for key, tensor in host.items() if key not in HOST_ONLY})


def move(tensor: Tensor, device: torch.device) -> Tensor:
    """The tensor on the device; to a GPU by way of pinned memory, so that the host goes on meanwhile."""
    return (tensor.pin_memory() if device.type == "cuda" else tensor).to(device, non_blocking=True)


def move_array(array: NDArray[Any], device: torch.device) -> Tensor:
    """A numpy array on the device; on the CPU it shares memory."""
    return move(torch.from_numpy(array), device)
