"""The ratios of the policy gradients, and what is logged of them."""

from __future__ import annotations

import copy
import math
from dataclasses import replace
from typing import Literal, get_args

import numpy as np
import pytest
import torch
from fake_world import TINY, LineWorld, tiny_agent
from random_unrolls import demonstrated, forward, learner_of, rollout, weighing

from interplay.agent.heads import gate_log_prob, movement_log_probs
from interplay.agent.network import Agent
from interplay.agent.sizes import MovementKind
from interplay.agent.unroll import Unroll
from interplay.learner.batch import to_tensors
from interplay.learner.config import LearnerConfig
from interplay.learner.masks import discounts, valid_steps
from interplay.learner.objective import LossWeights, ObjectiveConfig, Ratio
from interplay.learner.rollout_terms import effective_shares
from interplay.learner.vtrace import vtrace


def slow_movement_policy(agent: Agent, unroll: Unroll, ratio: str) -> float:
    """The movement's policy gradient loss, number by number."""
    rows, output = to_tensors(unroll, torch.device("cpu")), forward(agent, unroll)
    assert output.movement is not None and output.gate is not None and agent.language is not None
    assert agent.movement is not None
    arrays = rows.host
    with torch.no_grad():
        logits = agent.movement.logits(output.movement, arrays["movement"])
        actions = movement_log_probs(logits, arrays["movement"]).sum(-1)
        words = agent.language.utterance_log_probs(output.core, arrays["spoke"], arrays["tokens"])
        language = gate_log_prob(output.gate, arrays["spoke"]) + words - arrays["language_log_prob"]
    ratios = actions - arrays["movement_log_prob"]
    mask = valid_steps(last=arrays["last"])
    whole = (ratios.mean(-1) if ratio == "action" else ratios.sum(-1)) + language
    trace = vtrace(
        log_ratio=(whole if ratio != "none" else torch.zeros_like(whole))[:-1],
        reward=arrays["reward"],
        discount=discounts(last=arrays["last"], gamma=0.96, truncated=arrays["truncated"]),
        value=output.value[:-1],
        bootstrap=output.value[-1],
        mask=mask,
    )
    total = 0.0
    for t, b in np.ndindex(*mask.shape):
        if not mask[t, b]:
            continue
        for a in range(actions.shape[-1]):
            own = {
                "action": ratios[t, b, a],
                "head": ratios[t, b].sum(),
                "joint": ratios[t, b].sum() + language[t, b],
                "none": 0.0,
            }
            total -= min(1.0, math.exp(own[ratio])) * float(trace.advantage[t, b]) * float(actions[t, b, a])
    return total / int(mask.sum())


@pytest.mark.parametrize("movement", get_args(MovementKind))
@pytest.mark.parametrize("ratio", get_args(Ratio))
def test_each_ratio_is_the_slow_sum(ratio: Ratio, movement: MovementKind) -> None:
    agent = tiny_agent(LineWorld(), config=replace(TINY, movement=movement))
    earned = rollout(agent)
    earned.arrays["movement_log_prob"][:] += 0.8  # so that ratios lie on both sides of the clip
    expected = slow_movement_policy(agent, earned, ratio)
    learner = learner_of(agent, LearnerConfig(ObjectiveConfig(ratio=ratio), learning_rate=1e-3))
    assert learner.update(demonstrated=None, rollout=earned)["movement_policy"] == pytest.approx(expected, rel=1e-4)


def test_staleness_shows_in_the_effective_share_and_not_in_the_mean_ratio() -> None:
    """On policy, all weights are 1; with noise of mean ratio 1, the statistics fall."""
    agent = tiny_agent(LineWorld())
    config = LearnerConfig(ObjectiveConfig(replace(LossWeights(), gate_kl=0)), learning_rate=1e-30)
    stale = rollout(agent, lanes=64)
    first = learner_of(agent, config).update(demonstrated=None, rollout=stale)
    output, rows = forward(agent, stale), to_tensors(stale, torch.device("cpu")).host
    assert output.movement is not None and output.gate is not None and agent.language is not None
    with torch.no_grad():
        actions = movement_log_probs(output.movement, rows["movement"]).sum(-1)
        words = agent.language.utterance_log_probs(output.core, rows["spoke"], rows["tokens"])
        stale.arrays["language_log_prob"][:] = gate_log_prob(output.gate, rows["spoke"]) + words
    stale.arrays["movement_log_prob"][:] = actions
    fresh = learner_of(agent, config).update(demonstrated=None, rollout=stale)
    for head in ("", "movement_", "language_"):
        assert fresh[f"{head}effective_share"] == pytest.approx(1.0, abs=1e-5)
        assert fresh[f"{head}rho"] == pytest.approx(1.0, abs=1e-5)
        assert fresh[f"{head}log_ratio"] == pytest.approx(0.0, abs=1e-5)
        assert fresh["ratio_clipped" if not head else f"{head}clipped"] == 0
        assert first[f"{head}effective_share"] < 0.9
    noise = np.random.default_rng(0).normal(0.5, 1.0, size=actions.shape[:-1]) / actions.shape[-1]
    stale.arrays["movement_log_prob"][:] = actions.numpy() + noise[..., None]  # ratios of mean exp(-0.5 + 0.5) = 1
    lagged = learner_of(agent, config).update(demonstrated=None, rollout=stale)
    assert lagged["movement_ratio"] == pytest.approx(1.0, abs=0.15)
    assert lagged["movement_effective_share"] == pytest.approx(math.exp(-1.0), abs=0.15)
    assert lagged["movement_log_ratio"] == pytest.approx(-0.5, abs=0.15)
    assert 0.4 < lagged["movement_rho"] < 0.8 and lagged["language_rho"] == pytest.approx(1.0, abs=1e-5)


