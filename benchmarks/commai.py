"""Speed of CommAI's engine: tokens per second of one core, and whether a long task gets slower.

.venv/bin/python benchmarks/commai.py --tokens 400000
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import numpy as np

from interplay.env import registry
from interplay.env.commai.environment import Environment
from interplay.env.commai.scheduler import RandomTaskScheduler
from interplay.env.commai.serializer import IdentitySerializer, StandardSerializer
from interplay.env.commai.session import Session
from interplay.env.commai.task import Task, on_message, on_start
from interplay.env.commai.tasks import task_sets
from interplay.env.world import Action, Start


class Talker:
    """A learner that repeats one text."""

    def __init__(self, serializer: Any, text: str = "hello there. I am A. ") -> None:
        self._tokens = list(serializer.to_binary(text))
        self._at = -1

    def next(self, token: Any) -> Any:
        self._at = (self._at + 1) % len(self._tokens)
        return self._tokens[self._at]

    def try_reward(self, reward: float | None) -> None:
        return


class Endless(Task):
    """A task that does not end, with patterns as tasks have them."""

    def __init__(self) -> None:
        super().__init__(max_time=10**9)

    @on_start()
    def begin(self, event: Any) -> None:
        self.set_message("talk.")

    @on_message(r"stop\.$")
    def stop(self, event: Any) -> None:
        self.set_reward(1)

    @on_message(r"I want (\w+)\.$")
    def want(self, event: Any) -> None:
        self.set_message("no.")


def session_of(tasks: list[Any], serializer: Any) -> Session:
    environment = Environment(serializer, RandomTaskScheduler(tasks), max_reward_per_task=None, seed=1)
    return Session(environment, Talker(serializer), default_sleep=0)


def rate(session: Session, tokens: int) -> float:
    """Tokens per second of processor time."""
    start = time.process_time()
    for _ in range(tokens):
        session.step()
    return tokens / (time.process_time() - start)


def world_rate(steps: int) -> float:
    """Steps per second of the world in characters, random symbols, one instance after another."""
    world = registry.make("commai", instances=10**6)
    rng = np.random.default_rng(0)
    chosen = rng.integers(0, world.spec.movement[0].bins, (steps, 1, 1)).astype(np.int8)
    world.reset(Start(seed=1))
    start = time.process_time()
    for movement in chosen:
        world.step({"solver": Action(movement)}, observers=())
    return steps / (time.process_time() - start)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tokens", type=int, default=400_000)
    tokens = parser.parse_args().tokens
    for name in ("micro", "repetition", "navigation"):
        tasks = [made() for made in task_sets.task_classes([name])]
        bits = rate(session_of(tasks, StandardSerializer()), tokens)
        characters = rate(session_of(tasks, IdentitySerializer()), tokens // 8)
        print(f"{name}: {bits / 1e6:.2f} M bits/s; in characters {8 * characters / 1e6:.2f} M bits/s")
    endless = session_of([Endless()], StandardSerializer())
    early = rate(endless, 8 * 2_000)
    rate(endless, 8 * 8_000)
    late = rate(endless, 8 * 2_000)
    print(f"one task: {early / 1e6:.2f} M bits/s up to character 2,000, {late / 1e6:.2f} after 10,000")
    print(f"world, characters: {world_rate(tokens // 40):,.0f} steps/s")


if __name__ == "__main__":
    main()
