"""The listening gap: equal to a slow loop, zero for a deaf agent, paired by episode, without random draws."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from fake_world import TINY, LineWorld, tiny_agent
from numpy.typing import NDArray

from interplay.agent.network import Agent
from interplay.agent.observation import Arrays, Layout
from interplay.agent.unroll import allocate_demonstration
from interplay.env.arrays import Float64Array
from interplay.reward.listening_gap import (
    Likelihoods,
    ListeningGap,
    joined_gaps,
    listening_gap,
    log_likelihoods,
)

LAYOUT = Layout(LineWorld().spec, TINY.utterance_length, TINY.actions_per_step)
OTHER = np.array([5, 6, 3] + [0] * (TINY.utterance_length - 3), np.int16)


def episode(steps: int, seed: int) -> Arrays:
    """An episode of random actions, steered by an agent in its second step, with an instruction from row 1 on."""
    rng = np.random.default_rng(seed)
    arrays = allocate_demonstration(LAYOUT, steps, 1)
    arrays["first"][0], arrays["last"][-1] = True, True
    arrays["image"][:] = rng.integers(256, size=arrays["image"].shape)
    arrays["heard"][1:, 0, :2] = 4, 3
    for component, bins in enumerate(LAYOUT.bins):
        arrays["movement"][..., component] = rng.integers(bins, size=arrays["movement"].shape[:-1])
    arrays["spoke"][:-1, 0] = rng.random(steps) < 0.5
    arrays["tokens"][arrays["spoke"], :2] = 6, 3
    arrays["cloned"][:] = True
    arrays["cloned"][1] = False
    return arrays


def slow_likelihoods(agent: Agent, arrays: Arrays) -> tuple[float, float]:
    """Mean log-likelihoods of movement and words, step by step and part by part."""
    state, movement, words = agent.initial_state(1), list[float](), list[float]()
    for row in range(len(arrays["first"])):
        observations = {key: torch.from_numpy(arrays[key][row : row + 1]) for key in LAYOUT.observations(0, 0)}
        with torch.no_grad():
            output, state = agent(observations, state)
            if arrays["last"][row, 0] or not arrays["cloned"][row, 0]:
                continue
            assert output.movement is not None and output.gate is not None and agent.language is not None
            chunk, likelihood = arrays["movement"][row, 0], 0.0
            for action, component in np.ndindex(*chunk.shape):
                logits = output.movement[0, 0, action, component]
                likelihood += float(logits.log_softmax(-1)[int(chunk[action, component])])
            movement.append(likelihood)
            speaks = float(torch.sigmoid(output.gate[0, 0]))
            spoke = bool(arrays["spoke"][row, 0])
            words.append(math.log(speaks if spoke else 1 - speaks))
            if spoke:
                tokens = torch.from_numpy(arrays["tokens"][row])
                words[-1] += float(agent.language.token_log_probs(output.core[0], tokens).sum())
    return sum(movement) / len(movement), sum(words) / len(words)


@pytest.mark.parametrize("rows", [1, 4, 16])
def test_the_gap_is_that_of_a_slow_loop(rows: int) -> None:
    agent = tiny_agent(LineWorld())
    episodes = [episode(steps, steps) for steps in (6, 3, 9)]
    gap = listening_gap(agent, episodes, [OTHER] * 3, rows=rows)
    for index, arrays in enumerate(episodes):
        swapped = {**arrays, "heard": arrays["heard"].copy()}
        swapped["heard"][1:, 0] = OTHER
        for side, shown in ((gap.own, arrays), (gap.other, swapped)):
            movement, words = slow_likelihoods(agent, shown)
            assert side.movement[index] == pytest.approx(movement, abs=1e-5)
            assert side.words[index] == pytest.approx(words, abs=1e-5)
    assert (np.abs(gap.movement) > 1e-5).all()


def test_an_agent_that_ignores_words_has_no_gap() -> None:
    agent = tiny_agent(LineWorld())
    agent.encoder.register_forward_pre_hook(
        lambda _, given: ({**given[0], "heard": torch.zeros_like(given[0]["heard"])}, *given[1:])
    )
    gap = listening_gap(agent, [episode(5, 1), episode(8, 2)], [OTHER, OTHER])
    np.testing.assert_array_equal(gap.movement, [0, 0])
    np.testing.assert_array_equal(gap.words, [0, 0])


def test_measuring_draws_nothing_and_keeps_the_mode() -> None:
    agent = tiny_agent(LineWorld()).train()
    before = torch.get_rng_state()
    listening_gap(agent, [episode(5, 1)], [OTHER])
    assert torch.equal(torch.get_rng_state(), before)
    assert agent.training


def test_episodes_without_recorded_actions_are_left_out() -> None:
    arrays = episode(5, 1)
    arrays["cloned"][:] = False
    gap = listening_gap(tiny_agent(LineWorld()), [arrays, episode(6, 2)], [OTHER, OTHER])
    assert np.isnan(gap.own.movement).tolist() == [True, False]
    assert len(gap.movement) == len(gap.words) == 1
    means = ["heldout_listening", "heldout_listening_episodes"]
    means += ["heldout_listening_words", "heldout_listening_words_episodes"]
    assert list(gap.metrics()) == means


def test_an_array_of_another_type_is_refused() -> None:
    arrays = episode(5, 1)
    arrays["cloned"] = arrays["cloned"].astype(np.int8)
    with pytest.raises(ValueError, match="cloned"):
        log_likelihoods(tiny_agent(LineWorld()), [arrays])


def test_means_and_errors_are_paired_by_episode() -> None:
    def sides(movement: list[float]) -> Likelihoods:
        words: Float64Array = np.full(len(movement), np.nan)
        return Likelihoods(np.array(movement), words)

    gaps = [ListeningGap(sides([-1.0, -5.0]), sides([-2.0, -7.0])), ListeningGap(sides([-9.0]), sides([-12.0]))]
    found = joined_gaps(gaps).metrics()
    assert found == {
        "heldout_listening": pytest.approx(2),
        "heldout_listening_error": pytest.approx(1 / 3**0.5),
        "heldout_listening_episodes": 3,
    }
    nothing: NDArray[np.float64] = joined_gaps([]).movement
    assert len(nothing) == 0
