"""Does the learner reach known returns outside its own world? V-trace alone against PPO, with equal numbers of steps.

    python benchmarks/known_returns.py                              # CartPole and an empty MiniGrid room, 3 seeds
    python benchmarks/known_returns.py --envs CartPole-v1 --steps 150000 --json known.json    # - for stdout
    python benchmarks/known_returns.py --learners vtrace --settings agent.attention=none      # with other settings

Ours: `experiment=gymnasium`; `SETTINGS` has what differs by environment. Theirs: PPO with the settings of CleanRL's
ppo.py (4 worlds, 128 steps, 4 epochs, 4 minibatches, annealed learning rate, no memory), written out here. Both see the
same observations. The scores: the mean return of the last 100 training episodes, which began long before the end, and
that of 64 new episodes of the final policy, sampled as in training. MiniGrid needs the extra `gymnasium`.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from reporting.json_numbers import add_json_option, write_json

os.environ.setdefault("OMP_NUM_THREADS", "1")

import gymnasium
import numpy as np
import torch
from torch import Tensor, nn

from interplay.evaluation.probes import mean_measures
from interplay.launch.cli import main as interplay
from interplay.launch.compose import compose
from interplay.stages.probe_files import read_results
from interplay.stages.returns_ledger import reward_points
from interplay.stages.stage_folder import StageFolder

PICTURE = (14, 14)  # of MiniGrid's 7 x 7 cells
# Where an environment needs other settings than CartPole: its pictures, its time limit, and the scale of its returns.
SETTINGS = {
    "CartPole-v1": (),
    "MiniGrid-Empty-5x5-v0": (
        f"env.image=[{PICTURE[0]},{PICTURE[1]}]",
        "reinforce.actor.episode_steps=100",
        "reinforce.learner.objective.reward_scale=1",
        "evaluate.steps=100",
    ),
}
EPISODES = 100  # the last ones of training
FINAL_EPISODES = 64  # of the final policy


class Returns(NamedTuple):
    """The mean returns of one run."""

    training: float  # of its last episodes in training
    final: float  # of the final policy


def main() -> None:
    """Run every cell and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--envs", nargs="+", choices=SETTINGS, default=list(SETTINGS))
    parser.add_argument("--learners", nargs="+", choices=LEARNERS, default=list(LEARNERS))
    parser.add_argument("--steps", type=int, default=150_000)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--settings", nargs="+", default=[], metavar="NAME=VALUE", help="of V-trace, as of interplay")
    add_json_option(parser)
    options = parser.parse_args()
    cells = []
    for env in options.envs:
        for name in options.learners:
            started = time.process_time()
            returns = [
                LEARNERS[name](env, seed, options)
                for seed in range(options.first_seed, options.first_seed + options.seeds)
            ]
            seconds = (time.process_time() - started) / options.seeds
            cells.append(
                {"env": env, "learner": name, "cpu_seconds": seconds, "returns": [r._asdict() for r in returns]}
            )
            for what, values in zip(Returns._fields, zip(*returns, strict=True), strict=True):
                each = ", ".join(f"{value:.2f}" for value in values)
                print(
                    f"{env:22s} {name:7s} {what:9s} {np.mean(values):7.2f}  seeds {each}  {seconds:.0f} CPU s",
                    flush=True,
                )
    write_json(options.json, {"settings": vars(options), "cells": cells})


def vtrace(env: str, seed: int, options: argparse.Namespace) -> Returns:
    """`experiment=gymnasium`, up to the evaluation.

    Raises:
        RuntimeError: a stage failed; it has said why.
    """
    with tempfile.TemporaryDirectory() as folder:
        settings = ["experiment=gymnasium", f"env.id={env}", *SETTINGS[env], f"run.dir={folder}", f"run.seed={seed}"]
        settings += ["tracking.wandb=disabled", "evaluate.chance=false", *options.settings]
        actor = compose(settings).reinforce.actor
        batches = options.steps // (actor.lanes * actor.steps)
        # The returns of training are written when held-out ones are measured: all of them at the end.
        settings += [f"reinforce.{name}={batches}" for name in ("training.updates", "measure_every")]
        for verb in ("collect", "clone", "reinforce", "evaluate"):
            if interplay([verb, *settings]):
                raise RuntimeError(f"interplay {verb} failed")
        run = Path(folder) / compose(settings).run.name
        ended = reward_points(run / "reinforce" / "returns.jsonl")[-1].training
        final = mean_measures(read_results(StageFolder(run / "evaluate"), "bc_rl"))["mission"]["return"]
    return Returns(float(np.mean(ended[-EPISODES:])), final["end"])


class ActorCritic(nn.Module):
    """CleanRL's two networks of 64-64 tanh units, on flat observations."""

    def __init__(self, inputs: int, actions: int) -> None:
        super().__init__()
        self.policy, self.critic = (
            nn.Sequential(
                orthogonal(inputs, 64, 2**0.5),
                nn.Tanh(),
                orthogonal(64, 64, 2**0.5),
                nn.Tanh(),
                orthogonal(64, n, gain),
            )
            for n, gain in ((actions, 0.01), (1, 1.0))
        )

    def forward(self, observed: Tensor) -> tuple[torch.distributions.Categorical, Tensor]:
        """[..., inputs] -> the policy and the value [...]."""
        return torch.distributions.Categorical(logits=self.policy(observed)), self.critic(observed)[..., 0]


