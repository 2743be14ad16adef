"""Payments: by the learned model or by the truth, and both go on where they stopped."""

from __future__ import annotations

import io

import numpy as np
import pytest
import torch
from street import TINY, Street, tiny_agent

from interplay.agent.observation import Arrays, Layout
from interplay.agent.unroll import Unroll, allocate_rollout
from interplay.reward.reward_functions import EnvironmentReward, LearnedReward, ProgressReward
from interplay.reward.service import RewardService

LAYOUT = Layout(Street().spec, TINY.utterance_length, TINY.actions_per_step)
STEPS, LANES = 4, 2


def unrolls_of(count: int) -> list[Unroll]:
    rng = np.random.default_rng(0)
    made = []
    for number in range(count):
        arrays: Arrays = allocate_rollout(LAYOUT, STEPS, LANES)
        arrays["image"][:] = rng.integers(256, size=arrays["image"].shape)
        arrays["first"][:] = number == 0 and np.arange(STEPS + 1)[:, None] == 0
        made.append(Unroll(arrays, {}))
    return made


def test_the_learned_payment_carries_its_lanes() -> None:
    service = RewardService(tiny_agent(Street(), utility=True))
    payment, state = LearnedReward(service, LANES, 1), service.initial_state(LANES)
    for unroll in unrolls_of(3):
        scored = service.score(unroll.arrays, state)
        state = scored.state
        np.testing.assert_array_equal(payment.pay(unroll), scored.reward)
    fresh = LearnedReward(service, LANES, 1)
    assert not np.array_equal(fresh.pay(unrolls_of(3)[2]), scored.reward)  # what it remembers matters


def test_the_learned_payment_goes_on_where_it_was_saved() -> None:
    service = RewardService(tiny_agent(Street(), utility=True))
    straight, resumed = LearnedReward(service, LANES, 1), LearnedReward(service, LANES, 1)
    made = unrolls_of(4)
    for unroll in made[:2]:
        straight.pay(unroll)
    file = io.BytesIO()
    torch.save(straight.state(), file)
    file.seek(0)
    resumed.load_state(torch.load(file, weights_only=True))
    for unroll in made[2:]:
        np.testing.assert_array_equal(straight.pay(unroll), resumed.pay(unroll))


def test_the_scripted_payment_is_the_change_of_true_progress() -> None:
    (unroll,) = unrolls_of(1)
    unroll.arrays["progress"][:, 0] = [0.0, 0.5, 0.25, 0.9, 1.0]
    unroll.arrays["progress"][:, 1] = [0.5, 1.0, 0.1, 0.1, 0.3]
    unroll.arrays["last"][1, 1] = True  # the fall from 1.0 to 0.1 is another episode's start
    expected = np.array([[0.5, 0.5], [-0.25, 0.0], [0.65, 0.0], [0.1, 0.2]])
    payment = ProgressReward()
    np.testing.assert_allclose(payment.pay(unroll), expected, atol=1e-6)
    payment.load_state(payment.state())


def test_the_scripted_payment_needs_the_truth() -> None:
    with pytest.raises(ValueError, match=r"set reinforce\.actor\.progress=true"):
        ProgressReward().pay(unrolls_of(1)[0])


def test_the_world_payment_is_what_the_world_paid_and_nothing_for_terminal_rows() -> None:
    (unroll,) = unrolls_of(1)
    unroll.arrays["env_reward"][:, 0] = [1.0, 0.0, -1.0, 2.0, 9.0]  # row T is paid for in the next unroll
    unroll.arrays["env_reward"][:, 1] = 0.5
    unroll.arrays["last"][1, 1] = True
    expected = np.array([[1.0, 0.5], [0.0, 0.0], [-1.0, 0.5], [2.0, 0.5]], np.float32)
    payment = EnvironmentReward()
    np.testing.assert_array_equal(payment.pay(unroll), expected)
    payment.load_state(payment.state())
