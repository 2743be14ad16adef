"""The reward of the reinforce stage: the truth about tasks, the world's own, or a reward model shared by its users."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from interplay.agent.inference_device import InferenceDevice
from interplay.agent.weights import Weights, as_arrays, load_weights
from interplay.core.named_class import create
from interplay.episodes.token_translation import TokenTranslation
from interplay.learner import checkpoint
from interplay.learner.agents import build_agent, check_same_agent, read_description
from interplay.learner.checkpoint import Checkpoint, CheckpointError
from interplay.learner.device import find_device
from interplay.reward.learned_reward import learned_reward
from interplay.reward.reward_functions import (
    EnvironmentReward,
    ProgressReward,
    RewardFunction,
    SuccessReward,
    TranslatedReward,
)
from interplay.stages.run import Run
from interplay.stages.shared_parts import checkpoint_of
from interplay.stages.stage_config import LEARNED_REWARDS

logger = logging.getLogger(__name__)

FOLLOW_INTERVAL_S = 2.0

# The reward functions without a model, by `reinforce.reward`.
WITHOUT_MODEL: Mapping[str, Callable[[], RewardFunction]] = {
    "scripted": ProgressReward,
    "success": SuccessReward,
    "world": EnvironmentReward,
}

PollNewer = Callable[[], tuple[Weights, int] | None]


@dataclass(frozen=True)
class RewardModel:
    """The reward model at the start of the stage.

    Restarted replicas are built from it, not from the newest checkpoint on disk, which may be of another network.
    """

    description: Mapping[str, Any]
    weights: Weights
    version: int
    fingerprint: str = ""  # of its checkpoint
    translation: TokenTranslation | None = None  # of the acting agent's tokens; None if both have the same vocabulary


def scoring_device(run: Run, name: str | None = None) -> InferenceDevice:
    """Where a trained reward model and the reference policy compute, in `reinforce.scoring_precision`.

    Args:
        name: of a device; None for `reinforce.learner.device`.

    Raises:
        ValueError: there is no such device.
    """
    config = run.config.reinforce
    return InferenceDevice(
        find_device(name or config.learner.device, "reinforce.learner.device"), config.scoring_precision
    )


def build_reward_function(run: Run, model: RewardModel | None, on: InferenceDevice) -> RewardFunction:
    """The reward function of the run's reinforce stage; `model` is None unless the reward is learned."""
    if model is None:
        return reward_without_model(run.config.reinforce.reward)
    agent, _ = build_agent(model.description)
    load_weights(agent, model.weights)
    learned = learned_reward(agent, model.version, on)
    return learned if model.translation is None else TranslatedReward(learned, model.translation)


def reward_without_model(name: str) -> RewardFunction:
    """The reward function of `reinforce.reward` that needs no reward model: a built-in one, or MODULE:CLASS.

    Raises:
        ValueError: the module can't be imported, or has no such subclass of `RewardFunction`, or creating it fails.
    """
    if name in WITHOUT_MODEL:
        return WITHOUT_MODEL[name]()
    return create("reinforce.reward", name, RewardFunction, called="without arguments")  # type: ignore[type-abstract]  # an abstract base is meant


