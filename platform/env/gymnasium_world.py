"""Adapter from a Gymnasium environment to a world: its agent is the solver; the setter utters its mission.

Gymnasium environments cannot be saved, so a state is the seed and all actions since. Replaying them is exact for
environments that are deterministic after seeding; those registered as nondeterministic are refused.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from functools import cache
from importlib import import_module
from traceback import extract_tb
from typing import Any

import gymnasium
import numpy as np
from gymnasium.envs import registration
from gymnasium.envs.registration import EnvSpec, load_env_creator
from gymnasium.wrappers import common
from numpy.typing import NDArray

from interplay.env.arrays import Image, fit_picture, picture_problem
from interplay.env.gymnasium_spaces import action_codec_of, observation_parts_of
from interplay.env.input_controls import DEFAULT_KEYS, MAX_CONTROLS, InputControl, warn_of_choices_without_key
from interplay.env.mission import GymnasiumFacts, MissionSolver, MissionSource
from interplay.env.replayed_state import check_actions, json_values, read_state, write_state
from interplay.env.roles import check_roles
from interplay.env.spec_checks import is_finite
from interplay.env.task import TaskSource
from interplay.env.world import MAX_BINS, Action, Movement, Outcome, Start, View, World, WorldSpec

logger = logging.getLogger(__name__)

VERSION = 1
SETTER, SOLVER = "setter", "solver"
RESET_VALUES = 2  # of a reset of Gymnasium; Gym had one
STEP_VALUES = 5  # of a step of Gymnasium; Gym had four
DEFAULT_FPS = 10.0  # for environments that do not declare one
GRIDS = ("MiniGrid-", "BabyAI-")  # environments with a time limit of their own, which Gymnasium's can't lengthen
ACTION_KEYS = {
    "left": "ArrowLeft", "right": "ArrowRight", "forward": "ArrowUp", "up": "ArrowUp", "down": "ArrowDown",
    "fire": "Space", "pickup": "KeyP", "drop": "KeyD", "toggle": "Space",
}  # fmt: skip


@dataclass(frozen=True)
class GymnasiumConfig:
    """Environment id, observation and action settings.

    `id` may name the module that registers it, as Gymnasium allows: "ale_py:ALE/Pong-v5".
    """

    id: str  # of the environment, as CartPole-v1
    image: tuple[int, int] | None = None  # (height, width) to which pictures are fitted; None: their own size
    max_steps: int | None = None  # time limit of an episode; None: the environment's own
    bins: int = 5  # per continuous action dimension; odd, so that one is the middle
    rest: int | None = None  # the no-op of a Discrete space; None: "done" in MiniGrid, 0 elsewhere
    instruction: str = ""  # what the setter says if the environment has no mission
    # The mission is done once the return exceeds it; null: the `reward_threshold` that the environment was registered
    # with, at which Gymnasium counts it as solved, or 0 without one.
    success_return: float | None = 0.0
    kwargs: Mapping[str, Any] = field(default_factory=dict)  # passed to `gymnasium.make`

    def __post_init__(self) -> None:
        if not 1 <= self.bins <= MAX_BINS:
            raise ValueError(f"bins={self.bins}: a continuous action is cut into 1 to {MAX_BINS} bins")
        if self.max_steps is not None and self.max_steps < 1:
            raise ValueError(f"max_steps={self.max_steps} must be at least 1, or null for the environment's own limit")
        if self.image is not None and (problem := picture_problem(self.image)):
            raise ValueError(problem)


class GymnasiumWorld(World):
    """A Gymnasium environment. Setter and solver share one view; only the solver's movement has an effect."""

    def __init__(self, config: GymnasiumConfig) -> None:
        self.config = config
        self._env, rest, self._solver = _environment(config)
        try:
            self._observations = observation_parts_of(self._env.observation_space, config.image)
            self._actions = action_codec_of(self._env.action_space, config.bins, _rest(config, self._env, rest))
        except ValueError as error:
            self._env.close()
            raise ValueError(f"env.id={config.id!r}: {error}") from error
        for key, space in self._observations.like_pictures.items():
            _warn_of_flattened(config.id, key, space.shape, str(space.dtype))
        self.spec = WorldSpec(
            name="gymnasium",
            version=VERSION,
            roles=(SETTER, SOLVER),
            frames_per_step=1,
            frames_per_second=float(self._env.metadata.get("render_fps") or DEFAULT_FPS),
            image=self._observations.image,
            vector=self._observations.vector,
            movement=self._actions.components,
            utterances=True,
            poses=0,
        )
        self._seed: int | None = None
        self._history: list[list[int]] = []  # the solver's bins, one row per step
        self._said = dict.fromkeys(self.spec.roles, "")
        self._observed: tuple[Image | None, NDArray[np.float32] | None] = (None, None)
        self._facts = GymnasiumFacts("", 0.0, False, 0)

    def reset(self, start: Start, observers: Collection[str] | None = None) -> Mapping[str, View]:
        if start.state is not None:
            self._restore(start.state)
        else:
            assert start.seed is not None
            self._begin(start.seed)
        return self._views(observers)

    def step(self, actions: Mapping[str, Action], observers: Collection[str] | None = None) -> Outcome:
        if self._seed is None or self._facts.done:
            raise ValueError("there is no episode under way; call reset(Start(seed=...)) first")
        check_actions(self.spec, actions)
        movement = actions[SOLVER].movement if SOLVER in actions else self.spec.rest()
        reward, truncated = self._advance([int(chosen) for chosen in movement[0]])
        for role, action in actions.items():
            if action.utterance is not None:
                self._said[role] = action.utterance
        return Outcome(self._views(observers), self._facts.done, reward, truncated=truncated)

    def state(self) -> bytes:
        return write_state(self._identity(), seed=self._seed, bins=self._history, said=self._said)

    def facts(self) -> GymnasiumFacts:
        return self._facts

    def tasks(self) -> TaskSource:
        above, limit = _success_return(self.config, self._env), _episode_limit(self.config, self._env)
        return MissionSource(self._facts.mission, above, self.facts, self._solver, limit)

    def view(self, role: str) -> View:
        return self._views((role,))[role]

    def portrait(self, height: int, width: int) -> Mapping[str, Image]:
        """The environment's own rendering, at its own size."""
        if self._env.render_mode != "rgb_array":
            return {}
        drawn: Any = self._env.render()
        return {self.config.id: np.asarray(drawn, np.uint8)}

    def picture(self, role: str, height: int, width: int) -> Image:
        if self.spec.image is None and self._env.render_mode == "rgb_array":
            drawn: Any = self._env.render()
            return fit_picture(np.asarray(drawn, np.uint8), (height, width))
        return super().picture(role, height, width)

    def controls(self, role: str) -> tuple[InputControl, ...]:
        names = _action_names(self._env)
        if role != SOLVER or not names:
            return super().controls(role)
        (component,) = self.spec.movement
        named = [(chosen, name) for chosen, name in enumerate(names) if chosen != component.rest]
        warn_of_choices_without_key(len(named))
        named = named[:MAX_CONTROLS]
        own = {ACTION_KEYS[name] for _, name in named if name in ACTION_KEYS}
        keys = iter([key for key in DEFAULT_KEYS if key not in own])
        return tuple(
            InputControl(name, name, (ACTION_KEYS.get(name) or next(keys),), component.name, (chosen,), "pulse")
            for chosen, name in named
        )

    @property
    def env_spec(self) -> EnvSpec:
        """What Gymnasium made the environment from, its settings included, without the wrappers of the world."""
        spec = self._env.unwrapped.spec
        assert spec is not None, "an environment that Gymnasium makes has a spec"
        return spec

    @property
    def action_space(self) -> gymnasium.Space[Any]:
        """The actions of the environment."""
        return self._actions.space

    @property
    def observation_space(self) -> gymnasium.Space[Any]:
        """What the world reads, which in MiniGrid has a picture in place of the environment's grid."""
        return self._observations.space

    def movement_of(self, action: Any) -> NDArray[np.int8]:
        """The movement of the solver that is an action of the environment.

        Raises:
            ValueError: the action is none of the space, or at none of the bins.
        """
        return np.array([self._actions.bins(action)], np.int8)

    def action_of(self, movement: Movement) -> Any:
        """The action of the environment that is a movement of the solver."""
        return self._actions.action([int(chosen) for chosen in movement[0]])

    def history_of(self, state: bytes) -> tuple[int, list[Any]]:
        """The seed and the actions of the environment that lead to a saved state.

        Raises:
            ValueError: as `reset` does.
        """
        saved = read_state(state, self._identity())
        return saved["seed"], [self._actions.action(bins) for bins in saved["bins"]]

    def own_environment(self) -> gymnasium.Env[Any, Any]:
        """A new environment with the settings of this one, which shows what the environment itself shows."""
        return _make_environment(self.config)

    def close(self) -> None:
        self._env.close()

    def _begin(self, seed: int) -> None:
        returned = self._env.reset(seed=seed)
        if not isinstance(returned, tuple) or len(returned) != RESET_VALUES:
            raise ValueError(
                f"env.id={self.config.id!r}: a reset returns (observation, info), and one returned a "
                f"{type(returned).__name__}; let the environment's reset return both"
            )
        observation, _ = returned
        self._seed = seed
        self._history = []
        self._said = dict.fromkeys(self.spec.roles, "")
        image, vector, mission = self._read(observation)
        self._observed = (image, vector)
        self._facts = GymnasiumFacts(mission or self.config.instruction, 0.0, False, 0)

    def _read(self, observation: Any) -> tuple[Image | None, NDArray[np.float32] | None, str]:
        """The parts of an observation; errors name the environment."""
        try:
            parts = self._observations.read(observation)
            if parts[1] is not None:
                self.spec.check("vector", parts[1])
        except ValueError as error:
            raise ValueError(f"env.id={self.config.id!r}: {error}") from error
        return parts

    def _advance(self, bins: list[int]) -> tuple[float, bool]:
        """Steps the environment; returns its reward, and whether a time limit truncated the episode."""
        try:
            returned = self._env.step(self._actions.action(bins))
        except (TypeError, ValueError) as error:
            if extract_tb(error.__traceback__)[-1].filename != common.__file__:
                raise
            raise self._wrong_step(f"one returned something else ({error})") from error  # to Gymnasium's time limit
        if not isinstance(returned, Sequence):
            raise self._wrong_step(f"one returned a {type(returned).__name__}")
        if len(returned) != STEP_VALUES:
            raise self._wrong_step(f"one returned {len(returned)} values")
        observation, reward, terminated, truncated, _ = returned
        self._history.append(bins)
        if not is_finite(reward):
            raise ValueError(
                f"env.id={self.config.id!r}: the reward of a step is a finite number, and this one is {reward}; change "
                "the environment's rewards"
            )
        self._observed = self._read(observation)[:2]
        was = self._facts
        total = was.total_reward + float(reward)
        self._facts = GymnasiumFacts(was.mission, total, terminated or truncated, was.steps + 1)
        return float(reward), truncated and not terminated

    def _wrong_step(self, seen: str) -> ValueError:
        return ValueError(
            f"env.id={self.config.id!r}: a step returns (observation, reward, terminated, truncated, info), and "
            f"{seen}; let the environment's step return all {STEP_VALUES}"
        )

    def _restore(self, state: bytes) -> None:
        saved = read_state(state, self._identity())
        self._begin(saved["seed"])
        for bins in saved["bins"]:
            self._advance(bins)
        self._said = dict(saved["said"])

    def _identity(self) -> Mapping[str, Any]:
        """Everything that determines the result of replaying a history, as JSON values."""
        settings = {"id": self.config.id, "bins": self.config.bins, "max_steps": self.config.max_steps}
        identity = {"name": self.spec.name, "version": VERSION, "kwargs": dict(self.config.kwargs), **settings}
        return json_values(identity)

    def _views(self, observers: Collection[str] | None) -> Mapping[str, View]:
        image, vector = self._observed
        heard = {SETTER: self._said[SOLVER], SOLVER: self._said[SETTER]}
        wanted = self.spec.roles if observers is None else observers
        check_roles(wanted, self.spec.roles)
        return {role: View(image, vector, heard[role], self._said[role]) for role in wanted}


