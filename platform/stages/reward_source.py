"""What pays in the reinforce stage: true progress, the world, or a reward model, the same one wherever it is asked."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from interplay.agent.weights import Weights
from interplay.learner import checkpoint
from interplay.learner.agents import build_agent, check_same_agent
from interplay.learner.checkpoint import CheckpointError
from interplay.learner.device import find_device
from interplay.reward.reward_functions import EnvironmentReward, LearnedReward, ProgressReward, RewardFunction
from interplay.reward.service import RewardService
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


class RewardSource:
    """What pays in this stage, as the learner's process knows it.

    The reward model is read once: what is played to be learned from, and what is played to be measured, is paid by the
    same one, whatever the reward stage has come to meanwhile. Where newer ones are followed, it is the newest taken up.
    """

    def __init__(self, run: Run, model: RewardModel | None, newer: PollNewer) -> None:
        self.model = model  # None where no model pays
        self._run = run
        self._newer = newer
        self._present = None if model is None else (model.weights, model.version)
        self._service: RewardService | None = None  # in this process
        self._serves: int | None = None  # the version that it pays by

    def newer(self) -> tuple[Weights, int] | None:
        """A newer reward model to take up, told once; from then on it pays here, too. Called from any thread."""
        told = self._newer()
        if told is not None:
            self._present = told
        return told

    def payment(self, lanes: int) -> RewardFunction:
        """Pays so many lanes in this process. Where a model pays, it is the one that does now, until asked again."""
        if self.model is None or self._present is None:
            return ProgressReward() if self._run.config.reinforce.reward == "scripted" else EnvironmentReward()
        weights, version = self._present
        if self._service is None:
            agent, _ = build_agent(self.model.description)
            self._service = RewardService(agent.to(find_device(self._run.config.reinforce.learner.device)))
        if self._serves != version:
            self._service.load_weights(weights)
            self._serves = version
        return LearnedReward(self._service, lanes, version)


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
