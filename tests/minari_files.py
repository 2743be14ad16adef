"""Small Minari datasets, with the rows that Minari's DataCollector stores (which needs jax to append them)."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import gymnasium
import minari
import numpy as np
from gymnasium import spaces
from minari.data_collector import EpisodeBuffer
from minigrid.utils.baby_ai_bot import BabyAIBot

Policy = Callable[[gymnasium.Env[Any, Any]], Any]  # the next action


def random_policy(seed: int) -> Policy:
    """Random choices of a Discrete space."""
    rng = np.random.default_rng(seed)

    def act(env: gymnasium.Env[Any, Any]) -> int:
        assert isinstance(env.action_space, spaces.Discrete)
        return int(rng.integers(env.action_space.n))

    return act


def bot_policy() -> Policy:
    """BabyAI's bot, made again for each episode at its first action."""
    bots: dict[str, BabyAIBot] = {}

    def act(env: gymnasium.Env[Any, Any]) -> int:
        mission: Any = env.unwrapped
        if mission.step_count == 0:
            bots["bot"] = BabyAIBot(env)
        return int(bots["bot"].replan(None))

    return act


def played(
    env: gymnasium.Env[Any, Any], seed: int | None, policy: Policy, *, steps: int = 64, options: Any = None
) -> EpisodeBuffer:
    """An episode of at most so many steps."""
    observation, _ = env.reset(seed=seed, options=options)
    observations, actions, rewards, terminations, truncations = [observation], [], [], [], []
    while len(actions) < steps and not any([*terminations, *truncations]):
        actions.append(policy(env))
        observation, reward, terminated, truncated, _ = env.step(actions[-1])
        observations.append(observation)
        rewards.append(float(reward))
        terminations.append(terminated)
        truncations.append(truncated)
    truncations[-1] = truncations[-1] or not terminations[-1]
    return EpisodeBuffer(
        seed=seed,
        options=options,
        observations=_by_key(observations),
        actions=actions,
        rewards=rewards,
        terminations=terminations,
        truncations=truncations,
    )


def write(name: str, env: gymnasium.Env[Any, Any] | None, episodes: Sequence[EpisodeBuffer], **settings: Any) -> None:
    """Writes a dataset into the folder MINARI_DATASETS_PATH."""
    if env is not None:
        settings = {"observation_space": storable(env.observation_space), **settings}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of authors and links that it lacks
        minari.create_dataset_from_buffers(name, list(episodes), env=env, **settings)


def _by_key(observations: Sequence[Any]) -> Any:
    if not isinstance(observations[0], dict):
        return list(observations)
    return {key: [each[key] for each in observations] for key in observations[0]}


def storable(space: spaces.Space[Any]) -> spaces.Space[Any]:
    """A space with the missions of MiniGrid as texts, which Minari can store."""
    if not isinstance(space, spaces.Dict):
        return space
    text = spaces.Text(200, charset="abcdefghijklmnopqrstuvwxyz ,")
    return spaces.Dict({key: text if key == "mission" else part for key, part in space.items()})