class RewardSource:
    """The reward of the reinforce stage, in the learner's process.

    The reward model is read once, so that rollouts and held-out episodes are scored with the same one even while the
    reward stage continues training. If newer models are followed, both use the newest one that was loaded.
    """

    def __init__(self, run: Run, model: RewardModel | None, poll_newer: PollNewer) -> None:
        self.model = model  # None without a reward model
        self._run = run
        self._poll_newer = poll_newer
        self._newest: tuple[Weights, int] | None = None  # since the start
        self._function: RewardFunction | None = None

    @cached_property
    def on(self) -> InferenceDevice:
        """Where `function` computes: on the learner's device."""
        return scoring_device(self._run)

    def model_in_use(self) -> dict[str, Any] | None:
        """The reward model that scores now, as `returns.jsonl` states it; None without one. One that was loaded while
        the reward stage trained is stated by its update alone."""
        if self.model is None:
            return None
        if self._newest is not None:
            return {"update": self._newest[1], "weights": ""}
        return {"update": self.model.version, "weights": self.model.fingerprint}

    def newer(self) -> tuple[Weights, int] | None:
        """A newer reward model to load, returned once; `function` then scores with it. Thread-safe."""
        newest = self._poll_newer()
        self._newest = newest or self._newest
        return newest

    def function(self) -> RewardFunction:
        """The reward function in this process, with the newest weights returned by `newer`."""
        if self._function is None:
            self._function = build_reward_function(self._run, self.model, self.on)
        if self._newest is not None and self._newest[1] != self._function.version:
            self._function.load_version(*self._newest)
        return self._function


def reward_source(run: Run) -> RewardSource:
    """The reward of the run's reinforce stage.

    Raises:
        CheckpointError: the reward is learned, and the run has no reward model, or one of another size of step.
        ValueError: the reward is a class of your own, which can't be created.
    """
    kind = run.config.reinforce.reward
    if kind not in LEARNED_REWARDS:
        reward_without_model(kind)  # refused here, before processes start
        return RewardSource(run, None, _no_newer_model)
    # The order matters: a model saved between the two reads is then reported as newer, rather than missed.
    newer = newer_reward_models(run) if run.config.runtime.reward.follow else _no_newer_model
    found = checkpoint_of(run, "reward")
    trained = "ar" if found.description.get("marks") else "ibt"
    if trained != kind:
        raise CheckpointError(
            f"the reward model of {found.path} is of reward.model={trained}, and reinforce.reward={kind} needs one of "
            f"{kind}: set reinforce.reward={trained}, or train the other one in a run of its own"
        )
    translation = _translation(checkpoint_of(run, run.config.reinforce.start), found)
    model = RewardModel(found.description, as_arrays(found.weights()), found.step, found.fingerprint, translation)
    return RewardSource(run, model, newer)


def _translation(acting: Checkpoint, scoring: Checkpoint) -> TokenTranslation | None:
    """The translation of the acting agent's tokens for the reward model; None if both encode utterances alike."""
    (_, unrolls, source), (_, reads, target) = map(read_description, (acting.description, scoring.description))
    if unrolls.actions_per_step != reads.actions_per_step:
        raise CheckpointError(
            f"the agent of {acting.path} takes {unrolls.actions_per_step} actions a step, and the reward model of "
            f"{scoring.path} reads {reads.actions_per_step}: train one anew with the same agent.actions_per_step"
        )
    if source == target and unrolls.utterance_length == reads.utterance_length:
        return None
    return TokenTranslation(source, target, reads.utterance_length)


def newer_reward_models(run: Run, every: float = FOLLOW_INTERVAL_S) -> PollNewer:
    """A function that returns each newer checkpoint of the reward stage once; looks at most every `every` seconds.

    It skips checkpoints of another network, vocabulary or world and unreadable ones, with a warning, because loading
    one would crash a replica.
    """
    first = checkpoint_of(run, "reward")
    in_use, polled, warned = first.step, -every, ""

    def newer() -> tuple[Weights, int] | None:
        nonlocal in_use, polled, warned
        if time.monotonic() - polled < every:
            return None
        polled = time.monotonic()
        try:
            found = checkpoint.latest(run.stage("reward").checkpoints)
            if found is None or found.step <= in_use:
                return None
            check_same_agent(found, first.description)
            weights = as_arrays(found.weights())
        except (CheckpointError, OSError) as error:
            if str(error) != warned:
                logger.warning("a newer reward model is not loaded, update %d stays in use: %s", in_use, error)
            warned = str(error)
            return None
        logger.info("the reward model of update %d replaces that of update %d", found.step, in_use)
        in_use = found.step
        return weights, in_use

    return newer


def _no_newer_model() -> None:
    return None
