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

import string
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.utils import seeding
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from interplay.env.arrays import Image
from interplay.env.voxel import dynamics
from interplay.env.voxel.body import BuilderBody
from interplay.env.voxel.builder_sites import FIELD_OF_VIEW, BuilderSites
from interplay.env.voxel.gymnasium_actions import ActionSpace, GymnasiumActions
from interplay.env.voxel.picture import corner_view, eye_of, picture
from interplay.env.voxel.random_tasks import RandomTasks
from interplay.env.voxel.space import COLORS, MIDDLE, SHAPE, STOCK
from interplay.env.voxel.task_collections import BuildingTask, TaskCollection
from interplay.env.voxel.tasksets import as_grid

CHAT_LENGTH = 20_000  # characters; of longer chats the last ones are observed
RENDER_SIZE = 240  # height of `render`, which shows the builder's view, the zone and the target
_PRINTABLE = frozenset(string.printable)
Observation = dict[str, Any]


@dataclass(frozen=True)
class SilentBuilderConfig:
    """Arguments of the environments."""

    tasks: TaskCollection = field(default_factory=RandomTasks)
    action_space: ActionSpace = "walking"
    max_steps: int = 500
    resolution: tuple[int, int] = (64, 64)  # (height, width) of `pov`
    start_position: tuple[float, ...] | None = None  # (x, y, z, pitch, yaw); None: in the middle, facing south
    initial_blocks: Any = None  # grid or list of (x, y, z, id) instead of the start grid of the tasks
    right_scale: float = 2.0  # reward per cell more in common with the target
    wrong_scale: float = 1.0  # reward per block removed, in steps that change nothing in common
    select_and_place: bool = False  # choosing a color places a block at once
    target_in_obs: bool = False  # whether `target_grid` is observed
    render: bool = True  # whether `pov` is observed
    visual: bool = False  # without `agentPos` and `grid`

    def __post_init__(self) -> None:
        if not isinstance(self.max_steps, int | np.integer) or self.max_steps < 1:
            raise ValueError(f"max_steps={self.max_steps} must be a whole number, at least 1")
        sizes = tuple(np.ravel(np.asarray(self.resolution)).tolist())
        if len(sizes) != 2 or not all(isinstance(size, int) and size >= 8 for size in sizes):
            raise ValueError(f"resolution={self.resolution}: (height, width), each at least 8")
        for name in ("right_scale", "wrong_scale"):
            if not isinstance(getattr(self, name), int | float | np.number):
                raise ValueError(f"{name}={getattr(self, name)!r} is no number")
        if self.visual and not self.render:
            raise ValueError("render=False leaves nothing to see in the visual environment; use SilentBuilder-v0")
        _check_tasks(self.tasks)


def observation_space(config: SilentBuilderConfig) -> spaces.Dict:
    """Space of one environment's observations."""
    limit = MIDDLE + 0.5 + dynamics.MARGIN
    low = np.array([-limit, 0, -limit, -90, -180], np.float32)
    high = np.array([limit, dynamics.CEILING, limit, 90, 180], np.float32)
    parts: dict[str, spaces.Space[Any]] = {
        "inventory": spaces.Box(0, STOCK, (len(COLORS),), np.float32),
        "compass": spaces.Dict(angle=spaces.Box(-180, 180, (1,), np.float32)),
        "chat": spaces.Text(CHAT_LENGTH, min_length=0, charset=_PRINTABLE),
    }
    if config.render:
        parts["pov"] = spaces.Box(0, 255, (*config.resolution, 3), np.uint8)
    if not config.visual:
        parts["agentPos"] = spaces.Box(low, high, dtype=np.float32)
        parts["grid"] = spaces.Box(0, len(COLORS), SHAPE, np.int8)
    if config.target_in_obs:
        parts["target_grid"] = spaces.Box(0, len(COLORS), SHAPE, np.int8)
    return spaces.Dict(parts)


