"""Where each actor's lanes stand after what was learned from last, and how checkpoints hold it.

A checkpoint of one actor looks the same whatever the runtime. Of several, each of its entries is a list::

    actor      the actor's own state
    payment    {"hidden", "cell"}: what the reward model remembers of the lanes; {} where no model pays
    gate       {"weights", "lanes"}: of the frozen gate; None where there is none
    returns    what the episodes under way have earned
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from interplay.actors.episode_returns import EpisodeReturns
from interplay.actors.serialization import from_bytes, to_bytes
from interplay.agent.weights import Weights
from interplay.learner.checkpoint import CheckpointError
from interplay.reward.scoring_model import LaneState


@dataclass
class LaneRecord:
    """One actor's lanes."""

    number: int  # of the next unroll to be learned from
    after: bytes | None  # the actor's state before it; None: as it begins
    states: LaneState
    returns: EpisodeReturns

    @classmethod
    def fresh(cls, lanes: int) -> LaneRecord:
        """As an actor begins."""
        return cls(0, None, LaneState(), EpisodeReturns(lanes))


def merged(records: Sequence[LaneRecord], gate: Weights | None) -> dict[str, Any]:
    """What a checkpoint holds."""
    actors = [None if record.after is None else from_bytes(record.after) for record in records]
    payments = [_tensors(record.states.payment) for record in records]
    lanes = [list(_tensors(record.states.gate).values()) for record in records]
    returns = [record.returns.state() for record in records]
    weights = None if gate is None else {name: torch.from_numpy(np.array(value)) for name, value in gate.items()}
    if len(records) == 1:
        kept = None if weights is None else {"weights": weights, "lanes": lanes[0]}
        return {"actor": actors[0], "payment": payments[0], "gate": kept, "returns": returns[0]}
    kept = None if weights is None else {"weights": weights, "lanes": lanes}
    return {"actor": actors, "payment": payments, "gate": kept, "returns": returns}


def split(state: Mapping[str, Any], actors: int, lanes: int) -> list[LaneRecord]:
    """The inverse of `merged`.

    Raises:
        CheckpointError: it is of another number of actors, or of lanes.
    """
    found = state["actor"] if isinstance(state["actor"], list) else [state["actor"]]
    payments, returns = state["payment"], state["returns"]
    gates: list[Any] = [None] * len(found) if state["gate"] is None else state["gate"]["lanes"]
    if len(found) == 1:
        payments, returns = [payments], [returns]
        gates = [None if state["gate"] is None else state["gate"]["lanes"]]
    if len(found) != actors or len(returns[0]) != lanes:
        raise CheckpointError(
            f"the checkpoint is of {len(found)} actors with {len(returns[0])} lanes each, this run has {actors} with "
            f"{lanes}; go on with runtime.actors and runtime.unrolls_per_batch as they were"
        )
    records = []
    for actor, payment, summed, gated in zip(found, payments, returns, gates, strict=True):
        record = LaneRecord.fresh(lanes)
        record.returns.load_state(summed)
        if actor is not None:
            record.number, record.after = actor["turn"], to_bytes(actor)
            record.states = LaneState(_arrays(payment), _arrays(_named(gated)))
        records.append(record)
    return records


def _named(lanes: Sequence[Tensor] | None) -> Mapping[str, Tensor]:
    return dict(zip(("hidden", "cell"), lanes, strict=True)) if lanes else {}


def _tensors(arrays: Mapping[str, Any] | None) -> dict[str, Tensor]:
    return {name: torch.from_numpy(np.array(array)) for name, array in (arrays or {}).items()}


def _arrays(tensors: Mapping[str, Tensor]) -> dict[str, Any] | None:
    return {name: tensor.numpy() for name, tensor in tensors.items()} or None
