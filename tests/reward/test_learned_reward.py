"""The reward function: consecutive unrolls equal one long forward, and an episode's reward is its gain in utility."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
import torch
from fake_world import LineWorld, tiny_agent
from numpy.typing import NDArray

from interplay.agent.inference_device import InferenceDevice
from interplay.agent.network import Agent
from interplay.agent.observation import Arrays
from interplay.agent.recurrent import RecurrentState
from interplay.agent.unroll import allocate_rollout
from interplay.reward.learned_reward import LearnedReward
from interplay.reward.reward_functions import EnvironmentReward, LaneState, WithReferenceGate

STEPS, LANES, UNROLLS = 5, 3, 4


class CountedUploads(InferenceDevice):
    """Counts the transfers of pictures."""

    images = 0

    def copy(self, arrays: Mapping[str, NDArray[Any]]) -> dict[str, torch.Tensor]:
        self.images += "image" in arrays
        return super().copy(arrays)


@pytest.fixture
def model() -> Agent:
    return tiny_agent(LineWorld(), utility=True)


def long_rows(model: Agent, seed: int = 0) -> Arrays:
    """Rows of episodes of seven rows, which start at different rows in each lane."""
    rng = np.random.default_rng(seed)
    arrays = allocate_rollout(model.layout, UNROLLS * STEPS, LANES)
    row = (np.arange(UNROLLS * STEPS + 1)[:, None] + 2 * np.arange(LANES)) % 7
    arrays["row"][:], arrays["first"][:], arrays["last"][:] = row, row == 0, row == 6
    arrays["image"][:] = rng.integers(256, size=arrays["image"].shape)
    arrays["vector"][:] = rng.normal(size=arrays["vector"].shape)
    arrays["previous"][:] = rng.integers(2, size=arrays["previous"].shape)
    arrays["heard"][..., 0] = rng.integers(4, 11, size=row.shape)
    return arrays


def cut(arrays: Arrays) -> list[Arrays]:
    """Unrolls in which the last row of each is the first of the next."""
    return [{key: array[n * STEPS : (n + 1) * STEPS + 1] for key, array in arrays.items()} for n in range(UNROLLS)]


def test_consecutive_unrolls_equal_one_long_forward(model: Agent) -> None:
    function, rows = LearnedReward(model, 0), long_rows(model)
    whole = function.score(rows, LaneState())
    state = LaneState()
    for number, unroll in enumerate(cut(rows)):
        scored = function.score(unroll, state)
        state = scored.lane_state
        here = slice(number * STEPS, (number + 1) * STEPS)
        np.testing.assert_allclose(scored.reward, whole.reward[here], atol=1e-5)
        np.testing.assert_allclose(scored.utility[:-1], whole.utility[here], atol=1e-5)
        assert scored.reward.shape == (STEPS, LANES)
        assert scored.utility.dtype == scored.reward.dtype == np.float32
    assert state.reward is not None and whole.lane_state.reward is not None
    np.testing.assert_allclose(state.reward.hidden, whole.lane_state.reward.hidden, atol=1e-5)
    np.testing.assert_allclose(state.reward.cell, whole.lane_state.reward.cell, atol=1e-5)


def test_the_state_of_a_model_of_another_width_is_left_out(model: Agent) -> None:
    rows = long_rows(model)
    before = RecurrentState(*np.ones((2, LANES, model.config.lstm + 1), np.float32))
    scored, fresh = (LearnedReward(model, 0).score(rows, LaneState(reward=state)) for state in (before, None))
    np.testing.assert_array_equal(scored.reward, fresh.reward)


def test_the_utility_is_the_models(model: Agent) -> None:
    rows = long_rows(model)
    scored = LearnedReward(model, 0).score(rows, LaneState())
    observations = {key: torch.from_numpy(rows[key]) for key in model.layout.observations(0, 0)}
    with torch.no_grad():
        output, _ = model(observations, model.initial_state(LANES))
    assert output.utility is not None
    np.testing.assert_allclose(scored.utility, output.utility.numpy(), atol=1e-5)


def test_float32_on_the_cpu_is_two_plain_forwards_bit_for_bit(model: Agent) -> None:
    rows = long_rows(model)
    scored = LearnedReward(model, 0).score(rows, LaneState())
    observations = {key: torch.from_numpy(rows[key]) for key in model.layout.observations(0, 0)}
    with torch.inference_mode():
        steps, between = model({key: value[:-1] for key, value in observations.items()}, model.initial_state(LANES))
        end, _ = model({key: value[-1:] for key, value in observations.items()}, between)
    assert steps.utility is not None and end.utility is not None and scored.lane_state.reward is not None
    np.testing.assert_array_equal(scored.utility, torch.cat([steps.utility, end.utility]).numpy())
    np.testing.assert_array_equal(scored.lane_state.reward.hidden, between.hidden.numpy())
    np.testing.assert_array_equal(scored.lane_state.reward.cell, between.cell.numpy())


def test_bf16_pays_the_same_up_to_a_small_share_of_the_spread(model: Agent, device: str) -> None:
    rows = long_rows(model)
    gate = tiny_agent(LineWorld())
    exact = WithReferenceGate(LearnedReward(copy.deepcopy(model), 0), copy.deepcopy(gate))
    on = InferenceDevice(device, "bf16")
    rounded = WithReferenceGate(LearnedReward(model, 0, on), gate, on)
    state, other = LaneState(), LaneState()
    for unroll in cut(rows):
        expected, found = exact.score(unroll, state), rounded.score(unroll, other)
        state, other = expected.lane_state, found.lane_state
        assert found.reward.dtype == np.float32 and not np.array_equal(found.reward, expected.reward)
        assert np.abs(found.reward - expected.reward).max() < 0.05 * expected.reward.std()
        assert expected.reference_gate is not None and found.reference_gate is not None
        np.testing.assert_allclose(found.reference_gate, expected.reference_gate, atol=0.05)


def test_a_gpu_pays_as_the_cpu(gpu: str, model: Agent) -> None:
    rows, on = long_rows(model), InferenceDevice(gpu)
    here = LearnedReward(copy.deepcopy(model), 0).score(rows, LaneState())
    there = LearnedReward(model, 0, on).score(rows, LaneState())
    np.testing.assert_allclose(there.utility, here.utility, atol=1e-4)
    assert there.lane_state.reward is not None and here.lane_state.reward is not None
    np.testing.assert_allclose(there.lane_state.reward.cell, here.lane_state.reward.cell, atol=1e-4)


def test_reward_model_and_reference_share_one_upload(model: Agent) -> None:
    on = CountedUploads()
    WithReferenceGate(LearnedReward(model, 0, on), tiny_agent(LineWorld()), on).score(long_rows(model), LaneState())
    assert on.images == 1


def test_an_episode_earns_its_rise_of_utility(model: Agent) -> None:
    function, rows = LearnedReward(model, 0), long_rows(model)
    scored = function.score(rows, LaneState())
    whole = 0
    for lane in range(LANES):
        for start in np.flatnonzero(rows["first"][:, lane]):
            if start + 6 < len(rows["first"]):
                earned = scored.reward[start : start + 6, lane].sum()
                rise = scored.utility[start + 6, lane] - scored.utility[start, lane]
                assert earned == pytest.approx(rise, abs=1e-5)
                whole += 1
    assert whole >= 2 * LANES
    assert (scored.reward[rows["last"][:-1]] == 0).all()


def test_a_request_can_be_repeated_at_another_replica(model: Agent) -> None:
    replicas = [LearnedReward(model, 0), LearnedReward(copy.deepcopy(model), 0)]
    first, second, *_ = cut(long_rows(model))
    state = replicas[0].score(first, LaneState()).lane_state
    assert state.reward is not None
    kept = [part.copy() for part in state.reward]
    answers = [replica.score(second, state) for replica in (replicas[0], replicas[0], replicas[1])]
    for answer in answers[1:]:
        np.testing.assert_array_equal(answer.utility, answers[0].utility)
        np.testing.assert_array_equal(answer.reward, answers[0].reward)
    assert all(map(np.array_equal, state.reward, kept))


def test_missing_arrays_are_named(model: Agent) -> None:
    function, rows = LearnedReward(model, 0), long_rows(model)
    for key in ("heard", "last"):
        with pytest.raises(ValueError, match=f"the unroll lacks {key}; it has "):
            function.score({name: a for name, a in rows.items() if name != key}, LaneState())


def test_a_policy_is_not_a_reward_model() -> None:
    with pytest.raises(ValueError, match="no utility head: give a checkpoint of the reward stage"):
        LearnedReward(tiny_agent(LineWorld()), 0)


def test_the_reference_gate_keeps_its_memory_in_the_lane_state() -> None:
    agent = tiny_agent(LineWorld())
    rows = long_rows(agent)
    functions = [WithReferenceGate(EnvironmentReward(), tiny_agent(LineWorld())) for _ in range(2)]
    with torch.no_grad():
        observations = {key: torch.from_numpy(rows[key]) for key in agent.layout.observations(0, 0)}
        output, _ = agent(observations, agent.initial_state(LANES))
    assert output.gate is not None
    state = LaneState()
    for number, arrays in enumerate(cut(rows)):
        scored, other = (function.score(arrays, state) for function in functions)
        assert scored.reference_gate is not None and other.reference_gate is not None
        expected = output.gate[number * STEPS : (number + 1) * STEPS + 1].numpy()
        np.testing.assert_allclose(scored.reference_gate, expected, atol=1e-5)
        np.testing.assert_array_equal(other.reference_gate, scored.reference_gate)
        assert set(scored.arrays()) == {"reward", "reference_gate"} and scored.lane_state.reward is None
        state = scored.lane_state
    mute = tiny_agent(LineWorld(utterances=False))
    silent = WithReferenceGate(EnvironmentReward(), mute)
    scored = silent.score(cut(allocate_rollout(mute.layout, 20, LANES))[0], LaneState())
    assert scored.reference_gate is None and set(scored.arrays()) == {"reward"}
