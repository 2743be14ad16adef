"""A building site without pictures: scenes of apart blocks, and an expert that carries out a task there."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from interplay.env.voxel.body import BuilderBody, BuildState, apply_all
from interplay.env.voxel.building_tasks import BuildingTasks
from interplay.env.voxel.controls import Control, ControlScheme
from interplay.env.voxel.experts.building_expert import BuildingExpert
from interplay.env.voxel.experts.walking_expert import WalkingExpert
from interplay.env.voxel.space import Cell, Grid, empty_grid
from interplay.env.voxel.tasks.build_task import Build


@dataclass
class Site:
    """Ground truth, as a voxel world states it."""

    state: BuildState
    start: Grid
    target: Grid | None = None
    scheme: ControlScheme = field(default_factory=lambda: ControlScheme("discrete"))

    @property
    def grid(self) -> Grid:
        return self.state.grid

    @property
    def body(self) -> BuilderBody:
        return self.state.body

    @property
    def focus(self) -> Cell | None:
        return self.body.gaze(self.grid).block

    @property
    def free(self) -> Cell | None:
        return self.body.gaze(self.grid).free

    def facts(self) -> Site:
        return self

    def tasks(self) -> BuildingTasks:
        return BuildingTasks(self.facts, scheme=self.scheme, colors=range(1, 7), compass=False)

    def do(self, task: Build, most: int) -> list[float]:
        """Lets the expert carry out a task; the progress before each step."""
        expert = WalkingExpert(task, self.scheme) if self.scheme.control == "human" else self._by_cells(task)
        progress = [task.progress(self)]
        while not task.success(self, ()) and not expert.finished and len(progress) <= most:
            apply_all(self.state, self.scheme.decode(expert.movement(self)), self.scheme.way)
            progress.append(task.progress(self))
        return progress

    def _by_cells(self, task: Build) -> BuildingExpert:
        return BuildingExpert(task, self.scheme, auto_jump=False)


def scene(seed: int, control: Control = "discrete") -> tuple[Site, np.random.Generator]:
    """Three to five blocks of different colors, apart, and the builder south of them, looking down."""
    rng = np.random.default_rng(seed)
    grid = empty_grid()
    for color in 1 + rng.permutation(6)[: rng.integers(3, 6)]:
        while True:
            x, z = rng.integers(1, 9, 2)
            if not grid[0, x - 1 : x + 2, z - 1 : z + 2].any():
                break
        grid[0, x, z] = color
    body = BuilderBody.at(float(rng.integers(-4, 5)), 0.0, 5.0, yaw=180.0, pitch=30.0)
    return Site(BuildState(grid, body), grid.copy(), scheme=ControlScheme(control)), rng


def empty_site(target: Grid, control: Control = "discrete") -> Site:
    """A site without blocks, and a target."""
    state = BuildState(empty_grid(), BuilderBody.at(0.0, 0.0, 5.0, yaw=180.0, pitch=30.0))
    return Site(state, empty_grid(), target, ControlScheme(control))
