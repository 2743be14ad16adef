"""The voxel world as a `World`: the setter says what to build, the solver walks or flies and builds it."""

from __future__ import annotations

from collections.abc import Collection, Mapping

import numpy as np
from numpy.typing import NDArray

from interplay.env.arrays import Image
from interplay.env.input_controls import InputControl
from interplay.env.roles import check_roles
from interplay.env.task import TaskSource
from interplay.env.voxel.body import apply_all
from interplay.env.voxel.building_tasks import BuildingTasks
from interplay.env.voxel.commands import LENGTH
from interplay.env.voxel.config import VoxelConfig
from interplay.env.voxel.controls import playing_controls
from interplay.env.voxel.dynamics import FRAME_SECONDS
from interplay.env.voxel.observe_site import VoxelFacts, observe, vector, vector_length
from interplay.env.voxel.picture import corner_view, eye_of, picture, setter_view
from interplay.env.voxel.scenes import make_scene
from interplay.env.voxel.site_state import (
    POSES_LENGTH,
    ROLES,
    SETTER,
    SOLVER,
    VERSION,
    SavedSite,
    from_bytes,
    read_poses,
    to_bytes,
    write_poses,
)
from interplay.env.voxel.space import color_id
from interplay.env.voxel.task_collections import TaskCollection
from interplay.env.voxel.tasksets import load_targets
from interplay.env.world import Action, Movement, MovementRow, Outcome, Start, View, World, WorldSpec

EYES_SHARE = 0.6  # of the width of a film, for what the builder sees


class Voxel(World):
    """Blocks on a 9 x 11 x 11 grid. The setter sees the zone and the target from a corner, the solver from its eyes;
    only the solver's movement has an effect.

    Args:
        config: settings.
        targets: task set that episodes begin with; None: scenes of a few blocks.
    """

    ends = False

    def __init__(self, config: VoxelConfig, targets: TaskCollection | None = None) -> None:
        self.config = config
        self.scheme = config.scheme()
        self.spec = WorldSpec(
            name="voxel",
            version=VERSION,
            roles=ROLES,
            frames_per_step=self.scheme.frames,
            frames_per_second=1 / FRAME_SECONDS,
            image=(*config.image, 3),
            vector=vector_length(config),
            movement=self.scheme.components,
            utterances=True,
            poses=POSES_LENGTH,
        )
        self._targets = targets
        self._site: SavedSite | None = None
        self._steppable = False
        self._facts: VoxelFacts | None = None

    def reset(self, start: Start, observers: Collection[str] | None = None) -> Mapping[str, View]:
        if start.state is not None:
            self._site = from_bytes(start.state, self.config)
        else:
            assert start.seed is not None
            self._site = make_scene(self.config, self._targets, start.seed)
        self._steppable, self._facts = True, None
        return self._views(observers)

    def step(self, actions: Mapping[str, Action], observers: Collection[str] | None = None) -> Outcome:
        said = {role: action.utterance for role, action in actions.items() if action.utterance is not None}
        movements = {role: action.movement for role, action in actions.items()}
        return self._run(movements, self.scheme.frames, said, observers)

    def frame(
        self,
        rows: Mapping[str, MovementRow],
        utterances: Mapping[str, str] | None = None,
        observers: Collection[str] | None = None,
    ) -> Outcome:
        movements = {role: np.asarray(row)[None] for role, row in rows.items()}
        return self._run(movements, 1, utterances or {}, observers)

    def controls(self, role: str) -> tuple[InputControl, ...]:
        return playing_controls(self.scheme) if role == SOLVER else ()

    def seen_by(self, role: str) -> str:
        return role

    def state(self) -> bytes:
        return to_bytes(self._current(), self.config)

    def facts(self) -> VoxelFacts:
        if self._facts is None:
            site = self._current()
            self._facts = observe(site.state, site.start, site.target)
        return self._facts

    def tasks(self) -> TaskSource:
        return BuildingTasks(
            self.facts,
            scheme=self.scheme,
            colors=[color_id(color) for color in self.config.colors],
            compass=self.config.compass,
            auto_jump=self.config.auto_jump,
            planned=self.config.targets is not None,
        )

    def poses(self) -> NDArray[np.float32]:
        site = self._current()
        return write_poses(site, site.frame * FRAME_SECONDS)

    def show(self, poses: NDArray[np.float32]) -> None:
        site = self._current()
        site.state = read_poses(poses)
        site.frame = round(float(poses[0]) / FRAME_SECONDS)
        self._steppable, self._facts = False, None

    def view(self, role: str) -> View:
        site = self._current()
        image = self.picture(role, *self.config.image)
        numbers = vector(site.state, site.start, self.config)
        return View(image, numbers, site.said[SOLVER if role == SETTER else SETTER], site.said[role])

    def picture(self, role: str, height: int, width: int) -> Image:
        """The current picture of a player, uint8 [height, width, 3]."""
        check_roles([role], ROLES)
        site = self._current()
        grid, body = site.state.grid, site.state.body
        if role == SETTER:
            return setter_view(grid, site.target, body, height, width)
        return picture(grid, eye_of(body, self.config.field_of_view, height), height, width, body.gaze(grid).block)

    def film(self, height: int, width: int) -> Image:
        """The builder's eyes; with a target also, next to them, what is built above the target."""
        site = self._current()
        if site.target is None:
            return self.picture(SOLVER, height, width)
        left, upper = round(EYES_SHARE * width), height // 2
        built = corner_view(site.state.grid, upper, width - left, site.state.body)
        target = corner_view(site.target, height - upper, width - left)
        return np.hstack([self.picture(SOLVER, height, left), np.vstack([built, target])])

    def portrait(self, height: int, width: int) -> Mapping[str, Image]:
        site = self._current()
        pictures = {
            SOLVER: self.picture(SOLVER, height, width),
            "zone": corner_view(site.state.grid, height, width, site.state.body),
        }
        if site.target is not None:
            pictures["target"] = corner_view(site.target, height, width)
        return pictures

    def _run(
        self,
        movements: Mapping[str, Movement],
        frames: int,
        said: Mapping[str, str],
        observers: Collection[str] | None,
    ) -> Outcome:
        """Runs the frames of these movements, after all of them have been checked."""
        site = self._current()
        if not self._steppable:
            raise ValueError("this world shows a recorded moment; reset it before it steps")
        check_roles((*movements, *said), ROLES)
        commands = {role: self.scheme.decode(movement, frames) for role, movement in movements.items()}
        resting = np.zeros((frames, LENGTH))
        apply_all(site.state, commands.get(SOLVER, resting), self.scheme.way, self.config.auto_jump)
        site.frame += frames
        site.said |= said
        self._facts = None
        return Outcome(self._views(observers))

    def _views(self, observers: Collection[str] | None) -> dict[str, View]:
        return {role: self.view(role) for role in (ROLES if observers is None else observers)}

    def _current(self) -> SavedSite:
        if self._site is None:
            raise ValueError("no episode has begun: call reset first")
        return self._site


def make_voxel(config: VoxelConfig) -> Voxel:
    """The voxel world of these settings, with its tasks and targets.

    Raises:
        ValueError: targets that do not exist, or whose data are missing or malformed.
    """
    targets = None if config.targets is None else load_targets(config.targets, config.data, config.split)
    return Voxel(config, targets)