@cache
def _warn_of_flattened(name: str, key: str, shape: tuple[int, ...], dtype: str) -> None:
    """Logs a warning, once, about an observation that is flattened and may be meant as a picture."""
    logger.warning(
        "env.id=%r: %s of shape %s and type %s becomes a vector of %d numbers, because a picture has the shape "
        "(height, width, 1 or 3) and the type uint8. If it is a picture, let a wrapper of the environment bring it "
        "into that form",
        *(name, f"the observation {key!r}" if key else "the observation", shape, dtype, math.prod(shape)),
    )


def _action_names(env: gymnasium.Env[Any, Any]) -> tuple[str, ...]:
    """The names of a Discrete space's actions, in lower case, where the environment states them."""
    if not isinstance(env.action_space, gymnasium.spaces.Discrete):
        return ()
    if hasattr(env.unwrapped, "get_action_meanings"):  # Atari
        return tuple(str(name).lower() for name in env.unwrapped.get_action_meanings())
    actions = getattr(env.unwrapped, "actions", None)  # MiniGrid
    names = [action.name for action in actions] if isinstance(actions, type) and issubclass(actions, IntEnum) else []
    return tuple(names) if len(names) == int(env.action_space.n) else ()


def _environment(config: GymnasiumConfig) -> tuple[gymnasium.Env[Any, Any], int, MissionSolver]:
    """The environment, its no-op action, and its solver."""
    if not config.id.rpartition(":")[2].startswith(GRIDS):
        return _make_environment(config), 0, MissionSolver()
    from interplay.env import babyai  # requires minigrid, which other environments do not

    env = babyai.with_picture(_make_environment(config), config.image)
    return env, babyai.NOOP_ACTION, babyai.solver_for(env)


