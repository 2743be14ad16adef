"""Batches of several ranks: each joins its own lanes, wherever the borders of the unrolls lie."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from interplay.agent.recurrent import RecurrentState
from interplay.agent.unroll import LaneScenes
from interplay.runtime.batch_sources import BatchBuffers
from interplay.runtime.messages import UnrollMessage
from interplay.runtime.ray.unroll_parts import (
    LaneJoiner,
    ReferencedUnroll,
    UnrollPart,
    concatenate_parts,
    lanes_of_rank,
)

STEPS = 2


def scenes_of(first: int) -> Any:
    """Stands for the scenes of an unroll."""
    return f"of the unroll from lane {first} on"


def part_of(first: int, lanes: int) -> UnrollPart:
    """An unroll whose arrays hold the number of each lane in the batch."""
    numbers = np.arange(first, first + lanes)
    rows = np.broadcast_to(numbers, (STEPS + 1, lanes))
    state: Any = RecurrentState(*(np.repeat(numbers[:, None], 3, axis=1).astype(np.float32) for _ in range(2)))
    arrays = {"first": rows % 2 == 0, "image": np.repeat(rows[..., None], 5, axis=2).astype(np.uint8)}
    message = UnrollMessage(0, arrays, state, 0, [], b"", scenes=[LaneScenes(lanes, scenes_of(first))])
    reference: Any = message  # as if it had been fetched
    return UnrollPart(reference, message, {"reward": rows[:STEPS].astype(np.float32)})


def referenced(lanes: list[int]) -> ReferencedUnroll:
    parts = [part_of(sum(lanes[:index]), count) for index, count in enumerate(lanes)]
    _, arrays = concatenate_parts(parts, BatchBuffers(1), referenced=True)
    assert set(arrays) == {"first", "reward"}
    return ReferencedUnroll(arrays, parts=parts)


@given(lanes=st.lists(st.integers(1, 5), min_size=1, max_size=6), ranks=st.integers(1, 6))
def test_the_ranks_join_all_lanes_in_their_order(lanes: list[int], ranks: int) -> None:
    lanes = [*lanes, ranks - sum(lanes) % ranks]  # a multiple of the ranks
    batch = referenced(lanes)
    share = sum(lanes) // ranks
    for rank in range(ranks):
        joiner = LaneJoiner(pinned=False, fetch_seconds=0.0)
        joined = joiner.assemble(demonstrated=None, rollout=lanes_of_rank(batch, rank, ranks))
        assert joined["demonstrated"] is None
        unroll = joined["rollout"]
        assert unroll is not None and unroll.state is not None and unroll.lanes == share
        expected = np.arange(rank * share, (rank + 1) * share)
        assert (unroll.arrays["image"] == expected[None, :, None]).all()
        assert (unroll.arrays["reward"] == expected).all() and len(unroll.arrays["reward"]) == STEPS
        assert (unroll.state.hidden == expected[:, None]).all()
        scenes = [part.scenes for part in unroll.scenes for _ in range(part.lanes)]
        assert (
            scenes
            == [scenes_of(sum(lanes[:k])) for k, count in enumerate(lanes) for _ in range(count)][
                rank * share : (rank + 1) * share
            ]
        )


def test_batches_of_one_kind_reuse_the_memory_and_have_no_state_without_one() -> None:
    joiner = LaneJoiner(pinned=False, fetch_seconds=0.0)
    batch = referenced([2, 2])
    for part in batch.parts:
        object.__setattr__(part.message, "state", None)
    pieces = lanes_of_rank(batch, 0, 2)
    first, second = (joiner.assemble(demonstrated=pieces, rollout=None)["demonstrated"] for _ in range(2))
    assert first is not None and second is not None and first.state is None
    assert first.arrays["image"] is second.arrays["image"]


def test_lanes_that_ranks_cannot_share_are_an_error() -> None:
    with pytest.raises(AssertionError, match="2 ranks can't share 3 lanes"):
        lanes_of_rank(referenced([3]), 0, 2)
