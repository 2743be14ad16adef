"""Movement is the same in bins and in floats."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from interplay.env.playhouse.house.action_codec import COMPONENTS, MAX_YAW_RAD_PER_FRAME, YAW, MovementCodec

NAMES = tuple(component.name for component in COMPONENTS)


@given(st.lists(st.tuples(*(st.integers(0, component.bins - 1) for component in COMPONENTS)), min_size=1, max_size=8))
def test_bins_survive_the_way_to_floats_and_back(rows: list[tuple[int, ...]]) -> None:
    bins = np.array(rows, dtype=np.int8)
    codec = MovementCodec(NAMES)
    assert (codec.encode(codec.decode(bins)) == bins).all()


def test_the_resting_bins_do_nothing() -> None:
    codec = MovementCodec(NAMES)
    rest = np.array([[component.rest for component in COMPONENTS]], dtype=np.int8)
    assert not codec.decode(rest).any()


def test_a_policy_with_fewer_components_leaves_the_others_at_rest() -> None:
    codec = MovementCodec(("yaw", "forward"))
    floats = codec.decode(np.array([[10, 2]], dtype=np.int8))
    assert floats[0, YAW] == pytest.approx(MAX_YAW_RAD_PER_FRAME)
    assert floats[0, 0] == 1.0
    assert not floats[0, 1] and not floats[0, 3:].any()


def test_the_bins_of_looking_are_dense_near_zero() -> None:
    codec = MovementCodec(("yaw",))
    turns = codec.decode(np.arange(11, dtype=np.int8)[:, None])[:, YAW]
    steps = np.diff(turns[5:])
    assert (np.diff(steps) > 0).all()
    assert turns == pytest.approx(-turns[::-1])


@pytest.mark.parametrize(
    ("movement", "word"),
    [
        (np.full((8, 8), 2, np.int8), r"grasp has the bins 0\.\.1"),
        (np.full((8, 8), -1, np.int8), r"forward has the bins 0\.\.2"),
        (np.zeros((8, 3), np.int8), r"\[frames, 8\]"),
        (np.zeros((8, 8)), "a movement is int8.*; got float64"),
    ],
)
def test_a_movement_that_can_not_be_is_refused(movement: np.ndarray, word: str) -> None:
    with pytest.raises(ValueError, match=word):
        MovementCodec(NAMES).decode(movement)
