"""The silent builder: Gymnasium environments in which an agent builds a target that was described before.

::

    import gymnasium
    env = gymnasium.make("interplay.env.gymnasium_ids:interplay/SilentBuilder-v0", tasks=TaskSet("own"))
    observation, info = env.reset(seed=1)
    envs = gymnasium.make_vec("interplay/SilentBuilderVisual-v0", num_envs=64, tasks=RandomTasks())

The reward of a step is that of `matching.BuildScorer`; `terminated` once the target is built, `truncated` after
`max_steps`. `make_vec` steps all worlds in one process by compiled code, and equals single environments.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.utils import seeding
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from interplay.env.voxel import dynamics
from interplay.env.voxel.builder_sites import (
    CHAT_LENGTH,
    PRINTABLE,
    BuilderSites,
    Observation,
    SilentBuilderConfig,
    check_tasks,
)
from interplay.env.voxel.space import COLORS, MIDDLE, SHAPE, STOCK
from interplay.env.voxel.task_collections import BuildingTask, TaskCollection


def observation_space(config: SilentBuilderConfig) -> spaces.Dict:
    """Space of one environment's observations."""
    limit = MIDDLE + 0.5 + dynamics.MARGIN
    low = np.array([-limit, 0, -limit, -90, -180], np.float32)
    high = np.array([limit, dynamics.CEILING, limit, 90, 180], np.float32)
    parts: dict[str, spaces.Space[Any]] = {
        "inventory": spaces.Box(0, STOCK, (len(COLORS),), np.float32),
        "compass": spaces.Dict(angle=spaces.Box(-180, 180, (1,), np.float32)),
        "chat": spaces.Text(CHAT_LENGTH, min_length=0, charset=PRINTABLE),
    }
    if config.render:
        parts["pov"] = spaces.Box(0, 255, (*config.resolution, 3), np.uint8)
    if not config.visual:
        parts["agentPos"] = spaces.Box(low, high, dtype=np.float32)
        parts["grid"] = spaces.Box(0, len(COLORS), SHAPE, np.int8)
    if config.target_in_obs:
        parts["target_grid"] = spaces.Box(0, len(COLORS), SHAPE, np.int8)
    return spaces.Dict(parts)


class _ChoosesTasks:
    """The choice of tasks, which one environment and many share."""

    _sites: BuilderSites

    @property
    def tasks(self) -> TaskCollection:
        """The task set."""
        return self._sites.collection

    def update_taskset(self, tasks: TaskCollection) -> None:
        """Samples from another task set from the next reset on."""
        check_tasks(tasks)
        self._sites.collection, self._sites.chosen = tasks, None

    def set_task(self, task: BuildingTask | str) -> None:
        """Sets one task, or the task of an id of the task set, in all worlds from their next reset on.

        Raises:
            ValueError: an unknown id, an id of a task set without end, or something that is not a task.
        """
        if isinstance(task, str):
            try:
                listed = dict(self.tasks)
            except TypeError as error:
                raise ValueError(f"no task has the id {task!r}: {error}") from error
            if task not in listed:
                raise ValueError(f"the task set has no task {task!r}; it has {', '.join(list(listed)[:20])}")
            task = listed[task]
        if not isinstance(task, BuildingTask):
            raise ValueError(f"{task!r} is not a task; give a BuildingTask, or the id of one of the task set")
        self._sites.chosen = task