def _success_return(config: GymnasiumConfig, env: gymnasium.Env[Any, Any]) -> float:
    """The return that the mission has to exceed."""
    if config.success_return is not None:
        return config.success_return
    return (env.spec.reward_threshold if env.spec is not None else None) or 0.0


def _rest(config: GymnasiumConfig, env: gymnasium.Env[Any, Any], default: int) -> int:
    """The no-op of a Discrete space.

    Raises:
        ValueError: `env.rest` names one in a space of another kind, where it would have no effect.
    """
    if config.rest is None:
        return default
    if not isinstance(env.action_space, gymnasium.spaces.Discrete):
        raise ValueError(
            f"env.rest={config.rest} is the no-op of Discrete actions, and this environment has {env.action_space}: "
            "leave env.rest out"
        )
    return config.rest


def _make_environment(config: GymnasiumConfig) -> gymnasium.Env[Any, Any]:
    """Creates the environment through Gymnasium.

    Raises:
        ValueError: Gymnasium cannot make it, or its spec declares it not deterministic.
    """
    module, _, name = config.id.rpartition(":")
    try:
        if module:
            import_module(module)
        spec = gymnasium.spec(name)
        modes = getattr(_creator(spec), "metadata", {}).get("render_modes", ())
        drawn = {"render_mode": "rgb_array"} if "rgb_array" in modes else {}
        limit: dict[str, Any] = {"max_steps": config.max_steps} if config.max_steps and name.startswith(GRIDS) else {}
        env = gymnasium.make(
            spec,
            max_episode_steps=config.max_steps,
            disable_env_checker=True,
            **drawn,
            **{**limit, **config.kwargs},
        )
    except ModuleNotFoundError as missing:
        raise ValueError(
            f"env.id={config.id!r} cannot be made: {missing}. Install its package, or type PYTHONPATH=FOLDER before "
            "the command for a module in a folder"
        ) from missing
    except (gymnasium.error.Error, TypeError, ValueError, OSError) as refused:  # TypeError: of unknown `kwargs`
        raise ValueError(f"env.id={config.id!r} cannot be made: {refused}{_place(refused)}") from refused
    if spec.nondeterministic:
        env.close()
        raise ValueError(f"env.id={config.id!r} is declared not deterministic, so its episodes cannot be replayed")
    return env


def _episode_limit(config: GymnasiumConfig, env: gymnasium.Env[Any, Any]) -> int | None:
    """The time limit of the current episode, by Gymnasium or by the environment itself."""
    limits = [env.spec.max_episode_steps if env.spec is not None else None]
    if config.id.rpartition(":")[2].startswith(GRIDS):
        limits.append(int(env.get_wrapper_attr("max_steps")))
    return min((limit for limit in limits if limit is not None), default=None)


def _place(error: Exception) -> str:
    """Where the code of an environment raised an error; empty where Gymnasium did."""
    frames = extract_tb((error.__cause__ or error).__traceback__)  # of a cause that was not raised: none
    if (
        isinstance(error, gymnasium.error.Error)
        or not frames
        or frames[-1].filename in (registration.__file__, __file__)
    ):
        return ""
    return f" ({frames[-1].filename}, line {frames[-1].lineno})"


def _creator(spec: EnvSpec) -> Any:
    """The entry point of an environment: a class, whose metadata lists its render modes, or a function."""
    return load_env_creator(spec.entry_point) if isinstance(spec.entry_point, str) else spec.entry_point
