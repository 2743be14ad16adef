"""Setter-replay actors in the line world, and what the tests of them share."""

from __future__ import annotations

import dataclasses
import io
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import torch
from fake_world import LineWorld, make_runner, tiny_agent

from interplay.actors.episode_sampler import EpisodeSampler
from interplay.actors.setter_replay_actor import SetterReplayActor, SetterReplayConfig
from interplay.agent.network import Agent
from interplay.agent.unroll import Unroll
from interplay.episodes.snapshot import Snapshot

CONFIG = SetterReplayConfig(lanes=3, steps=5, episode_steps=7, progress=True)
EPISODES = 4


def actor_of(
    snapshot: Snapshot,
    config: SetterReplayConfig = CONFIG,
    agent: Agent | None = None,
    first_steps: Sequence[int] | None = None,
    on_step: Callable[[str], None] | None = None,
    **world: Any,
) -> SetterReplayActor:
    worlds = [LineWorld(**world) for _ in range(config.lanes)]
    return SetterReplayActor(
        runner=make_runner(agent or tiny_agent(worlds[0]), config.lanes),
        worlds=worlds,
        episodes=EpisodeSampler(snapshot, snapshot.ids, seed=5),
        config=config,
        first_steps=first_steps,
        on_step=on_step,
    )


def copied(unroll: Unroll) -> Unroll:
    return dataclasses.replace(unroll, arrays={key: array.copy() for key, array in unroll.arrays.items()})


def stream(actor: SetterReplayActor, unrolls: int) -> Mapping[str, np.ndarray]:
    """All rows of consecutive unrolls, the shared ones once: [unrolls * T, b, ...]."""
    made = [copied(actor.unroll()).arrays for _ in range(unrolls)]
    return {key: np.concatenate([arrays[key][:-1] for arrays in made]) for key in made[0]}


def through_a_file(state: Any) -> Any:
    """Saves and restores the state as a checkpoint does."""
    file = io.BytesIO()
    torch.save(state, file)
    file.seek(0)
    return torch.load(file, weights_only=True)
