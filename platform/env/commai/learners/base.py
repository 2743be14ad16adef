"""Base class of learners."""

from __future__ import annotations

from typing import Any

from interplay.env.commai.learners.remote import RemoteLearner

__all__ = ["BaseLearner", "RemoteLearner"]


class BaseLearner:
    """A learner: `next` answers each token of the teacher, `reward` is called with each reward."""

    test_mode = False  # whether the session draws tasks as in a test

    def next(self, token: Any) -> Any:
        """The learner's token."""
        raise NotImplementedError(f"{type(self).__name__} has to define next(token)")

    def try_reward(self, reward: float | None) -> None:
        """Passes a reward on, if there is one."""
        if reward is not None:
            self.reward(reward)

    def reward(self, reward: float) -> None:
        """Receives a reward."""
        return
