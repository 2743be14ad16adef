"""The settings of the learner: its learning rate, what losses are averaged over, their factors and their limits."""

from __future__ import annotations

import dataclasses
from typing import Literal

import pytest
import torch
from fake_world import LineWorld, tiny_agent
from random_unrolls import demonstrated, forward, learner_of, rollout, weighing

from interplay.learner.config import LearnerConfig
from interplay.learner.objective import LossWeights, ObjectiveConfig


def test_the_learning_rate_warms_up() -> None:
    agent = tiny_agent(LineWorld())
    learner, rates = learner_of(agent, LearnerConfig(learning_rate=8e-4, warm_up=4)), []
    for number in range(6):
        learner.update(demonstrated=demonstrated(agent, number))
        rates.append(learner.state()["optimizer"]["param_groups"][0]["lr"])
    assert rates == pytest.approx([2e-4, 4e-4, 6e-4, 8e-4, 8e-4, 8e-4])


@pytest.mark.parametrize(
    ("decay", "expected"), [("linear", [2.0, 3.0, 2.0, 1.0, 0.0]), ("cosine", [2.0, 3.4142, 2.0, 0.5858, 0.0])]
)
def test_the_learning_rate_decays_to_zero(decay: Literal["linear", "cosine"], expected: list[float]) -> None:
    agent = tiny_agent(LineWorld())
    config = LearnerConfig(learning_rate=4.0, warm_up=2, decay=decay, decay_updates=4)
    assert [config.rate_at(update) for update in range(5)] == pytest.approx(expected, abs=1e-4)
    assert config.rate_at(9) == 0
    learner = learner_of(agent, dataclasses.replace(config, learning_rate=4e-4))
    for number in range(3):
        learner.update(demonstrated=demonstrated(agent, number))
    rate = learner.state()["optimizer"]["param_groups"][0]["lr"]
    assert rate == pytest.approx(2e-4)
    with pytest.raises(ValueError, match="decay=linear needs decay_updates"):
        LearnerConfig(decay="linear").rate_at(0)


def test_words_are_averaged_over_utterances_or_steps() -> None:
    agent = tiny_agent(LineWorld())
    rows = demonstrated(agent)
    found = {}
    for words in ("utterance", "step"):
        config = LearnerConfig(ObjectiveConfig(words=words))
        found[words] = learner_of(tiny_agent(LineWorld()), config).update(demonstrated=rows)
    counted = rows.arrays["cloned"] & ~rows.arrays["last"]
    share = (rows.arrays["spoke"] & counted).sum() / counted.sum()
    assert 0.1 < share < 0.9
    per_utterance, per_step = (found[words]["language_cloning"] - found[words]["gate_cloning"] for words in found)
    assert per_utterance == pytest.approx(found["utterance"]["token_cloning"], rel=1e-5)
    assert per_step == pytest.approx(share * per_utterance, rel=1e-5)
    assert found["step"]["token_cloning"] == found["utterance"]["token_cloning"]


def test_the_factor_of_the_value_loss() -> None:
    agent = tiny_agent(LineWorld())
    half, whole = (
        learner_of(tiny_agent(LineWorld()), LearnerConfig(ObjectiveConfig(value_factor=factor))).update(
            demonstrated=None, rollout=rollout(agent)
        )["value"]
        for factor in (0.5, 1.0)
    )
    assert half > 0 and whole == pytest.approx(2 * half)


def test_the_gradient_is_clipped_if_configured() -> None:
    norms = []
    for clip in (None, 0.01):
        agent = tiny_agent(LineWorld())
        learner = learner_of(agent, LearnerConfig(gradient_clip=clip))
        reported = learner.update(demonstrated=demonstrated(agent))["gradient_norm"]
        gradients = [parameter.grad for parameter in agent.parameters() if parameter.grad is not None]
        norms.append((reported, float(torch.stack([gradient.norm() for gradient in gradients]).norm())))
    (free, same), (reported, clipped) = norms
    assert free == pytest.approx(same, rel=1e-4) == pytest.approx(reported)
    assert clipped == pytest.approx(0.01, rel=1e-3)


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"learning_rate": 0.0}, "learning_rate must be above 0"),
        ({"gradient_clip": 0.0}, "gradient_clip must be above 0"),
        ({"warm_up": -1}, "warm_up must be at least 0"),
    ],
)
def test_settings_that_cannot_be_are_refused(setting: dict[str, float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        LearnerConfig(**setting)  # type: ignore[arg-type]


def test_an_entropy_bonus_flattens_the_policy() -> None:
    """Its loss is minus the entropy of torch's own distributions, over valid steps, and its gradient raises it."""
    agent = tiny_agent(LineWorld())
    earned = rollout(agent)
    with torch.no_grad():
        agent.movement.layers[2].bias[0] += 2.0  # type: ignore[union-attr]
    valid = torch.from_numpy(~earned.arrays["last"][:-1])
    output = forward(agent, earned)
    assert output.movement is not None and output.gate is not None
    movement = torch.distributions.Categorical(logits=output.movement).entropy().sum((-1, -2))[:-1]
    gate = torch.distributions.Bernoulli(logits=output.gate).entropy()[:-1]
    expected = torch.stack([movement[valid].mean(), gate[valid].mean()])

    zeros = dict.fromkeys(vars(LossWeights()), 0.0)
    learner = learner_of(agent, weighing(**{**zeros, "entropy": 0.5}))
    metrics = learner.update(demonstrated=None, rollout=earned)
    assert metrics["movement_entropy"] == pytest.approx(float(expected[0]), rel=1e-5)
    assert metrics["gate_entropy"] == pytest.approx(float(expected[1]), rel=1e-5)
    assert metrics["entropy"] == pytest.approx(-float(expected.sum()), rel=1e-5)
    assert metrics["loss"] == pytest.approx(0.5 * metrics["entropy"], rel=1e-5)
    for _ in range(5):
        later = learner.update(demonstrated=None, rollout=earned)
    assert later["entropy"] < metrics["entropy"] - 0.01
