"""Random unrolls of the line world, and learners of tiny agents."""

from __future__ import annotations

import numpy as np
import torch
from fake_world import TINY

from interplay.agent.network import Agent, AgentOutput
from interplay.agent.observation import Arrays
from interplay.agent.recurrent import RecurrentState
from interplay.agent.unroll import Unroll, allocate_demonstration, allocate_rollout
from interplay.learner.batch import to_tensors
from interplay.learner.config import LearnerConfig
from interplay.learner.learner import Learner
from interplay.learner.objective import LossWeights, ObjectiveConfig

STEPS, LANES = 6, 3
CONFIG = LearnerConfig(learning_rate=1e-3)


def fill(arrays: Arrays, agent: Agent, rng: np.random.Generator) -> None:
    """Random rows of episodes with four or five rows."""
    lead = arrays["first"].shape
    arrays["row"][:] = (np.arange(lead[0])[:, None] + np.arange(lead[1])) % 5
    arrays["first"][:], arrays["last"][:] = arrays["row"] == 0, arrays["row"] == 4
    if "image" in arrays:
        arrays["image"][:] = rng.integers(256, size=arrays["image"].shape)
    arrays["vector"][:] = rng.normal(size=arrays["vector"].shape)
    if "movement" in arrays:
        bins = np.array(agent.layout.bins)
        arrays["movement"][:] = rng.integers(bins, size=arrays["movement"].shape)
        arrays["previous"][:] = rng.integers(bins, size=arrays["previous"].shape)
    if "spoke" in arrays:
        arrays["spoke"][:] = rng.random(lead) < 0.4
        for key in ("heard", "said", "tokens"):
            arrays[key][..., 0] = rng.integers(4, 11, size=lead)
            arrays[key][..., 1] = 3  # the end
        arrays["tokens"][~arrays["spoke"]] = 0


def demonstrated(agent: Agent, seed: int = 0, lanes: int = LANES) -> Unroll:
    rng = np.random.default_rng(seed)
    arrays = allocate_demonstration(agent.layout, STEPS, lanes)
    fill(arrays, agent, rng)
    arrays["cloned"][:] = rng.random(arrays["cloned"].shape) < 0.9
    arrays["positive"][:] = rng.random(arrays["cloned"].shape) < 0.3
    return Unroll(arrays)


def rollout(agent: Agent, seed: int = 0, lanes: int = 2) -> Unroll:
    rng = np.random.default_rng(100 + seed)
    arrays = allocate_rollout(agent.layout, STEPS, lanes)
    fill(arrays, agent, rng)
    for key in ("movement_log_prob", "language_log_prob"):
        arrays[key][:] = rng.normal(-2, 0.5, size=arrays[key].shape)
    state = RecurrentState(*(rng.normal(size=(lanes, TINY.lstm)).astype(np.float32) for _ in range(2)))
    arrays["reward"] = rng.normal(size=(STEPS, lanes)).astype(np.float32)
    if agent.language is not None:
        arrays["reference_gate"] = rng.normal(size=(STEPS + 1, lanes)).astype(np.float32)
    return Unroll(arrays, state)


def learner_of(agent: Agent, config: LearnerConfig = CONFIG, seed: int = 0) -> Learner:
    return Learner(agent, config, dataset_lanes=LANES, generator=torch.Generator().manual_seed(seed))


def weighing(**weights: float) -> LearnerConfig:
    return LearnerConfig(ObjectiveConfig(LossWeights(**weights)), learning_rate=1e-3)


def forward(agent: Agent, unroll: Unroll) -> AgentOutput:
    """The agent's output for a rollout, without gradients."""
    rows = to_tensors(unroll, torch.device("cpu"))
    assert rows.state is not None
    with torch.no_grad():
        return agent({key: rows.host[key] for key in agent.layout.observations(0, 0)}, rows.state)[0]
