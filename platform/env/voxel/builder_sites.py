"""The builders of a Gymnasium environment, one or many: their worlds, tasks and observations, stepped together.

The single environment is the case N = 1, so both give the same numbers.
"""

from __future__ import annotations

import math
import string
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from interplay.env.arrays import Float64Array, Image
from interplay.env.voxel import dynamics
from interplay.env.voxel.body import LENGTH, WAYS, BuilderBody
from interplay.env.voxel.gymnasium_actions import ActionSpace, GymnasiumActions
from interplay.env.voxel.matching import BuildScorer
from interplay.env.voxel.picture import NOWHERE, corner_view, eye_of, picture, pictures
from interplay.env.voxel.random_tasks import RandomTasks
from interplay.env.voxel.space import COLORS, MIDDLE, SHAPE, Grid, check_stock
from interplay.env.voxel.task_collections import BuildingTask, TaskCollection
from interplay.env.voxel.tasksets import as_grid, is_built

CHAT_LENGTH = 20_000  # characters; of longer chats the last ones are observed
FIELD_OF_VIEW = 80.0  # vertical, degrees
PRINTABLE = frozenset(string.printable)
DRAWS = 100  # of a task that the initial blocks have not built yet
RENDER_SIZE = 240  # height of `render`, which shows the builder's view, the zone and the target
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
                raise ValueError(f"{name}={getattr(self, name)!r} is not a number")
        if self.visual and not self.render:
            raise ValueError("render=False leaves nothing to see in the visual environment; use SilentBuilder-v0")
        check_tasks(self.tasks)


