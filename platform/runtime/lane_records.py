"""The state of each actor's lanes after the last unroll that was learned from, and its form in checkpoints.

The part `rollout` of a checkpoint looks the same in every runtime::

    lanes      a list with one record for each actor:
        actor      the actor's own state; None before its first unroll
        reward     [hidden, cell] of the reward model; None without one
        reference  [hidden, cell] of the reference policy; None without one
        returns    sums of the rewards of the unfinished episodes
    reference  the weights of the reference policy; None without one
    kept       in process, after a stop: weights and their version, with which the next unroll is played; else None
"""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from interplay.actors.episode_returns import EpisodeReturns
from interplay.agent.recurrent import RecurrentArrays, RecurrentState
from interplay.agent.weights import Weights
from interplay.learner.checkpoint import CheckpointError
from interplay.reward.reward_functions import LaneState


def to_bytes(state: Mapping[str, Any]) -> bytes:
    """Serializes an actor's state, nested plain values and tensors, in the format of a checkpoint.

    It accompanies each unroll, so that another process can continue from there.
    """
    file = io.BytesIO()
    torch.save(dict(state), file)
    return file.getvalue()


def from_bytes(data: bytes) -> dict[str, Any]:
    """The inverse of `to_bytes`."""
    loaded: dict[str, Any] = torch.load(io.BytesIO(data), map_location="cpu", weights_only=True)
    return loaded


@dataclass
class LaneRecord:
    """One actor's lanes."""

    number: int  # of the next unroll to learn from
    actor: bytes | None  # the actor's state before it; None before the first
    lane_state: LaneState
    returns: EpisodeReturns

    @classmethod
    def initial(cls, lanes: int) -> LaneRecord:
        """The record of an actor before its first unroll."""
        return cls(0, None, LaneState(), EpisodeReturns(lanes))


def save_records(records: Sequence[LaneRecord], reference: Weights | None) -> dict[str, Any]:
    """The part of a checkpoint that holds these records."""
    return {
        "lanes": [
            {
                "actor": None if record.actor is None else from_bytes(record.actor),
                "reward": _to_list(record.lane_state.reward),
                "reference": _to_list(record.lane_state.reference),
                "returns": record.returns.state(),
            }
            for record in records
        ],
        "reference": None if reference is None else to_tensors(reference),
        "kept": None,
    }


def load_records(state: Mapping[str, Any], actors: int, lanes: int) -> list[LaneRecord]:
    """The inverse of `save_records`.

    Raises:
        CheckpointError: the state has another number of actors or lanes.
    """
    found = state["lanes"]
    if len(found) != actors or len(found[0]["returns"]) != lanes:
        raise CheckpointError(
            f"the checkpoint is of {len(found)} actors with {len(found[0]['returns'])} lanes each, this run has "
            f"{actors} with {lanes}; continue with runtime.actors and runtime.unrolls_per_batch as they were"
        )
    records = []
    for saved in found:
        record = LaneRecord.initial(lanes)
        record.returns.load_state(saved["returns"])
        if saved["actor"] is not None:
            record.number, record.actor = saved["actor"]["turn"], to_bytes(saved["actor"])
            record.lane_state = LaneState(_from_list(saved["reward"]), _from_list(saved["reference"]))
        records.append(record)
    return records


def to_tensors(weights: Weights) -> dict[str, torch.Tensor]:
    """A copy of weights as a checkpoint holds them."""
    return {name: _to_tensor(value) for name, value in weights.items()}


def _to_tensor(array: Any) -> torch.Tensor:
    return torch.from_numpy(np.array(array))


def _to_list(state: RecurrentArrays | None) -> list[torch.Tensor] | None:
    return None if state is None else [_to_tensor(part) for part in state]


def _from_list(parts: Sequence[torch.Tensor] | None) -> RecurrentArrays | None:
    return None if parts is None else RecurrentState(*parts).to_arrays()