class _Builders:
    """The worlds of an environment, their tasks and their observations; arrays have a leading axis N."""

    def __init__(self, config: SilentBuilderConfig, count: int) -> None:
        self.config = config
        self.actions = GymnasiumActions(config.action_space, config.select_and_place)
        self.tasks = config.tasks
        self.chosen: BuildingTask | None = None  # the task of all further episodes; None: they sample from `tasks`
        self.steps = np.zeros(count, np.int64)
        self._chats = [""] * count
        self.sites = BuilderSites(
            count,
            self.actions.way,
            position=config.start_position,
            blocks=None if config.initial_blocks is None else as_grid(config.initial_blocks),
            right_scale=config.right_scale,
            wrong_scale=config.wrong_scale,
        )

    def begin(self, site: int, rng: np.random.Generator) -> None:
        """Starts an episode in one world."""
        task = self.chosen if self.chosen is not None else self.tasks.sample(rng)
        self.sites.begin(site, task)
        self.steps[site] = 0
        self._chats[site] = _observed_chat(task.chat)

    def step(self, actions: Any, active: NDArray[np.bool_]) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """Rewards [N] and which targets are built [N]."""
        before = list(self.sites.tasks)
        rewards, done = self.sites.step(self.actions.commands(actions, self.sites.bodies), active)
        self.steps += active
        for site, task in enumerate(self.sites.tasks):
            if task is not None and task is not before[site]:
                self._chats[site] = _observed_chat(task.chat)  # the next turn of a dialogue
        return rewards, done

    def observe(self) -> Observation:
        """Observations of all worlds, arrays of their own."""
        config, sites = self.config, self.sites
        sites.observe()
        yaw = sites.bodies[:, dynamics.YAW]
        angle = np.where(yaw < 0, yaw + 180, yaw - 180).astype(np.float32)
        seen: Observation = {
            "chat": tuple(self._chats),
            "compass": {"angle": angle[:, None]},
            "inventory": sites.inventories.astype(np.float32),
        }
        if config.render:
            seen["pov"] = np.empty((len(angle), *config.resolution, 3), np.uint8)
            sites.draw(seen["pov"])
        if not config.visual:
            columns = [dynamics.X, dynamics.Y, dynamics.Z, dynamics.PITCH, dynamics.YAW]
            seen["agentPos"] = sites.bodies[:, columns]
            seen["grid"] = sites.grids.copy()
        if config.target_in_obs:
            seen["target_grid"] = sites.targets.copy()
        return seen

    def picture(self, site: int) -> Image:
        """The builder's view, the zone and the target, uint8 [240, 720, 3]."""
        sites, size = self.sites, RENDER_SIZE
        grid, body = sites.grids[site], BuilderBody(sites.bodies[site])
        view = picture(grid, eye_of(body, FIELD_OF_VIEW, size), size, size, body.gaze(grid).block)
        return np.concatenate(
            [view, corner_view(grid, size, size, body), corner_view(sites.targets[site], size, size)], axis=1
        )