def orthogonal(inputs: int, outputs: int, gain: float) -> nn.Linear:
    """A linear layer with CleanRL's initialization."""
    layer = nn.Linear(inputs, outputs)
    nn.init.orthogonal_(layer.weight, gain)
    nn.init.zeros_(layer.bias)
    return layer


def flat(env: str) -> gymnasium.Env[Any, Any]:
    """The environment with flat float observations, pictures in [0, 1]."""
    made = gymnasium.make(env, render_mode="rgb_array" if env.startswith("MiniGrid") else None)
    if not env.startswith("MiniGrid"):
        return made
    from interplay.env.babyai import with_picture

    drawn = with_picture(made, PICTURE)
    space = gymnasium.spaces.Box(0.0, 1.0, (3 * PICTURE[0] * PICTURE[1],), np.float32)
    return gymnasium.wrappers.TransformObservation(
        drawn, lambda seen: np.asarray(seen["image"], np.float32).reshape(-1) / 255.0, space
    )


def ppo(env: str, seed: int, options: argparse.Namespace) -> Returns:
    """PPO as CleanRL's ppo.py does it."""
    torch.manual_seed(seed)
    rng, lanes, steps, gamma = np.random.default_rng(seed), 4, 128, 0.99
    worlds = [flat(env) for _ in range(lanes)]
    space = worlds[0].action_space
    assert isinstance(space, gymnasium.spaces.Discrete)
    seen = np.stack([world.reset(seed=1000 * seed + lane)[0] for lane, world in enumerate(worlds)]).astype(np.float32)
    net = ActorCritic(seen.shape[1], int(space.n))
    optimizer = torch.optim.Adam(net.parameters(), lr=2.5e-4, eps=1e-5)
    observed = torch.zeros(steps, lanes, seen.shape[1])
    actions = torch.zeros(steps, lanes, dtype=torch.int64)
    acted, rewards, values, done = (torch.zeros(steps, lanes) for _ in range(4))
    over, sums = torch.zeros(lanes), np.zeros(lanes)
    ended: deque[float] = deque(maxlen=EPISODES)
    updates = options.steps // (lanes * steps)
    for update in range(updates):
        optimizer.param_groups[0]["lr"] = 2.5e-4 * (1 - update / updates)
        for t in range(steps):
            observed[t], done[t] = torch.from_numpy(seen), over
            with torch.no_grad():
                policy, values[t] = net(observed[t])
                actions[t] = policy.sample()
                acted[t] = policy.log_prob(actions[t])
            over = torch.zeros(lanes)
            for lane, world in enumerate(worlds):
                seen[lane], reward, terminated, truncated, _ = world.step(int(actions[t, lane]))
                rewards[t, lane] = float(reward)
                sums[lane] += float(reward)
                if terminated or truncated:
                    ended.append(sums[lane])
                    over[lane], sums[lane], seen[lane] = 1.0, 0.0, world.reset()[0]
        with torch.no_grad():
            following = torch.cat([values[1:], net(torch.from_numpy(seen))[1][None]])
        going = 1 - torch.cat([done[1:], over[None]])
        advantage, carried = torch.zeros(steps, lanes), torch.zeros(lanes)
        for t in reversed(range(steps)):
            surprise = rewards[t] + gamma * following[t] * going[t] - values[t]
            advantage[t] = carried = surprise + gamma * 0.95 * going[t] * carried
        batch = [part.flatten(0, 1) for part in (observed, actions, acted, advantage, advantage + values, values)]
        for _ in range(4):
            for indices in np.split(rng.permutation(lanes * steps), 4):
                ppo_step(net, optimizer, [part[torch.from_numpy(indices)] for part in batch])
    final = [played(net, world) for world in worlds for _ in range(FINAL_EPISODES // lanes)]
    return Returns(float(np.mean(ended)), float(np.mean(final)))


def played(net: ActorCritic, world: gymnasium.Env[Any, Any]) -> float:
    """The return of one episode."""
    seen, total, over = world.reset()[0], 0.0, False
    while not over:
        with torch.no_grad():
            policy, _ = net(torch.from_numpy(np.asarray(seen, np.float32)))
        seen, reward, terminated, truncated, _ = world.step(int(policy.sample()))
        total, over = total + float(reward), terminated or truncated
    return total


def ppo_step(net: ActorCritic, optimizer: torch.optim.Adam, batch: list[Tensor]) -> None:
    """One minibatch: the clipped surrogate, the clipped value loss, and an entropy bonus."""
    observed, actions, acted, advantage, targets, before = batch
    policy, value = net(observed)
    ratio = (policy.log_prob(actions) - acted).exp()
    wanted = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
    gain = torch.min(wanted * ratio, wanted * ratio.clamp(0.8, 1.2)).mean()
    clipped = before + (value - before).clamp(-0.2, 0.2)
    error = 0.5 * torch.max((value - targets).square(), (clipped - targets).square()).mean()
    loss = -gain + 0.5 * error - 0.01 * policy.entropy().mean()
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(net.parameters(), 0.5)
    optimizer.step()


LEARNERS: dict[str, Callable[[str, int, argparse.Namespace], Returns]] = {"vtrace": vtrace, "ppo": ppo}

if __name__ == "__main__":
    main()
