"""Returns of the agent on held-out episodes during training: the same episodes, random numbers and reward each time."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import replace
from itertools import count, islice

import numpy as np

from interplay.actors.setter_replay_actor import SetterReplayActor
from interplay.agent.inference_device import InferenceDevice
from interplay.agent.weights import Weights
from interplay.episodes.encoding import iter_readable
from interplay.episodes.snapshot import Snapshot
from interplay.learner.agents import build_agent
from interplay.learner.device import find_device
from interplay.reward.reward_functions import LaneState, RewardFunction, checked_score
from interplay.stages.returns_ledger import HeldoutReturns
from interplay.stages.reward_source import RewardSource
from interplay.stages.rollout_parts import local_policy, replay_actor, replayed_episodes
from interplay.stages.run import ReportActivity, Run
from interplay.stages.shared_parts import checkpoint_of

logger = logging.getLogger(__name__)

MEASURES = "measures"

MeasureReturns = Callable[[Weights, int], HeldoutReturns]


def heldout_returns(run: Run, snapshot: Snapshot, rewards: RewardSource) -> MeasureReturns | None:
    """A function that measures the returns and true success of given weights and version on the learner's device;
    None without held-out episodes, or with `reinforce.heldout_episodes=0`, which is logged.

    Rollouts are scored in unrolls of `reinforce.actor.steps`, so that memory does not grow with the episode length.
    """
    config = run.config.reinforce
    if config.heldout_episodes == 0:
        logger.info("held-out returns are not measured: reinforce.heldout_episodes=0")
        return None
    ids = replayed_episodes(snapshot, config.actor, "heldout")
    # With more lanes than readable episodes, one would be replayed, and counted, twice.
    lanes = sum(1 for _ in islice(iter_readable(snapshot, ids), config.heldout_episodes))
    if not lanes:
        logger.info("held-out returns are not measured: no held-out episode can be replayed")
        return None
    once = replace(config.actor, lanes=lanes, blocks=1, learned_setters=0.0, stagger=False)
    description = checkpoint_of(run, config.start).description
    worlds = [run.make_world() for _ in range(lanes)]
    on = InferenceDevice(find_device(config.learner.device), run.config.actors.precision)

    def measure(weights: Weights, version: int) -> HeldoutReturns:
        with run.busy(MEASURES) as beat:
            agent, vocabulary = build_agent(description)
            policy = local_policy(run, agent, "heldout", on=on)
            actor = replay_actor(run, snapshot, policy, vocabulary, once, "heldout", worlds)
            actor.load_weights(weights, version)
            # An episode of E steps fills E + 1 rows, so E + 1 steps complete the first episode of every lane.
            return first_episode_returns(actor, rewards.function(), config.actor.episode_steps + 1, beat)

    return measure


def first_episode_returns(
    actor: SetterReplayActor, function: RewardFunction, steps: int, beat: ReportActivity
) -> HeldoutReturns:
    """The return and the true success of each lane's first episode, which must end within `steps`.

    Plays and scores unroll by unroll, and calls `beat` at every step. A lane whose episode ends early starts others,
    which are ignored: they would weight short episodes more than long ones.
    """
    sums, over = np.zeros(actor.lanes, np.float32), np.zeros(actor.lanes, np.bool_)
    success = np.full(actor.lanes, np.nan, np.float32)
    played, numbers, lane_state = 0, count(1), LaneState()
    while played < steps:
        unroll = actor.unroll(steps - played, lambda: beat(f"{MEASURES}: plays step {next(numbers)} of {steps}"))
        played += unroll.steps
        beat(f"{MEASURES}: scores the steps up to {played} of {steps}")
        scored = checked_score(function, unroll.arrays, lane_state)
        lane_state = scored.lane_state
        ends, truth = unroll.arrays["last"][:-1], unroll.arrays["success"][:-1]
        for last, done, reward in zip(ends, truth, scored.reward, strict=True):
            success = np.where(last & ~over, done, success)
            over |= last
            sums += np.where(over, 0, reward)
    assert over.all(), "an episode has more steps than its limit"
    return HeldoutReturns(
        [float(value) for value in sums], [None if np.isnan(done) else float(done) for done in success]
    )
