"""A session: an environment and a learner that exchange tokens until `stop` is called."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping
from typing import Any

from interplay.env.commai.learners.base import BaseLearner
from interplay.env.commai.observer import Observable
from interplay.env.commai.serializer import LearnerError


class Session:
    """Loop of a session. Exceptions of a task or of the learner propagate from `run`; the counters stay readable.

    Args:
        environment: has `next(token)`, `get_reward_per_task()` and the observable `task_updated`.
        learner: has `next(token)`, and `try_reward(reward)` or `reward(reward)`.
        default_sleep: seconds between two tokens, until `set_sleep` or `add_sleep` change them.
    """

    def __init__(self, environment: Any, learner: Any, default_sleep: float = 0.01) -> None:
        self._env = environment
        self._learner = learner
        self._default_sleep = default_sleep
        self._sleep = default_sleep
        self._stopped = False
        self._learner_token: Any = None
        self._total_time = 0
        self._total_reward = 0.0
        self._task_count: Counter[str] = Counter()
        self._task_time: Counter[str] = Counter()  # of the tasks before the current one
        self._task_start = 0
        self._task: Any = None
        # Custom learners may rely on `try_reward(None)`; the base class ignores it.
        self._rewards_always = getattr(type(learner), "try_reward", None) not in (None, BaseLearner.try_reward)
        self.env_token_updated = Observable()
        self.learner_token_updated = Observable()
        self.total_reward_updated = Observable()
        self.total_time_updated = Observable()
        environment.task_updated.register(self._on_task)

    def run(self) -> None:
        """Exchanges tokens until `stop`."""
        self._stopped = False
        while not self._stopped:
            self.step()

    def step(self) -> None:
        """Exchanges one token of the teacher and one of the learner.

        Raises:
            LearnerError: the learner answers None.
        """
        learner = self._learner
        if getattr(learner, "test_mode", False):
            token, reward = self._env.next(self._learner_token, test_mode=True)
        else:
            token, reward = self._env.next(self._learner_token)
        if self.env_token_updated.observers:
            self.env_token_updated(token)
        if reward is not None or self._rewards_always:
            self._give(reward)
        self._learner_token = answer = learner.next(token)
        if answer is None:
            name = type(learner).__name__
            raise LearnerError(f"{name}.next returned None: a learner answers each token with a token")
        if self.learner_token_updated.observers:
            self.learner_token_updated(answer)
        self._total_time += 1
        if self.total_time_updated.observers:
            self.total_time_updated(self._total_time)
        if self._sleep > 0:
            time.sleep(self._sleep)

    def stop(self) -> None:
        """Ends `run` after the current token."""
        self._stopped = True

    def get_total_time(self) -> int:
        """Tokens exchanged."""
        return self._total_time

    def get_total_reward(self) -> float:
        """The sum of all rewards."""
        return self._total_reward

    def get_reward_per_task(self) -> dict[str, float]:
        """The sum of the rewards of each class of task."""
        rewards: Mapping[str, float] = self._env.get_reward_per_task()
        return dict(rewards)

    def get_task_count(self) -> dict[str, int]:
        """How many times each class of task has begun."""
        return dict(self._task_count)

    def get_task_time(self) -> dict[str, int]:
        """Tokens exchanged in each class of task."""
        now = Counter({self._task.get_name(): self._total_time - self._task_start} if self._task else {})
        return dict(self._task_time + now)

    def set_sleep(self, sleep: float) -> None:
        """Sets the seconds between two tokens."""
        self._sleep = max(0.0, sleep)

    def get_sleep(self) -> float:
        """Seconds between two tokens."""
        return self._sleep

    def add_sleep(self, more: float) -> None:
        """Adds to the seconds between two tokens, which stay at least 0."""
        self.set_sleep(self._sleep + more)

    def reset_sleep(self) -> None:
        """Sets the seconds between two tokens back to the default."""
        self._sleep = self._default_sleep

    def _give(self, reward: float | None) -> None:
        if hasattr(self._learner, "try_reward"):
            self._learner.try_reward(reward)
        elif reward is not None:
            self._learner.reward(reward)
        if reward is not None:
            self._total_reward += reward
            self.total_reward_updated(self._total_reward)

    def _on_task(self, task: Any) -> None:
        if self._task is not None:
            self._task_time[self._task.get_name()] += self._total_time - self._task_start
        self._task = task
        self._task_count[task.get_name()] += 1
        self._task_start = self._total_time
