"""How much policy lag costs V-trace with long action chunks, by the ratios of its policy gradients.

    python benchmarks/policy_lag.py                           # 4 ratios x lags 0, 1, 4 x 3 seeds
    python benchmarks/policy_lag.py --actions 1               # one action a step, held for 8 frames
    python benchmarks/policy_lag.py --seeds 5 --json lag.json # also write the numbers as JSON (- for stdout)

A network steers a point in the plane to a target with the Playhouse's action space: 8 actions a step of 8 components
each, so 64 factors in a ratio; `--actions 1` holds one action for the 8 frames. Forward and strafe move the point, the
other six components do nothing. The reward is the decrease of the distance; an episode has 10 steps. The weights that
act are `lag` updates old. The score is the return per episode, over all updates and over the last tenth; at best it is
the mean initial distance, 1. For every ratio and lag the best of the learning rates is shown, so that no setting is
favored by its rate.
"""

from __future__ import annotations

import argparse
import os
from collections import deque
from dataclasses import replace
from typing import Any, get_args

from reporting.json_numbers import add_json_option, write_json

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
import torch

from interplay.agent.inference_device import as_tensors
from interplay.agent.network import Agent
from interplay.agent.noise import Noise
from interplay.agent.observation import Layout
from interplay.agent.policy import act
from interplay.agent.sizes import SIZES
from interplay.agent.unroll import Unroll, allocate_rollout
from interplay.agent.weights import load_weights
from interplay.env.playhouse.house.action_codec import COMPONENTS
from interplay.env.world import WorldSpec
from interplay.learner.config import LearnerConfig
from interplay.learner.learner import Learner
from interplay.learner.objective import LossWeights, ObjectiveConfig, Ratio

FRAMES, EPISODE_STEPS, SPEED = 8, 10, 0.04
SPEC = WorldSpec(
    name="plane",
    version=1,
    roles=("solver",),
    frames_per_step=FRAMES,
    frames_per_second=30.0,
    image=None,
    vector=4,
    movement=COMPONENTS,
    utterances=False,
    poses=0,
)
SIZE = replace(SIZES["nano"], width=32, lstm=64, policy_hidden=64, value_hidden=64, attention="none")
METRICS = ("rho", "effective_share", "ratio", "log_ratio")


class Plane:
    """Many points on their way to their targets; all start and end their episodes at different steps."""

    def __init__(self, lanes: int, rng: np.random.Generator) -> None:
        self._rng = rng
        self.row = np.arange(lanes) % (EPISODE_STEPS + 1)
        self.at, self.target = self._drawn(lanes), self._drawn(lanes)

    def observe(self) -> np.ndarray:
        return np.concatenate([self.at, self.target - self.at], axis=1).astype(np.float32)

    def step(self, movement: np.ndarray) -> np.ndarray:
        """Moves by int8 [B, A, K]; returns the rewards [B]. Lanes at the end of an episode begin the next."""
        ended = self.row == EPISODE_STEPS
        before = np.linalg.norm(self.target - self.at, axis=1)
        held = FRAMES // movement.shape[1]
        self.at = self.at + SPEED * held * (movement[:, :, :2].astype(float) - 1.0).sum(1)
        reward = before - np.linalg.norm(self.target - self.at, axis=1)
        count = int(ended.sum())
        self.at[ended], self.target[ended] = self._drawn(count), self._drawn(count)
        self.row = np.where(ended, 0, self.row + 1)
        return np.where(ended, 0.0, reward)

    def _drawn(self, count: int) -> np.ndarray:
        return self._rng.uniform(-0.96, 0.96, size=(count, 2))  # a mean distance of 1 between two points


