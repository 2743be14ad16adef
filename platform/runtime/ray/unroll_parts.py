"""Batches of several ranks: each rank fetches and joins the unrolls of its own lanes from the object store.

    actor --message--> object store ------------------> rank 1, rank 2, ...: join their lanes
       '--reference--> rank 0 --references of their lanes--^

So rank 0, which owns the streams, copies no more of a batch than any other rank.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import ray
from ray import ObjectRef

from interplay.agent.observation import Arrays
from interplay.agent.recurrent import concatenate_states
from interplay.agent.unroll import Unroll, scenes_of_lanes
from interplay.runtime.batch_sources import BatchBuffers
from interplay.runtime.messages import UnrollMessage


class UnrollPart(NamedTuple):
    """One actor's unroll in a batch."""

    reference: ObjectRef[Any]  # of the message
    message: UnrollMessage
    scored: Arrays  # the arrays of its score, if it has one

    @property
    def arrays(self) -> Arrays:
        """All arrays [T + 1, b, ...]."""
        return self.message.arrays | self.scored


@dataclass
class ReferencedUnroll(Unroll):
    """An unroll whose `arrays` have only one value a row and lane; its parts have all arrays and the state."""

    parts: list[UnrollPart] = field(default_factory=list)


def concatenate_parts(parts: Sequence[UnrollPart], buffers: BatchBuffers, *, referenced: bool) -> tuple[int, Arrays]:
    """Copies the arrays of a batch into a free set of buffers; with `referenced`, only those [T + 1, b]."""
    blocks = [part.arrays for part in parts]
    if referenced:
        blocks = [{key: array for key, array in block.items() if array.ndim == 2} for block in blocks]
    return buffers.concatenate(blocks)


class LanePiece(NamedTuple):
    """Lanes of one unroll, to be joined with those of others."""

    source: ObjectRef[Any] | UnrollMessage
    scored: Arrays  # of these lanes only
    lanes: slice  # of the message


def lanes_of_rank(unroll: Unroll | None, rank: int, size: int) -> list[LanePiece] | None:
    """Where the lanes of a rank are: an equal share, contiguous. Rank 0 has the messages, others get references."""
    if unroll is None:
        return None
    assert isinstance(unroll, ReferencedUnroll), "the streams of several ranks refer to unrolls"
    lanes = unroll.lanes
    assert lanes % size == 0, f"{size} ranks can't share {lanes} lanes"  # checked by `Config`
    first, stop = rank * lanes // size, (rank + 1) * lanes // size
    pieces, start = [], 0
    for part in unroll.parts:
        own = slice(max(first - start, 0), min(stop - start, part.message.lanes))
        if own.start < own.stop:
            scored = {key: array[:, own] for key, array in part.scored.items()}
            pieces.append(LanePiece(part.message if rank == 0 else part.reference, scored, own))
        start += part.message.lanes
    return pieces


class LaneJoiner:
    """Joins the lanes of a rank; its unrolls are overwritten by the next of their kind."""

    def __init__(self, *, pinned: bool, fetch_seconds: float) -> None:
        """
        Args:
            pinned: page-locked memory, for copies to a GPU.
            fetch_seconds: for the unrolls of a batch to arrive from the object stores of other machines.
        """
        self._buffers = {kind: BatchBuffers(1, pinned) for kind in ("demonstrated", "rollout")}
        self._fetch_seconds = fetch_seconds

    def assemble(
        self, *, demonstrated: Sequence[LanePiece] | None, rollout: Sequence[LanePiece] | None
    ) -> dict[str, Unroll | None]:
        """The arguments of `Learner.update`.

        Raises:
            RayError: an unroll is lost, or has not arrived in time.
        """
        kinds = {"demonstrated": demonstrated, "rollout": rollout}
        return {kind: None if pieces is None else self._concatenated(kind, pieces) for kind, pieces in kinds.items()}

    def _concatenated(self, kind: str, pieces: Sequence[LanePiece]) -> Unroll:
        messages = self._fetch(pieces)
        number, arrays = self._buffers[kind].concatenate(
            [
                {key: array[:, piece.lanes] for key, array in message.arrays.items()} | piece.scored
                for message, piece in zip(messages, pieces, strict=True)
            ]
        )
        self._buffers[kind].release(number)
        states = [
            message.state.select(piece.lanes)
            for message, piece in zip(messages, pieces, strict=True)
            if message.state is not None
        ]
        scenes = [
            part
            for message, piece in zip(messages, pieces, strict=True)
            for part in scenes_of_lanes(message.scenes, piece.lanes)
        ]
        return Unroll(arrays, concatenate_states(states) if states else None, scenes=scenes)

    def _fetch(self, pieces: Sequence[LanePiece]) -> list[UnrollMessage]:
        references = [piece.source for piece in pieces if isinstance(piece.source, ObjectRef)]
        fetched = iter(ray.get(references, timeout=self._fetch_seconds) if references else [])
        return [next(fetched) if isinstance(piece.source, ObjectRef) else piece.source for piece in pieces]
