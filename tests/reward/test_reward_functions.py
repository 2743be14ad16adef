"""Reward functions without a model: true progress and the environment."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
import torch
from fake_world import TINY, LineWorld, tiny_agent
from numpy.typing import NDArray

from interplay.agent.observation import Arrays, Layout
from interplay.agent.unroll import Unroll, allocate_rollout
from interplay.reward.reward_functions import (
    EnvironmentReward,
    LaneState,
    ProgressReward,
    RewardFunction,
    ScoredUnroll,
    SuccessReward,
    WithReferenceGate,
    checked_score,
)

LAYOUT = Layout(LineWorld().spec, TINY.utterance_length, TINY.actions_per_step)
STEPS, LANES = 4, 2


def unrolls_of(count: int) -> list[Unroll]:
    rng = np.random.default_rng(0)
    made = []
    for number in range(count):
        arrays: Arrays = allocate_rollout(LAYOUT, STEPS, LANES)
        arrays["image"][:] = rng.integers(256, size=arrays["image"].shape)
        arrays["first"][:] = number == 0 and np.arange(STEPS + 1)[:, None] == 0
        made.append(Unroll(arrays))
    return made


def test_the_progress_reward_is_the_change_of_true_progress() -> None:
    (unroll,) = unrolls_of(1)
    unroll.arrays["progress"][:, 0] = [0.0, 0.5, 0.25, 0.9, 1.0]
    unroll.arrays["progress"][:, 1] = [0.5, 1.0, 0.1, 0.1, 0.3]
    unroll.arrays["last"][1, 1] = True  # the fall from 1.0 to 0.1 is another episode's start
    expected = np.array([[0.5, 0.5], [-0.25, 0.0], [0.65, 0.0], [0.1, 0.2]])
    np.testing.assert_allclose(ProgressReward().score(unroll.arrays, LaneState()).reward, expected, atol=1e-6)


def test_the_progress_reward_needs_the_truth() -> None:
    with pytest.raises(ValueError, match=r"set reinforce\.actor\.progress=true"):
        ProgressReward().score(unrolls_of(1)[0].arrays, LaneState())


def test_the_success_reward_is_one_where_a_task_becomes_successful() -> None:
    (unroll,) = unrolls_of(1)
    unroll.arrays["achieved"][:, 0] = [0, 0, 1, 1, 2]
    unroll.arrays["achieved"][:, 1] = [2, 3, 0, 0, 1]
    unroll.arrays["last"][1, 1] = True
    expected = np.array([[0, 1], [1, 0], [0, 0], [1, 1]], np.float32)
    np.testing.assert_array_equal(SuccessReward().score(unroll.arrays, LaneState()).reward, expected)
    with pytest.raises(ValueError, match=r"set reinforce\.actor\.achieved=true"):
        SuccessReward().score(unrolls_of(1)[0].arrays, LaneState())


def test_the_environment_reward_is_the_worlds_and_zero_for_terminal_rows() -> None:
    (unroll,) = unrolls_of(1)
    unroll.arrays["env_reward"][:, 0] = [1.0, 0.0, -1.0, 2.0, 9.0]  # row T has its reward in the next unroll
    unroll.arrays["env_reward"][:, 1] = 0.5
    unroll.arrays["last"][1, 1] = True
    expected = np.array([[1.0, 0.5], [0.0, 0.0], [-1.0, 0.5], [2.0, 0.5]], np.float32)
    np.testing.assert_array_equal(EnvironmentReward().score(unroll.arrays, LaneState()).reward, expected)


@pytest.mark.parametrize("function", [ProgressReward(), SuccessReward(), EnvironmentReward()])
def test_without_a_reward_model_there_is_no_version_and_no_memory(function: RewardFunction) -> None:
    (unroll,) = unrolls_of(1)
    unroll.arrays["progress"][:] = unroll.arrays["achieved"][:] = 0.5
    scored = function.score({key: frozen(array) for key, array in unroll.arrays.items()}, LaneState())
    assert (scored.lane_state, scored.version, scored.reference_gate) == (LaneState(), 0, None)
    assert scored.reward.dtype == np.float32 and scored.reward.shape == (STEPS, LANES)
    with pytest.raises(ValueError, match="Reward has no reward model, so none"):
        function.load_version({}, 3)


@pytest.mark.parametrize(
    ("function", "read"),
    [(ProgressReward(), "progress"), (SuccessReward(), "achieved"), (EnvironmentReward(), "env_reward")],
)
def test_an_array_that_is_missing_is_named(function: RewardFunction, read: str) -> None:
    (unroll,) = unrolls_of(1)
    for name in (read, "last"):
        arrays = {key: array for key, array in unroll.arrays.items() if key != name}
        with pytest.raises(ValueError, match=f"the unroll lacks {name}; it has "):
            function.score(arrays, LaneState())


class Mine(RewardFunction):
    """Returns what it is given."""

    def __init__(self, result: Any) -> None:
        self._result = result

    def score(self, arrays: Arrays, lane_state: LaneState) -> ScoredUnroll:
        return self._result  # type: ignore[no-any-return]


ZEROS = np.zeros((STEPS, LANES), np.float32)


@pytest.mark.parametrize(
    ("result", "got"),
    [
        (ScoredUnroll(np.zeros((STEPS + 1, LANES), np.float32)), "float32 [5, 2]"),
        (ScoredUnroll(ZEROS.astype(np.float64)), "float64 [4, 2]"),  # type: ignore[arg-type]
        (ScoredUnroll(ZEROS.tolist()), "a ScoredUnroll whose reward is a list"),
        (ScoredUnroll(torch.zeros(STEPS, LANES)), "a ScoredUnroll whose reward is a Tensor"),  # type: ignore[arg-type]
        (ZEROS, "a ndarray"),
        (None, "a NoneType"),
    ],
)
def test_a_result_of_another_kind_or_shape_is_refused(result: Any, got: str) -> None:
    (unroll,) = unrolls_of(1)
    expected = re.escape(
        "the reward Mine: score() must return a ScoredUnroll whose reward is a float32 array [T, b] = [4, 2]; got "
        + got
    )
    for function in (Mine(result), WithReferenceGate(Mine(result), tiny_agent(LineWorld()))):
        with pytest.raises(ValueError, match=f"^{expected}$"):
            checked_score(function, unroll.arrays, LaneState())


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_a_reward_that_is_not_finite_is_refused_with_its_place(value: float) -> None:
    reward = ZEROS.copy()
    reward[3, 1] = value
    with pytest.raises(ValueError, match=f"^the reward Mine: .* the reward is {value} at step 3 of lane 1, counted"):
        checked_score(Mine(ScoredUnroll(reward)), unrolls_of(1)[0].arrays, LaneState())


@pytest.mark.parametrize("function", [ProgressReward(), SuccessReward(), EnvironmentReward()])
def test_the_check_changes_nothing(function: RewardFunction) -> None:
    (unroll,) = unrolls_of(1)
    for name in ("progress", "achieved", "env_reward"):
        unroll.arrays[name][:] = np.random.default_rng(1).random((STEPS + 1, LANES))
    checked = checked_score(function, unroll.arrays, LaneState())
    assert checked.reward.tobytes() == function.score(unroll.arrays, LaneState()).reward.tobytes()


def frozen(array: NDArray[np.generic]) -> NDArray[np.generic]:
    """A copy as received from another process."""
    array.flags.writeable = False
    return array
