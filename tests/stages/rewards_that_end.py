"""Rewards of reinforcement that fail in the process of the actor; imported there by name."""

from __future__ import annotations

import os
import signal
import threading

import numpy as np

from interplay.agent.observation import Arrays
from interplay.reward.reward_functions import LaneState, RewardFunction, ScoredUnroll


class _Failing(RewardFunction):
    """Pays nothing, and fails at one unroll."""

    fails_at = 4

    def __init__(self) -> None:
        self._scored = 0

    def score(self, arrays: Arrays, lane_state: LaneState) -> ScoredUnroll:
        self._scored += 1
        if self._scored == self.fails_at:
            self.fail()
        return ScoredUnroll(np.zeros_like(arrays["env_reward"][1:]), lane_state)

    def fail(self) -> None:
        raise NotImplementedError


class Killed(_Failing):
    """Kills its process, as a machine without memory does."""

    def fail(self) -> None:
        os.kill(os.getpid(), signal.SIGKILL)


class Broken(_Failing):
    """Raises an error."""

    def fail(self) -> None:
        raise ArithmeticError("the reward is broken")


class Frozen(_Failing):
    """Does not return before `thawed` is set, in this process."""

    fails_at = 5
    thawed = threading.Event()

    def fail(self) -> None:
        assert self.thawed.wait(600.0)
