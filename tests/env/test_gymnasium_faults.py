"""Environments that do not keep to Gymnasium's interface: errors name them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces

from interplay.env import registry
from interplay.env.gymnasium_world import DEFAULT_FPS
from interplay.env.world import Start, World


def gym_world(name: str) -> World:
    return registry.make("gymnasium", id=name)


class UnsetEnv(gymnasium.Env[Any, Any]):
    """Its observation or its reward is never computed; it declares no frame rate."""

    metadata: dict[str, Any] = {"render_modes": [], "render_fps": None}  # noqa: RUF012 - Gymnasium's attribute
    observation_space = spaces.Box(-1.0, 1.0, (2,), np.float32)
    action_space = spaces.Discrete(2)

    def __init__(self, seen: Sequence[float] = (0.5, 0.5), reward: Any = 0.0) -> None:
        self.seen, self.reward = np.array(seen, np.float32), reward

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        return self.seen, {}

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        return self.seen, self.reward, False, False, {}


@pytest.mark.parametrize(("name", "reward"), [("nan", float("nan")), ("None", None), ("Array", np.array([1.0]))])
def test_a_reward_that_is_not_a_number_is_refused(name: str, reward: Any) -> None:
    gymnasium.register(f"Reward{name}-v0", UnsetEnv, kwargs={"reward": reward})
    world = gym_world(f"Reward{name}-v0")
    assert world.spec.frames_per_second == DEFAULT_FPS
    world.reset(Start(seed=0))
    with pytest.raises(ValueError) as refused:
        world.step({})
    assert f"env.id='Reward{name}-v0': the reward" in str(refused.value)
    assert f"this one is {reward};" in str(refused.value)


@pytest.mark.parametrize(
    ("seen", "words"),
    [
        ((0.5, float("nan")), "nan at index 1"),
        ((0.5, 0.5, 0.5), r"the observation space has Box\(.*\(2,\).*, but array"),
    ],
)
def test_a_vector_of_another_kind_is_refused_by_the_name_of_its_environment(seen: Sequence[float], words: str) -> None:
    gymnasium.register(f"Seen{len(seen)}-v0", UnsetEnv, kwargs={"seen": seen})
    with pytest.raises(ValueError, match=rf"env\.id='Seen{len(seen)}-v0': .*{words}"):
        gym_world(f"Seen{len(seen)}-v0").reset(Start(seed=0))


class OldEnv(UnsetEnv):
    """Written for Gym: a step does not say whether a time limit ended the episode."""

    def step(self, action: Any) -> Any:
        return self.seen, 0.0, False, {}


@pytest.mark.parametrize(("limit", "seen"), [(None, "4 values"), (9, "something else .*got 4")])
def test_a_step_of_four_values_is_refused_by_the_name_of_its_environment(limit: int | None, seen: str) -> None:
    gymnasium.register(f"Old{limit}-v0", OldEnv, max_episode_steps=limit)
    world = gym_world(f"Old{limit}-v0")
    world.reset(Start(seed=0))
    with pytest.raises(ValueError, match=rf"env\.id='Old{limit}-v0': a step returns .* and one returned {seen}"):
        world.step({})


class SilentEnv(UnsetEnv):
    """A step whose `return` is missing."""

    def step(self, action: Any) -> Any:
        return None


@pytest.mark.parametrize(("limit", "seen"), [(None, "a NoneType"), (9, "something else .*NoneType")])
def test_a_step_without_a_return_is_refused_by_the_name_of_its_environment(limit: int | None, seen: str) -> None:
    gymnasium.register(f"Silent{limit}-v0", SilentEnv, max_episode_steps=limit)
    world = gym_world(f"Silent{limit}-v0")
    world.reset(Start(seed=0))
    with pytest.raises(ValueError, match=rf"env\.id='Silent{limit}-v0': a step returns .* and one returned {seen}"):
        world.step({})


class BareEnv(UnsetEnv):
    """A reset returns an observation of two numbers alone."""

    action_space = spaces.MultiBinary(3)  # type: ignore[assignment]

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        return self.seen


def test_a_reset_of_one_value_and_actions_of_another_space_are_refused_by_the_name_of_their_environment() -> None:
    gymnasium.register("Bare-v0", BareEnv)
    with pytest.raises(ValueError, match=r"env\.id='Bare-v0': actions of MultiBinary\(3\) are not .*; wrap the env"):
        gym_world("Bare-v0")
    BareEnv.action_space = UnsetEnv.action_space
    with pytest.raises(ValueError, match=r"'Bare-v0': a reset returns \(observation, info\), .* returned a ndarray"):
        gym_world("Bare-v0").reset(Start(seed=0))


class UnmadeEnv(UnsetEnv):
    """Its constructor raises an error with a cause that was not raised, which has no traceback."""

    def __init__(self) -> None:
        raise ValueError("there are no maps") from KeyError("maps")


def test_an_error_of_a_constructor_is_named_with_its_environment() -> None:
    gymnasium.register("Unmade-v0", UnmadeEnv)
    with pytest.raises(ValueError, match=r"env\.id='Unmade-v0' cannot be made: there are no maps"):
        gym_world("Unmade-v0")
