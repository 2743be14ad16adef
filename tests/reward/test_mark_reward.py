"""Rewards of an autoregressive reward model: reproducible in any pieces and any process, and zero between episodes."""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from fake_world import WORDS, LineWorld, record_episode, tiny_agent
from numpy.typing import NDArray

from interplay.actors.episode_returns import EpisodeReturns
from interplay.actors.row_writer import RowWriter
from interplay.agent.inference_device import InferenceDevice
from interplay.agent.network import Agent
from interplay.agent.observation import Arrays
from interplay.agent.weights import export_weights
from interplay.episodes.decoded_episode import decode_for_role
from interplay.reward.diagnostics import _prediction, mark_prediction, utilities
from interplay.reward.learned_reward import MarkReward, lane_keys, state_width
from interplay.reward.reward_functions import LaneState
from interplay.runtime.lane_records import LaneRecord, load_records, save_records


@pytest.fixture
def model() -> Agent:
    plain = tiny_agent(LineWorld())
    torch.manual_seed(1)
    agent = Agent(plain.config, plain.layout, len(WORDS), marks=True)
    with torch.no_grad():
        for parameter in agent.parameters():
            parameter.add_(0.2 * torch.randn(parameter.shape))
        assert agent.marks is not None
        agent.marks.output.bias.zero_()
    return agent


def concatenate_lanes(blocks: Sequence[Arrays]) -> Arrays:
    return {key: np.concatenate([block[key] for block in blocks], axis=1) for key in blocks[0]}


def episodes_of(model: Agent, count: int, steps: int = 11) -> list[Arrays]:
    writer, world = RowWriter(model.layout, WORDS), LineWorld()
    recorded = [record_episode(world, seed, steps)[0] for seed in range(count)]
    return [writer.encode_episode(decode_for_role(each, "solver", world=world)) for each in recorded]


@pytest.fixture
def arrays(model: Agent) -> Arrays:
    """Two lanes of two episodes each, [24, 2, ...]."""
    one, two, three, four = episodes_of(model, 4)
    lanes = [{key: np.concatenate([a[key], b[key]]) for key in a} for a, b in ((one, two), (three, four))]
    return concatenate_lanes(lanes)


def in_pieces(
    model: Agent,
    arrays: Arrays,
    steps: int,
    through: Any = lambda state: state,
    on: InferenceDevice | None = None,
) -> NDArray[np.float32]:
    found, state = [], LaneState()
    for start in range(0, len(arrays["first"]) - 1, steps):
        window = {key: value[start : start + steps + 1] for key, value in arrays.items()}
        scored = MarkReward(model, 3, on).score(window, state)
        assert scored.lane_state.reward is not None
        assert scored.lane_state.reward.hidden.shape == (2, state_width(model))
        state = through(scored.lane_state)
        found.append(scored.reward)
    return np.concatenate(found)


def through_a_checkpoint(state: LaneState) -> LaneState:
    record = LaneRecord(1, b"", state, EpisodeReturns(2))
    saved = save_records([replace(record, actor=None)], None)
    saved["lanes"][0]["actor"] = {"turn": 1}
    return load_records(saved, 1, 2)[0].lane_state


def test_rewards_in_pieces_are_those_in_one(model: Agent, arrays: Arrays) -> None:
    whole = in_pieces(model, arrays, 23)
    assert set(np.unique(whole)) == {-1.0, 0.0, 1.0}
    assert (whole[arrays["last"][:-1]] == 0).all()
    for steps in (1, 5, 12):
        np.testing.assert_array_equal(in_pieces(model, arrays, steps), whole)
    np.testing.assert_array_equal(in_pieces(model, arrays, 4, through_a_checkpoint), whole)


def test_a_gpu_draws_the_marks_of_the_cpu(gpu: str, model: Agent, arrays: Arrays) -> None:
    here = in_pieces(deepcopy(model), arrays, 3)
    there = in_pieces(model, arrays, 3, on=InferenceDevice(gpu))
    assert (there == here).mean() > 0.98, "rounding decides few draws"


def test_lanes_draw_on_their_own(model: Agent, arrays: Arrays) -> None:
    twice = {key: np.concatenate([value[:, :1]] * 2, axis=1) for key, value in arrays.items()}
    keys = lane_keys(twice)
    assert keys[0] != keys[1]
    rewards = in_pieces(model, twice, 23)
    assert (rewards[:, 0] != rewards[:, 1]).any()


def test_the_summed_marks_of_an_episode_are_its_utility(model: Agent) -> None:
    episodes = episodes_of(model, 3)
    found = utilities(model, episodes, rows=4)
    rewards = MarkReward(model, 0).score(concatenate_lanes(episodes), LaneState()).reward
    np.testing.assert_allclose(np.stack(found, axis=1)[1:], rewards.cumsum(0))
    assert all(values[0] == 0 for values in found)


def test_only_weights_of_a_model_of_marks_are_taken(model: Agent) -> None:
    function = MarkReward(model, 0)
    function.load_version(export_weights(model), 4)
    assert function.version == 4
    with pytest.raises(ValueError, match=r"reward\.model=ar"):
        function.load_version(export_weights(tiny_agent(LineWorld(), utility=True)), 5)
    with pytest.raises(ValueError, match=r"reward\.model=ar"):
        MarkReward(tiny_agent(LineWorld(), utility=True), 0)


def test_predictions_are_measured_against_the_marks(model: Agent) -> None:
    log_probs = np.log(np.array([[0.5, 0.3, 0.2], [0.8, 0.1, 0.1], [0.2, 0.1, 0.7], [0.6, 0.3, 0.1]], np.float32))
    found = _prediction(log_probs, np.array([1, 0, 2, 2]))
    assert found.likelihood == pytest.approx(np.log([0.3, 0.8, 0.7, 0.1]).mean())
    assert found.auc == 1.0 and found.sign_accuracy == pytest.approx(2 / 3)
    assert np.isnan(_prediction(log_probs, np.zeros(4, np.int64)).auc)
    (arrays,) = episodes_of(model, 1)
    arrays["negative"][5] = 1
    whole, pieces = (mark_prediction(model, [arrays], rows) for rows in (50, 5))
    assert whole.likelihood == pytest.approx(pieces.likelihood, rel=1e-5) and whole.auc == pieces.auc
