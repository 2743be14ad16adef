"""What pays in the reinforce stage: true progress, the world, or a reward model, the same one wherever it is asked."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import torch

from interplay.agent.weights import Weights, load_weights
from interplay.learner import checkpoint
from interplay.learner.agents import build_agent, check_same_agent
from interplay.learner.checkpoint import CheckpointError
from interplay.learner.device import find_device
from interplay.reward.learned_reward import LearnedReward
from interplay.reward.reward_functions import EnvironmentReward, ProgressReward, RewardFunction
from interplay.stages.parts import checkpoint_of
from interplay.stages.run import Run

logger = logging.getLogger(__name__)

FOLLOW_INTERVAL_S = 2.0

PollNewer = Callable[[], tuple[Weights, int] | None]


@dataclass(frozen=True)
class RewardModel:
    """The reward model that pays from the start on. A replica that is made anew is made with this one, not with what
    has come since, which may be of another make."""

    description: Mapping[str, Any]
    weights: Weights
    version: int


def build_reward_function(run: Run, model: RewardModel | None, device: torch.device) -> RewardFunction:
    """The reward function of the run's reinforce stage; `model` where it is learned."""
    if model is None:
        return ProgressReward() if run.config.reinforce.reward == "scripted" else EnvironmentReward()
    agent, _ = build_agent(model.description)
    load_weights(agent, model.weights)
    return LearnedReward(agent.to(device), model.version)


class RewardSource:
    """The reward of the reinforce stage, in the learner's process.

    The reward model is read once, so that rollouts and held-out episodes are scored with the same one, even if the
    reward stage goes on training. Where newer models are followed, it is the newest that was taken up.
    """

    def __init__(self, run: Run, model: RewardModel | None, poll_newer: PollNewer) -> None:
        self.model = model  # None without a reward model
        self._run = run
        self._poll_newer = poll_newer
        self._newest: tuple[Weights, int] | None = None  # taken up since
        self._function: RewardFunction | None = None  # in this process

    def newer(self) -> tuple[Weights, int] | None:
        """A newer reward model to take up, returned once; `function` scores with it from then on. Thread-safe."""
        newest = self._poll_newer()
        self._newest = newest or self._newest
        return newest

    def function(self) -> RewardFunction:
        """The reward function in this process, with the newest reward model that was taken up."""
        if self._function is None:
            device = find_device(self._run.config.reinforce.learner.device)
            self._function = build_reward_function(self._run, self.model, device)
        if self._newest is not None and self._newest[1] != self._function.version:
            self._function.load_version(*self._newest)
        return self._function


def reward_source(run: Run) -> RewardSource:
    """What pays in the run's reinforce stage.

    Raises:
        CheckpointError: a reward model shall pay, and there is none.
    """
    if run.config.reinforce.reward != "ibt":
        return RewardSource(run, None, _none_comes)
    # Before what pays is read: of a model that comes between the two, all is told again.
    newer = newer_reward_models(run) if run.config.runtime.reward.follow else _none_comes
    found = checkpoint_of(run, "reward")
    weights = {name: tensor.numpy() for name, tensor in found.weights().items()}
    return RewardSource(run, RewardModel(found.description, weights, found.step), newer)


def newer_reward_models(run: Run, every: float = FOLLOW_INTERVAL_S) -> PollNewer:
    """Looks for newer checkpoints of the reward stage, no more often than every so many seconds: each is told once.

    One of another network, vocabulary or world is left alone, with a warning, and so is one that can't be read: a
    replica that tried it would go down.
    """
    first = checkpoint_of(run, "reward")
    paying, looked, complaint = first.step, -every, ""

    def newer() -> tuple[Weights, int] | None:
        nonlocal paying, looked, complaint
        if time.monotonic() - looked < every:
            return None
        looked = time.monotonic()
        try:
            found = checkpoint.latest(run.stage("reward").checkpoints)
            if found is None or found.step <= paying:
                return None
            check_same_agent(found, first.description)
            weights = {name: tensor.numpy() for name, tensor in found.weights().items()}
        except (CheckpointError, OSError) as error:
            if str(error) != complaint:
                logger.warning("a newer reward model is not taken up, that of update %d pays on: %s", paying, error)
            complaint = str(error)
            return None
        logger.info("the reward model of update %d pays from now on, after that of %d", found.step, paying)
        paying = found.step
        return weights, paying

    return newer


def _none_comes() -> None:
    return None