def test_a_batch_of_rows_between_episodes_has_no_means_over_steps() -> None:
    """They would count as 0 in the means over updates."""
    agent = tiny_agent(LineWorld())
    learner, played, shown = learner_of(agent, weighing(entropy=0.1)), rollout(agent), demonstrated(agent)
    found = learner.update(demonstrated=shown, rollout=played)
    assert found["played_steps"] == (~played.arrays["last"][:-1]).sum() > 0 and found["cloned_steps"] > 0
    played.arrays["last"][:] = shown.arrays["last"][:] = True
    empty = learner.update(demonstrated=shown, rollout=played)
    assert empty["played_steps"] == empty["cloned_steps"] == 0
    kept = {"played_steps", "cloned_steps", "value_mean", "loss", "gradient_norm", "utterances"}
    assert set(empty) == kept | {name for name in found if name.startswith("css")}


def test_effective_shares_replace_the_squares() -> None:
    found = effective_shares({"ratio": 0.5, "ratio_square": 1.0, "movement_ratio": 1.0, "movement_ratio_square": 2.0})
    assert found == {"ratio": 0.5, "effective_share": 0.25, "movement_ratio": 1.0, "movement_effective_share": 0.5}
    assert effective_shares({"ratio": 0.0, "ratio_square": 0.0})["effective_share"] == 0.0


@pytest.mark.parametrize("reading", ["bootstrap", "terminal"])
def test_at_a_time_limit_the_value_of_the_last_row_follows(reading: Literal["bootstrap", "terminal"]) -> None:
    """With V = 1, no rewards and ratios of 1, the targets are powers of the discount; 0 before a true end."""
    agent = tiny_agent(LineWorld())
    with torch.no_grad():
        for parameter in agent.value.parameters():
            parameter.zero_()
        agent.value.layers[2].bias.fill_(1.0)  # type: ignore[union-attr]
    earned = rollout(agent)
    earned.arrays["reward"][:] = 0
    for key in ("movement_log_prob", "language_log_prob"):
        earned.arrays[key][:] = -100.0  # ratios far above the clip
    (row, lane), *others = (tuple(index) for index in np.argwhere(earned.arrays["last"]) if index[0] > 0)
    assert others
    earned.arrays["truncated"][row, lane] = True
    last, truncated = earned.arrays["last"], earned.arrays["truncated"]
    errors = []
    for b in range(earned.lanes):
        target = 1.0
        for t in reversed(range(earned.steps)):
            if last[t, b]:
                target = 1.0  # a terminal row has no step; its value is 1
                continue
            ends = last[t + 1, b] and not (reading == "bootstrap" and truncated[t + 1, b])
            target = 0.0 if ends else 0.5 * target
            errors.append((target - 1.0) ** 2)
    weights = LossWeights(**{**dict.fromkeys(vars(LossWeights()), 0.0), "value": 1.0})
    config = LearnerConfig(ObjectiveConfig(weights, discount=0.5, time_limits=reading))
    found = learner_of(agent, config).update(demonstrated=None, rollout=earned)
    assert found["value"] == pytest.approx(0.5 * np.mean(errors), rel=1e-5)


def test_an_unknown_ratio_is_refused() -> None:
    with pytest.raises(ValueError, match="ratio must be one of joint, head, action, none; got 'frame'"):
        ObjectiveConfig(ratio="frame")  # type: ignore[arg-type]


def test_a_scaled_reward_is_that_reward_for_value_and_policy() -> None:
    agent = tiny_agent(LineWorld())
    plain, scaled = rollout(agent), rollout(agent)
    scaled.arrays["reward"] = scaled.arrays["reward"] / 4
    rewards = scaled.arrays["reward"].copy()
    metrics = [
        learner_of(copy.deepcopy(agent), LearnerConfig(ObjectiveConfig(reward_scale=scale))).update(
            demonstrated=None, rollout=unroll
        )
        for scale, unroll in ((1.0, plain), (4.0, scaled), (1.0, scaled))
    ]
    assert metrics[0] == metrics[1]
    assert metrics[2]["value"] != metrics[0]["value"] and metrics[2]["movement_policy"] != metrics[0]["movement_policy"]
    np.testing.assert_array_equal(scaled.arrays["reward"], rewards)