class _ChoosesTasks:
    """The choice of tasks, which one environment and many share."""

    _builders: _Builders

    @property
    def tasks(self) -> TaskCollection:
        """The task set."""
        return self._builders.tasks

    def update_taskset(self, tasks: TaskCollection) -> None:
        """Samples from another task set from the next reset on."""
        _check_tasks(tasks)
        self._builders.tasks, self._builders.chosen = tasks, None

    def set_task(self, task: BuildingTask | str) -> None:
        """Sets one task, or the task of an id of the task set, in all worlds from their next reset on.

        Raises:
            ValueError: an unknown id, an id of a task set without end, or something that is no task.
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
            raise ValueError(f"{task!r} is no task; give a BuildingTask, or the id of one of the task set")
        self._builders.chosen = task


class SilentBuilder(_ChoosesTasks, gymnasium.Env[Observation, Any]):
    """One builder. Arguments: `SilentBuilderConfig`; by default random structures of up to four blocks.

    `info`: `target_grid`. `unwrapped` has `update_taskset`, `set_task`, `tasks` and `current_task`.
    """

    metadata = {"render_modes": ["rgb_array"], "render_fps": 20}  # noqa: RUF012 - as Gymnasium declares it

    def __init__(self, render_mode: str | None = None, **settings: Any) -> None:
        self.render_mode = render_mode
        self._builders = _Builders(SilentBuilderConfig(**settings), 1)
        self.action_space = self._builders.actions.space
        self.observation_space = observation_space(self._builders.config)
        self._active = np.ones(1, np.bool_)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        super().reset(seed=seed)
        self._builders.begin(0, self.np_random)
        return self._observed()

    def step(self, action: Any) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        if self.current_task is None:
            raise gymnasium.error.ResetNeeded("call reset before step")
        rewards, done = self._builders.step(_batch_of_one(action), self._active)
        truncated = bool(self._builders.steps[0] >= self._builders.config.max_steps)
        observed, info = self._observed()
        return observed, float(rewards[0]), bool(done[0]), truncated, info

    def render(self) -> Any:
        """The builder's view, the zone from a corner, and the target, uint8 [240, 720, 3]."""
        return self._builders.picture(0) if self.render_mode == "rgb_array" else None

    @property
    def current_task(self) -> BuildingTask | None:
        """The task of this episode, None before the first reset."""
        return self._builders.sites.tasks[0]

    def _observed(self) -> tuple[Observation, dict[str, Any]]:
        seen = self._builders.observe()
        compass = {"angle": seen.pop("compass")["angle"][0]}
        observed = {name: part[0] for name, part in seen.items()} | {"compass": compass}
        return observed, {"target_grid": self._builders.sites.targets[0].copy()}


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
        self._builders = _Builders(SilentBuilderConfig(**settings), num_envs)
        self.single_action_space = self._builders.actions.space
        self.action_space = batch_space(self.single_action_space, num_envs)
        self.single_observation_space = observation_space(self._builders.config)
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
        return self._builders.observe(), self._info()

    def step(
        self, actions: Any
    ) -> tuple[Observation, NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]]:
        if self._rngs[0] is None:
            raise gymnasium.error.ResetNeeded("call reset before step")
        for site in np.flatnonzero(self._over).tolist():
            self._begin(site)
        rewards, terminated = self._builders.step(actions, ~self._over)
        truncated = self._builders.steps >= self._builders.config.max_steps
        self._over = terminated | truncated
        return self._builders.observe(), rewards, terminated, truncated, self._info()

    def render(self) -> tuple[Any, ...] | None:
        """The picture of `SilentBuilder.render` of each world."""
        if self.render_mode != "rgb_array":
            return None
        return tuple(self._builders.picture(site) for site in range(self.num_envs))

    @property
    def current_tasks(self) -> tuple[BuildingTask | None, ...]:
        """The tasks of the current episodes."""
        return tuple(self._builders.sites.tasks)

    def _begin(self, site: int) -> None:
        rng = self._rngs[site]
        assert rng is not None, "reset makes the generators"
        self._builders.begin(site, rng)

    def _info(self) -> dict[str, Any]:
        return {"target_grid": self._builders.sites.targets.copy(), "_target_grid": np.ones(self.num_envs, np.bool_)}


def _check_tasks(tasks: object) -> None:
    if not isinstance(tasks, TaskCollection):
        raise ValueError(f"tasks={tasks!r} is no task set; use RandomTasks, CustomTasks or another TaskCollection")


def _batch_of_one(action: Any) -> Any:
    if isinstance(action, dict):
        return {name: np.asarray(value)[None] for name, value in action.items()}
    return np.asarray(action)[None]


def _observed_chat(chat: str) -> str:
    """The chat as far as its space goes: printable ASCII, the last `CHAT_LENGTH` characters."""
    return "".join(letter if letter in _PRINTABLE else "?" for letter in chat[-CHAT_LENGTH:])
