"""Unrolls as tensors, on the host and on the learner's device."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import torch
from torch import Tensor

from interplay.agent.inference_device import send
from interplay.agent.recurrent import RecurrentState
from interplay.agent.unroll import Unroll, draw_pictures
from interplay.learner.check_shapes import check_shapes

Tensors = Mapping[str, Tensor]

# Arrays read only on the host: to select rows, row numbers, and values computed by the world.
HOST_ONLY_ARRAYS = frozenset(
    {"row", "env_reward", "progress", "achieved", "success", "untouched", "words_cloned", "view", "flipped"}
)

ARRAY_SPECS = {
    "first": "bool [T+1, B]",
    "last": "bool [T+1, B]",
    "image": "uint8 [T+1, B, H, W, C]",
    "view": "float32 [T+1, B, S]",
    "flipped": "bool [T+1, B]",
    "vector": "float32 [T+1, B, V]",
    "heard": "int16 [T+1, B, L]",
    "said": "int16 [T+1, B, L]",
    "previous": "int8 [T+1, B, A, K]",
    "movement": "int8 [T+1, B, A, K]",
    "spoke": "bool [T+1, B]",
    "tokens": "int16 [T+1, B, L]",
    "movement_log_prob": "float32 [T+1, B, A]",
    "language_log_prob": "float32 [T+1, B]",
    "positive": "int16 [T+1, B]",
    "negative": "int16 [T+1, B]",
    "cloned": "bool [T+1, B]",
    "words_cloned": "bool [T+1, B]",
    "untouched": "bool [T+1, B]",
    "truncated": "bool [T+1, B]",
    "reward": "float32 [T, B]",
    "reference_gate": "float32 [T+1, B]",
}


class UnrollTensors(NamedTuple):
    """An unroll as tensors: its arrays on the host and on the learner's device (on the CPU both are the same).

    Rows are selected for losses (where the solver spoke, which texts match) on the host: counting them on a GPU would
    wait for everything that is queued there.
    """

    host: Tensors
    device: Tensors
    state: RecurrentState[Tensor] | None  # [b, D] on the device, before row 0; None for demonstrations

    @property
    def lanes(self) -> int:
        """Number of lanes b."""
        return int(self.device["first"].shape[1])


class LearnerBatch(NamedTuple):
    """Input of one update, on the learner's device."""

    demonstrated: UnrollTensors | None
    rollout: UnrollTensors | None
    copied: torch.cuda.Event | None = None  # on a GPU: behind copies and drawing, which have a stream of their own


def to_tensors(unroll: Unroll, device: torch.device) -> UnrollTensors:
    """Copies an unroll to the device, each array as one block; on the CPU, memory is shared instead. Pictures of an
    unroll with `view` are drawn there.

    Raises:
        ValueError: the shape or dtype of an array differs from `ARRAY_SPECS`, or the scenes are not those of its lanes.
    """
    host = {key: torch.from_numpy(array) for key, array in unroll.arrays.items()}
    check_shapes(**{key: (host[key], spec) for key, spec in ARRAY_SPECS.items() if key in host})
    arrays, state = host, None
    if device.type != "cpu":
        arrays = {key: send(tensor, device) for key, tensor in host.items() if key not in HOST_ONLY_ARRAYS}
    if "view" in host:
        arrays = {**arrays, "image": draw_pictures(unroll.arrays, unroll.scenes, device)}
    if unroll.state is not None:
        state = RecurrentState(*(send(part, device) for part in unroll.state.to_tensors()))
    return UnrollTensors(host, arrays, state)


def load_batch(demonstrated: Unroll | None, rollout: Unroll | None, device: torch.device) -> LearnerBatch:
    """Both as tensors; see `to_tensors`."""
    shown, played = (None if each is None else to_tensors(each, device) for each in (demonstrated, rollout))
    return LearnerBatch(shown, played)


def tensors_of(batch: LearnerBatch) -> Iterator[Tensor]:
    """All tensors on the device."""
    for rows in (batch.demonstrated, batch.rollout):
        if rows is not None:
            yield from rows.device.values()
            yield from rows.state or ()
