"""An agent restored from its checkpoint: the same network and vocabulary, and a clear refusal of another agent."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import torch
from fake_world import TINY, WORDS, LineWorld, tiny_agent

from interplay.agent.network import Agent
from interplay.episodes.vocabulary import Vocabulary
from interplay.learner import checkpoint
from interplay.learner.agents import build_agent, check_same_agent, describe_agent, load_agent
from interplay.learner.checkpoint import CheckpointError


def saved(root: Path, agent: Agent) -> None:
    description = {**describe_agent(agent, WORDS), "stage": "clone"}
    checkpoint.save(root, step=3, description=description, weights=agent.state_dict(), training={})


@pytest.mark.parametrize("utility", [False, True])
def test_a_restored_agent_equals_the_saved_one(tmp_path: Path, utility: bool) -> None:
    agent = tiny_agent(LineWorld(), utility=utility)
    saved(tmp_path, agent)
    loaded, words = load_agent(tmp_path)
    assert words == WORDS
    assert (loaded.config, loaded.layout) == (agent.config, agent.layout)
    assert (loaded.utility is not None) == utility
    for (name, one), (other_name, other) in zip(agent.state_dict().items(), loaded.state_dict().items(), strict=True):
        assert name == other_name and torch.equal(one, other)
    check_same_agent(checkpoint.read(tmp_path), describe_agent(loaded, words))


def test_a_reward_model_is_built_from_a_policys_checkpoint() -> None:
    described = describe_agent(tiny_agent(LineWorld()), WORDS)
    assert build_agent(described, "utility")[0].utility is not None
    assert build_agent(described)[0].utility is None


def test_another_agent_is_refused_with_the_differences(tmp_path: Path) -> None:
    saved(tmp_path, tiny_agent(LineWorld()))
    found = checkpoint.read(tmp_path)
    wider = tiny_agent(LineWorld(), config=replace(TINY, width=32))
    with pytest.raises(CheckpointError, match=r"agent\.width is 16 there, 32 here\. Choose"):
        check_same_agent(found, describe_agent(wider, WORDS))
    with pytest.raises(CheckpointError, match=r"world\.image is \[8, 8, 3\] there, None here"):
        check_same_agent(found, describe_agent(tiny_agent(LineWorld(image=False)), WORDS))
    with pytest.raises(CheckpointError, match="the vocabularies differ"):
        check_same_agent(found, describe_agent(tiny_agent(LineWorld()), Vocabulary(["other"])))