class SilentBuilder(_ChoosesTasks, gymnasium.Env[Observation, Any]):
    """One builder. Arguments: `SilentBuilderConfig`; by default random structures of up to four blocks.

    `info`: `target_grid`. `unwrapped` has `update_taskset`, `set_task`, `tasks` and `current_task`.
    """

    metadata = {"render_modes": ["rgb_array"], "render_fps": 20}  # noqa: RUF012 - as Gymnasium declares it

    def __init__(self, render_mode: str | None = None, **settings: Any) -> None:
        self.render_mode = render_mode
        self._sites = BuilderSites(SilentBuilderConfig(**settings), 1)
        self.action_space = self._sites.actions.space
        self.observation_space = observation_space(self._sites.config)
        self._active = np.ones(1, np.bool_)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        super().reset(seed=seed)
        self._sites.begin(0, self.np_random)
        return self._observed()

    def step(self, action: Any) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        if self.current_task is None:
            raise gymnasium.error.ResetNeeded("call reset before step")
        rewards, done = self._sites.step(_batch_of_one(action), self._active)
        truncated = bool(self._sites.steps[0] >= self._sites.config.max_steps)
        observed, info = self._observed()
        return observed, float(rewards[0]), bool(done[0]), truncated, info

    def render(self) -> Any:
        """The builder's view, the zone from a corner, and the target, uint8 [240, 720, 3]."""
        return self._sites.picture(0) if self.render_mode == "rgb_array" else None

    @property
    def current_task(self) -> BuildingTask | None:
        """The task of this episode, None before the first reset."""
        return self._sites.tasks[0]

    def _observed(self) -> tuple[Observation, dict[str, Any]]:
        seen = self._sites.observe()
        compass = {"angle": seen.pop("compass")["angle"][0]}
        observed = {name: part[0] for name, part in seen.items()} | {"compass": compass}
        return observed, {"target_grid": self._sites.targets[0].copy()}


class SilentBuilderVector(_ChoosesTasks, VectorEnv[Observation, Any, Any]):
    """N builders in one process, stepped by compiled code; equal to N single environments.

    A world whose episode has ended starts the next one in the following step (`AutoresetMode.NEXT_STEP`).
    """

    metadata = {  # noqa: RUF012 - as Gymnasium declares it
        "render_modes": ["rgb_array"],
        "render_fps": 20,
        "autoreset_mode": AutoresetMode.NEXT_STEP,
    }

    def __init__(self, num_envs: int = 1, render_mode: str | None = None, **settings: Any) -> None:
        self.num_envs = num_envs
        self.render_mode = render_mode
        self._sites = BuilderSites(SilentBuilderConfig(**settings), num_envs)
        self.single_action_space = self._sites.actions.space
        self.action_space = batch_space(self.single_action_space, num_envs)
        self.single_observation_space = observation_space(self._sites.config)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self._rngs: list[np.random.Generator | None] = [None] * num_envs
        self._over = np.zeros(num_envs, np.bool_)

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Starts all worlds; a whole number seeds world i with `seed` + i."""
        seeds: Sequence[int | None]
        if seed is None or isinstance(seed, int):
            seeds = [None if seed is None else seed + i for i in range(self.num_envs)]
        else:
            seeds = seed
        if len(seeds) != self.num_envs:
            raise ValueError(f"{len(seeds)} seeds for {self.num_envs} worlds")
        for site, own in enumerate(seeds):
            if own is not None or self._rngs[site] is None:
                self._rngs[site] = seeding.np_random(own)[0]
            self._begin(site)
        self._over[:] = False
        return self._sites.observe(), self._info()

    def step(
        self, actions: Any
    ) -> tuple[Observation, NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]]:
        if self._rngs[0] is None:
            raise gymnasium.error.ResetNeeded("call reset before step")
        for site in np.flatnonzero(self._over).tolist():
            self._begin(site)
        rewards, terminated = self._sites.step(actions, ~self._over)
        truncated = self._sites.steps >= self._sites.config.max_steps
        self._over = terminated | truncated
        return self._sites.observe(), rewards, terminated, truncated, self._info()

    def render(self) -> tuple[Any, ...] | None:
        """The picture of `SilentBuilder.render` of each world."""
        if self.render_mode != "rgb_array":
            return None
        return tuple(self._sites.picture(site) for site in range(self.num_envs))

    @property
    def current_tasks(self) -> tuple[BuildingTask | None, ...]:
        """The tasks of the current episodes."""
        return tuple(self._sites.tasks)

    def _begin(self, site: int) -> None:
        rng = self._rngs[site]
        assert rng is not None, "reset makes the generators"
        self._sites.begin(site, rng)

    def _info(self) -> dict[str, Any]:
        return {"target_grid": self._sites.targets.copy(), "_target_grid": np.ones(self.num_envs, np.bool_)}


def _batch_of_one(action: Any) -> Any:
    if isinstance(action, dict):
        return {name: np.asarray(value)[None] for name, value in action.items()}
    return np.asarray(action)[None]
