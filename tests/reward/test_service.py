"""The reward service: unroll after unroll it says what one long forward would, and an episode earns its rise."""

from __future__ import annotations

import copy

import numpy as np
import pytest
import torch
from street import Street, tiny_agent

from interplay.agent.network import Agent
from interplay.agent.observation import Arrays
from interplay.agent.unroll import Unroll, allocate_rollout
from interplay.reward.reference_gate import ReferenceGate
from interplay.reward.service import RewardService

STEPS, LANES, UNROLLS = 5, 3, 4


@pytest.fixture
def model() -> Agent:
    return tiny_agent(Street(), utility=True)


def long_rows(model: Agent, seed: int = 0) -> Arrays:
    """Rows of episodes of seven rows, in lanes that are not in step."""
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
    """Unrolls, the last row of each being the first of the next."""
    return [{key: array[n * STEPS : (n + 1) * STEPS + 1] for key, array in arrays.items()} for n in range(UNROLLS)]


def test_unroll_after_unroll_is_one_long_forward(model: Agent) -> None:
    service, rows = RewardService(model), long_rows(model)
    whole = service.score(rows, service.initial_state(LANES))
    state = service.initial_state(LANES)
    for number, unroll in enumerate(cut(rows)):
        scored = service.score(unroll, state)
        state = scored.state
        here = slice(number * STEPS, (number + 1) * STEPS)
        np.testing.assert_allclose(scored.reward, whole.reward[here], atol=1e-5)
        np.testing.assert_allclose(scored.utility[:-1], whole.utility[here], atol=1e-5)
        assert scored.reward.shape == (STEPS, LANES)
        assert scored.utility.dtype == scored.reward.dtype == np.float32
    np.testing.assert_allclose(state["hidden"], whole.state["hidden"], atol=1e-5)
    np.testing.assert_allclose(state["cell"], whole.state["cell"], atol=1e-5)


def test_the_utility_is_the_models(model: Agent) -> None:
    rows = long_rows(model)
    scored = RewardService(model).score(rows, RewardService(model).initial_state(LANES))
    observations = {key: torch.from_numpy(rows[key]) for key in model.layout.observations(0, 0)}
    with torch.no_grad():
        output, _ = model(observations, model.initial_state(LANES))
    assert output.utility is not None
    np.testing.assert_allclose(scored.utility, output.utility.numpy(), atol=1e-5)


def test_an_episode_earns_its_rise_of_utility(model: Agent) -> None:
    service, rows = RewardService(model), long_rows(model)
    scored = service.score(rows, service.initial_state(LANES))
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


def test_a_request_can_be_repeated_and_asked_of_another_replica(model: Agent) -> None:
    replicas = [RewardService(model), RewardService(copy.deepcopy(model))]
    first, second, *_ = cut(long_rows(model))
    state = replicas[0].score(first, replicas[0].initial_state(LANES)).state
    kept = {name: array.copy() for name, array in state.items()}
    answers = [replica.score(second, state) for replica in (replicas[0], replicas[0], replicas[1])]
    for answer in answers[1:]:
        np.testing.assert_array_equal(answer.utility, answers[0].utility)
        np.testing.assert_array_equal(answer.reward, answers[0].reward)
    assert all(np.array_equal(state[name], kept[name]) for name in kept)


def test_what_is_missing_is_named(model: Agent) -> None:
    service, rows = RewardService(model), long_rows(model)
    for key in ("heard", "last"):
        with pytest.raises(ValueError, match=f"the unroll lacks {key}; it has "):
            service.score({name: a for name, a in rows.items() if name != key}, service.initial_state(LANES))


def test_a_policy_is_no_reward_model() -> None:
    with pytest.raises(ValueError, match="no utility head: give a checkpoint of the reward stage"):
        RewardService(tiny_agent(Street()))


def test_the_frozen_gate_follows_its_lanes_and_resumes() -> None:
    agent = tiny_agent(Street())
    rows = long_rows(agent)
    gate, resumed = ReferenceGate(agent, LANES), ReferenceGate(tiny_agent(Street(), seed=3), LANES)
    with torch.no_grad():
        observations = {key: torch.from_numpy(rows[key]) for key in agent.layout.observations(0, 0)}
        output, _ = agent(observations, agent.initial_state(LANES))
    assert output.gate is not None
    for number, arrays in enumerate(cut(rows)):
        if number == 2:
            resumed.load_state(gate.state())
        logits = gate.logits(Unroll(arrays, {}))
        expected = output.gate[number * STEPS : (number + 1) * STEPS + 1].numpy()
        np.testing.assert_allclose(logits, expected, atol=1e-5)
        if number >= 2:
            np.testing.assert_array_equal(resumed.logits(Unroll(arrays, {})), logits)
    mute = tiny_agent(Street(utterances=False))
    assert ReferenceGate(mute, LANES).logits(Unroll(cut(allocate_rollout(mute.layout, 20, LANES))[0], {})) is None