class BuilderSites:
    """The worlds of an environment, their tasks and their observations; arrays have a leading axis N.

    Raises:
        ValueError: a start position outside the world, or more initial blocks of a color than exist.
    """

    def __init__(self, config: SilentBuilderConfig, count: int) -> None:
        self.config = config
        self.actions = GymnasiumActions(config.action_space, config.select_and_place)
        self.collection = config.tasks
        self.chosen: BuildingTask | None = None  # the task of all further episodes; None: sampled from `collection`
        self._blocks = None if config.initial_blocks is None else as_grid(config.initial_blocks)
        _check_position(config.start_position)
        if self._blocks is not None:
            check_stock(self._blocks, "initial_blocks")
        self.grids = np.zeros((count, *SHAPE), np.int8)
        self.bodies = np.zeros((count, LENGTH), np.float32)
        self.targets = np.zeros((count, *SHAPE), np.int8)
        self.tasks: list[BuildingTask | None] = [None] * count  # of the current episodes
        self.steps = np.zeros(count, np.int64)
        self._chats = [""] * count
        self._inventories = np.zeros((count, len(COLORS)), np.int64)
        self._focuses = np.zeros((count, 3), np.int64)
        self._scorers: list[BuildScorer | None] = [None] * count
        self._changed = np.zeros(count, np.bool_)

    def begin(self, site: int, rng: np.random.Generator) -> None:
        """Starts an episode in one world."""
        task = self.chosen if self.chosen is not None else self._drawn(rng)
        self.grids[site] = task.start if self._blocks is None else self._blocks
        self._ask(site, task)
        x, y, z, pitch, yaw = self.config.start_position or (0.0, _top(self.grids[site]), 0.0, 0.0, 0.0)
        self.bodies[site] = BuilderBody.at(x, y, z, yaw, pitch).numbers
        self.steps[site] = 0

    def step(self, actions: Any, active: NDArray[np.bool_]) -> tuple[Float64Array, NDArray[np.bool_]]:
        """Runs one frame of the active worlds. Returns rewards [N] and which targets are built [N]."""
        commands = self.actions.commands(actions, self.bodies)
        way = WAYS.index(self.actions.way)
        dynamics.run_worlds(self.grids, self.bodies, commands, way, active, self._changed)
        rewards, done = np.zeros(len(self.grids)), np.zeros(len(self.grids), np.bool_)
        for site in np.flatnonzero(self._changed).tolist():
            scorer = self._scorers[site]
            assert scorer is not None, "a changed site has begun"
            scored = scorer.step(self.grids[site])
            rewards[site], done[site] = scored.reward, scored.done and not self._turn(site)
        self.steps += active
        return rewards, done

    def observe(self) -> Observation:
        """Observations of all worlds, arrays of their own."""
        config = self.config
        dynamics.observe_worlds(self.grids, self.bodies, self._inventories, self._focuses, NOWHERE[0])
        yaw = self.bodies[:, dynamics.YAW]
        angle = np.where(yaw < 0, yaw + 180, yaw - 180).astype(np.float32)
        seen: Observation = {
            "chat": tuple(self._chats),
            "compass": {"angle": angle[:, None]},
            "inventory": self._inventories.astype(np.float32),
        }
        if config.render:
            seen["pov"] = np.empty((len(angle), *config.resolution, 3), np.uint8)
            pictures(self.grids, self.bodies, self._focuses, FIELD_OF_VIEW, seen["pov"])
        if not config.visual:
            columns = [dynamics.X, dynamics.Y, dynamics.Z, dynamics.PITCH, dynamics.YAW]
            seen["agentPos"] = self.bodies[:, columns]
            seen["grid"] = self.grids.copy()
        if config.target_in_obs:
            seen["target_grid"] = self.targets.copy()
        return seen

    def picture(self, site: int) -> Image:
        """The builder's view, the zone and the target, uint8 [240, 720, 3]."""
        size, grid, body = RENDER_SIZE, self.grids[site], BuilderBody(self.bodies[site])
        view = picture(grid, eye_of(body, FIELD_OF_VIEW, size), size, size, body.gaze(grid).block)
        return np.concatenate(
            [view, corner_view(grid, size, size, body), corner_view(self.targets[site], size, size)], axis=1
        )

    def _drawn(self, rng: np.random.Generator) -> BuildingTask:
        """A task that the initial blocks have not built, as far as draws find one."""
        task = self.collection.sample(rng)
        for _ in range(DRAWS):
            if self._blocks is None or not is_built(task, self._blocks):
                break
            task = self.collection.sample(rng)
        return task

    def _turn(self, site: int) -> bool:
        """Asks the next turn that is not built yet. Returns whether there was one."""
        task = self.tasks[site]
        while task is not None and task.following is not None:
            task = task.following
            if task.target.any() and not is_built(task, self.grids[site]):
                self._ask(site, task)
                return True
        return False

    def _ask(self, site: int, task: BuildingTask) -> None:
        self._scorers[site] = BuildScorer(
            task.target,
            self.grids[site],
            whole=task.whole,
            invariant=task.invariant,
            right_scale=self.config.right_scale,
            wrong_scale=self.config.wrong_scale,
            strict=task.removes,
        )
        self.tasks[site] = task
        self.targets[site] = task.target
        self._chats[site] = _observed_chat(task.chat)


def check_tasks(tasks: object) -> None:
    """Raises ValueError if it is not a task set."""
    if not isinstance(tasks, TaskCollection):
        raise ValueError(f"tasks={tasks!r} is not a task set; use RandomTasks, CustomTasks or another TaskCollection")


def _observed_chat(chat: str) -> str:
    """The chat as far as its space goes: printable ASCII, the last `CHAT_LENGTH` characters."""
    return "".join(letter if letter in PRINTABLE else "?" for letter in chat[-CHAT_LENGTH:])


def _top(grid: Grid) -> float:
    """Height of the first free place for a body in the middle."""
    column = grid[:, MIDDLE, MIDDLE]
    return float(np.flatnonzero(column)[-1] + 1) if column.any() else 0.0


def _check_position(position: Sequence[float] | None) -> None:
    if position is None:
        return
    limit = MIDDLE + 0.5 + dynamics.MARGIN
    try:
        x, y, z, pitch, yaw = (float(value) for value in position)
    except (TypeError, ValueError) as error:
        raise ValueError(f"start_position={position!r}: it is (x, y, z, pitch, yaw), all numbers") from error
    inside = abs(x) <= limit and abs(z) <= limit and 0 <= y <= dynamics.CEILING  # not so for NaN
    if not inside or not abs(pitch) <= 90 or not math.isfinite(yaw):
        raise ValueError(
            f"start_position={tuple(position)}: x and z go from {-limit} to {limit}, y from 0 to {dynamics.CEILING}, "
            "pitch from -90 to 90, and yaw must be finite"
        )
