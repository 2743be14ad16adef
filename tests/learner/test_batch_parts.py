"""Parts of a batch, learned from one after another, equal the whole batch."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Iterator
from typing import Any

import pytest
import torch
from fake_world import TINY, LineWorld, tiny_agent
from rank_process import LANES, demonstrated_rows, rollout_rows

from interplay.agent.network import Agent
from interplay.agent.sizes import AgentConfig
from interplay.learner.config import LearnerConfig
from interplay.learner.learner import Learner
from interplay.learner.losses import shuffled_lanes
from interplay.learner.objective import LossWeights, ObjectiveConfig

AFTER_TRANSFORMER = dataclasses.replace(TINY, text_film=False, css_input="transformer", movement="autoregressive")
AGENTS: dict[str, dict[str, Any]] = {
    "utility": {"utility": True},
    "marks": {"marks": True},
    "after the transformer": {"config": AFTER_TRANSFORMER},
}


def learner_of(agent: Agent, seed: int = 4, **settings: Any) -> Learner:
    config = LearnerConfig(learning_rate=1e-3, **settings)
    return Learner(agent, config, dataset_lanes=LANES, generator=torch.Generator().manual_seed(seed))


def gradient(agent: Agent) -> torch.Tensor:
    return torch.cat([parameter.grad.reshape(-1) for parameter in agent.parameters() if parameter.grad is not None])


@pytest.fixture
def float64() -> Iterator[None]:
    """New tensors and parameters are float64."""
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(torch.float32)


@pytest.mark.parametrize("parts", [2, 4])
@pytest.mark.parametrize("name", AGENTS)
def test_parts_equal_one_batch(name: str, parts: int) -> None:
    """Their shares differ, and CSS pairs lanes of different parts."""
    whole_agent = tiny_agent(LineWorld(), **AGENTS[name])
    agent = copy.deepcopy(whole_agent)
    whole, split = learner_of(whole_agent), learner_of(agent, accumulate=parts)
    for number in range(2):
        given = {"demonstrated": demonstrated_rows(agent, number), "rollout": rollout_rows(agent, number)}
        expected, found = whole.update(**given), split.update(**given)
        assert found.keys() == expected.keys()
        if number == 0:
            apart = (gradient(agent) - gradient(whole_agent)).norm() / gradient(whole_agent).norm()
            assert float(apart) < 1e-6
            assert found == pytest.approx(expected, rel=2e-5, abs=2e-6)
    for one, other in zip(split.state()["dataset_state"], whole.state()["dataset_state"], strict=True):
        torch.testing.assert_close(one, other, rtol=0, atol=1e-3)
    assert torch.equal(split.state()["generator"], whole.state()["generator"])
    permutation = shuffled_lanes(LANES, torch.Generator().manual_seed(4))
    assert any(int(lane) * parts // LANES != index * parts // LANES for index, lane in enumerate(permutation))


@pytest.mark.parametrize("config", [TINY, AFTER_TRANSFORMER], ids=["tower", "transformer"])
def test_css_alone_pairs_the_lanes_of_the_whole_batch(config: AgentConfig, float64: None) -> None:
    """In float64: matching and other pairs nearly cancel, and float32 rounds the rest by 1e-6, by the processor."""
    weights = LossWeights(**{name: float(name == "css") for name in vars(LossWeights())})
    found = []
    for parts in (1, 2, 4):
        agent = tiny_agent(LineWorld(), config=config)
        for module in agent.modules():
            if isinstance(module, torch.nn.Linear | torch.nn.Conv2d):
                module.register_forward_pre_hook(lambda _, given: (given[0].double(), *given[1:]))
        learner = learner_of(agent, accumulate=parts, objective=ObjectiveConfig(weights))
        loss = learner.update(demonstrated=demonstrated_rows(agent, 0))["css"]
        found.append((loss, gradient(agent)))
    for loss, other in found[1:]:
        assert loss == pytest.approx(found[0][0], rel=1e-6)
        assert other.dtype == torch.float64
        assert (other - found[0][1]).norm() < 2e-7 * found[0][1].norm()


def test_only_one_part_is_in_the_network_at_a_time() -> None:
    agent = tiny_agent(LineWorld())
    seen: list[int] = []
    agent.encoder.register_forward_hook(lambda _, given, __: seen.append(len(given[0]["image"])))
    given = {"demonstrated": demonstrated_rows(agent, 0), "rollout": rollout_rows(agent, 0)}
    rows = given["demonstrated"].arrays["first"].size + given["rollout"].arrays["first"].size
    learner_of(agent, accumulate=2).update(**given)
    assert seen == [rows // 2, rows // 2], "each row once"


def test_bf16_and_recomputing_work_in_parts() -> None:
    told = []
    for parts in (1, 2):
        agent = tiny_agent(LineWorld())
        learner = learner_of(agent, accumulate=parts, precision="bf16", recompute=2)
        learner.update(demonstrated=demonstrated_rows(agent, 0), rollout=rollout_rows(agent, 0))
        told.append(gradient(agent))
    assert (told[0] - told[1]).norm() < 0.02 * told[0].norm()


def test_lanes_that_cannot_be_divided_are_refused() -> None:
    agent = tiny_agent(LineWorld())
    with pytest.raises(ValueError, match=r"accumulate=3 does not divide the 4 demonstrated lanes"):
        learner_of(agent, accumulate=3).update(demonstrated=demonstrated_rows(agent, 0))
    with pytest.raises(ValueError, match="accumulate must be at least 1 part, got 0"):
        LearnerConfig(accumulate=0)


@pytest.mark.parametrize("parts", [1, 2])
def test_batches_without_mismatching_pairs_have_no_accuracy_of_css(parts: int) -> None:
    """Half of the accuracy would be missing from the mean over updates."""
    agent = tiny_agent(LineWorld())
    learner, shown = learner_of(agent, accumulate=parts), demonstrated_rows(agent, 0)
    metrics = learner.update(demonstrated=shown)
    assert 0 < metrics["css_accuracy"] <= 1 and metrics["css_mismatching"] > 0
    for key in ("heard", "said"):
        shown.arrays[key][:] = shown.arrays[key][:, :1]
    metrics = learner.update(demonstrated=shown)
    assert "css_accuracy" not in metrics and metrics["css_mismatching"] == 0