def main() -> None:
    """Run every cell and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ratios", nargs="+", choices=get_args(Ratio), default=list(get_args(Ratio)))
    parser.add_argument("--lags", nargs="+", type=int, default=[0, 1, 4])
    parser.add_argument("--rates", nargs="+", type=float, default=[3e-4, 1e-3, 3e-3], help="learning rates")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--updates", type=int, default=300)
    parser.add_argument("--actions", type=int, choices=(1, 2, 4, 8), default=8, help="of a step, each held alike")
    parser.add_argument("--lanes", type=int, default=32)
    parser.add_argument("--steps", type=int, default=10, help="T of an unroll")
    add_json_option(parser)
    options = parser.parse_args()
    cells = []
    for lag in options.lags:
        for ratio in options.ratios:
            cells += [cell(ratio, lag, rate, options) for rate in options.rates]
            best = max(cells[-len(options.rates) :], key=lambda found: found["return_mean"])
            print(row(best), flush=True)
    write_json(options.json, {"settings": vars(options), "cells": cells})


def cell(ratio: Ratio, lag: int, rate: float, options: argparse.Namespace) -> dict[str, Any]:
    """The scores of all seeds of one setting."""
    runs = [train(ratio, lag, rate, seed, options) for seed in range(options.seeds)]
    found: dict[str, Any] = {"ratio": ratio, "lag": lag, "learning_rate": rate}
    for name in ("return", "final", *METRICS):
        values = np.array([run[name] for run in runs])
        found |= {f"{name}_mean": float(values.mean()), f"{name}_sd": float(values.std(ddof=1)) if len(runs) > 1 else 0}
    return found


def row(best: dict[str, Any]) -> str:
    """One line of the table."""
    scores = " ".join(f"{name} {best[f'{name}_mean']:.3f} +- {best[f'{name}_sd']:.3f}" for name in ("return", "final"))
    told = " ".join(f"{name} {best[f'{name}_mean']:.3f}" for name in METRICS)
    return f"lag {best['lag']}  {best['ratio']:6s}  lr {best['learning_rate']:.0e}  {scores}  {told}"


def train(ratio: Ratio, lag: int, rate: float, seed: int, options: argparse.Namespace) -> dict[str, float]:
    """One run; returns the return per episode, over all updates and over the last tenth, and the metrics' means."""
    size = replace(SIZE, actions_per_step=options.actions)
    layout = Layout(SPEC, size.utterance_length, size.actions_per_step)
    torch.manual_seed(seed)
    agent, acting = (Agent(size, layout, vocabulary_size=8) for _ in range(2))
    weights = LossWeights(**{**dict.fromkeys(vars(LossWeights()), 0.0), "movement_policy": 1.0, "value": 0.5})
    config = LearnerConfig(
        objective=ObjectiveConfig(weights=weights, discount=0.9, ratio=ratio),
        learning_rate=rate,
        adam_betas=(0.9, 0.999),
        gradient_clip=10.0,
    )
    generator = torch.Generator().manual_seed(seed)
    learner = Learner(agent, config, dataset_lanes=2, generator=generator)
    versions = deque([learner.weights()] * (lag + 1), maxlen=lag + 1)
    plane, state = Plane(options.lanes, np.random.default_rng(seed)), acting.initial_state(options.lanes)
    noise = Noise.of(torch.Generator().manual_seed(seed + 1), options.lanes)
    returns, metrics = [], []
    for _ in range(options.updates):
        load_weights(acting, versions[0])
        unroll, state = play(acting, plane, state, noise, options.steps)
        valid = ~unroll.arrays["last"][:-1]
        returns.append(float(unroll.arrays["reward"][valid].mean()) * EPISODE_STEPS)
        metrics.append(learner.update(demonstrated=None, rollout=unroll))
        versions.append(learner.weights())
    tail = max(1, options.updates // 10)
    means = {name: float(np.mean([each[name] for each in metrics])) for name in METRICS}
    return {"return": float(np.mean(returns)), "final": float(np.mean(returns[-tail:])), **means}


def play(agent: Agent, plane: Plane, state: Any, noise: Noise, steps: int) -> tuple[Unroll, Any]:
    """The next unroll, and the recurrent state after it."""
    lanes = len(plane.row)
    arrays = allocate_rollout(agent.layout, steps, lanes)
    arrays["reward"] = np.zeros((steps, lanes), np.float32)
    before = state
    for t in range(steps + 1):
        arrays["vector"][t] = plane.observe()
        arrays["first"][t], arrays["last"][t] = plane.row == 0, plane.row == EPISODE_STEPS
        if t == steps:
            break
        observed = {key: arrays[key][t : t + 1] for key in agent.layout.observations(0, 0)}
        decision = act(agent, as_tensors(observed), state, noise)
        state = decision.state
        arrays["movement"][t], arrays["movement_log_prob"][t] = decision.movement, decision.movement_log_prob
        arrays["reward"][t] = plane.step(decision.movement)
    return Unroll(arrays, before.to_arrays()), state


if __name__ == "__main__":
    main()
