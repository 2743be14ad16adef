"""Scripted builder under `control=human`: walks, jumps and aims frame by frame."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from interplay.env.arrays import Float64Array
from interplay.env.voxel.body import BuilderBody, BuildState, advance, apply_all, trace, wrapped
from interplay.env.voxel.commands import Command
from interplay.env.voxel.controls import ControlScheme
from interplay.env.voxel.dynamics import EYE_HEIGHT, REACH, first_hit
from interplay.env.voxel.experts.building_expert import FAILURES, PlanningExpert, nearest_angle
from interplay.env.voxel.experts.work import HandMove, Place
from interplay.env.voxel.space import MIDDLE, Grid
from interplay.env.voxel.tasks.build_task import Build
from interplay.env.world import Movement

NEAR = 0.19  # distance from the middle of a cell along each axis that counts as there
ON_FACE = np.stack(np.meshgrid(*[np.linspace(0.1, 0.9, 5)] * 3), -1).reshape(-1, 3)  # points to aim at, by axis
SETTLED_DEG = 0.5  # angle between gaze and aim at which a gaze that meets something else is a failure
PATIENCE = 60  # frames for one place of a path, or for one aim
CORNER = np.array([MIDDLE + 0.5, 0.0, MIDDLE + 0.5])  # x, y, z of the origin of the world from the corner of the zone
WAYS = [(forward, strafe) for forward in (0, 1, -1) for strafe in (0, 1, -1)]  # the first one rests


class WalkingExpert(PlanningExpert):
    """Builds in frames of 1/20 s. Each frame's command is applied to a copy of the state, from which the next frame's
    follows, so that a step of several frames is as exact as one."""

    def __init__(self, task: Build, scheme: ControlScheme) -> None:
        super().__init__(task, scheme)
        names = scheme.names
        self._ways = [way for way in WAYS if ("forward" in names or not way[0]) and ("strafe" in names or not way[1])]
        self._frames = 0  # since the place or the aim was chosen
        self._aim_at: tuple[float, float] | None = None  # yaw and pitch

    def movement(self, facts: Any) -> Movement:
        state = BuildState(facts.grid.copy(), facts.body.copy())
        rows = []
        for _ in range(self._scheme.frames):
            rows.append(self._scheme.frame(self._command(state)))
            apply_all(state, self._scheme.decode(rows[-1][None], 1), self._scheme.way)
        return np.stack(rows)

    def _command(self, state: BuildState) -> Command:
        """The command of the next frame."""
        if self.finished:
            return Command()
        if self._move is None or not np.array_equal(state.grid, self._grid):
            if not _stands(state.body):
                return Command()
            self._plan(state.grid, state.body)
        if self._move is None or self._failures >= FAILURES:
            self.finished = True
            return Command()
        self._frames += 1
        if self._frames > PATIENCE:
            return self._fail()
        return self._walk_or_aim(self._move, state)

    def _plan(self, grid: Grid, body: BuilderBody) -> None:
        if not np.array_equal(grid, self._grid):
            self._failures = 0
        super()._plan(grid, body)
        self._frames, self._aim_at = 0, None

    def _fail(self) -> Command:
        """Gives the move up; the next frame plans again."""
        self._failures += 1
        self._move = None
        return Command()

    def _walk_or_aim(self, move: HandMove, state: BuildState) -> Command:
        body = state.body
        while self._stage < len(move.path) and _is_near(body, move.path[self._stage]):
            self._stage, self._frames = self._stage + 1, 0
        if self._stage < len(move.path):
            return self._walk(move.path[self._stage], state)
        if move.raises:
            return self._raise(move, state)
        return self._aim(move, state)

    def _walk(self, to: Place, state: BuildState) -> Command:
        """A frame towards a place, whichever way leads nearest to it, turning to face it."""
        x, y, z = state.body.position
        missing = wrapped(math.degrees(math.atan2(x - to[0], to[2] - z)) - state.body.yaw)
        turn = nearest_angle(missing, self._turns)
        climbs = float(to[1] > y + 0.5 and _stands(state.body))
        tried = [Command(forward=ahead, strafe=aside, jump=climbs, yaw=turn) for ahead, aside in self._ways]
        return min(tried, key=lambda command: round(_distance(state, command, to), 3))

    def _aim(self, move: HandMove, state: BuildState) -> Command:
        """A frame of turning the gaze to the face that was planned; then the hands."""
        body = state.body
        if move.offered(body.gaze(state.grid)) == move.cell:
            return Command(select=move.color, use=1) if move.color else Command(attack=1)
        if self._aim_at is None:
            self._aim_at = _aim(move, state)
        turning, tilting = wrapped(self._aim_at[0] - body.yaw), self._aim_at[1] - body.pitch
        if max(abs(turning), abs(tilting)) < SETTLED_DEG:
            return self._fail()
        return Command(yaw=nearest_angle(turning, self._turns), pitch=nearest_angle(tilting, self._looks))

    def _raise(self, move: HandMove, state: BuildState) -> Command:
        """Looks straight down, jumps, and places a block below as soon as there is room."""
        body = state.body
        if body.pitch < move.pitch - SETTLED_DEG:
            return Command(pitch=nearest_angle(move.pitch - body.pitch, self._looks))
        above = body.position[1] - move.path[-1][1]
        return Command(select=move.color, use=1) if above >= 1.0 else Command(jump=1)


def _stands(body: BuilderBody) -> bool:
    """Whether the body is on the ground or on a block, and not in the air."""
    return abs(body.position[1] - round(body.position[1])) < NEAR / 100 and abs(body.velocity[1]) < NEAR / 100


def _is_near(body: BuilderBody, place: Place) -> bool:
    x, y, z = body.position
    return max(abs(x - place[0]), abs(z - place[2])) < NEAR and abs(y - place[1]) < NEAR / 100


def _distance(state: BuildState, command: Command, to: Place) -> float:
    """The horizontal distance to a place after a frame of this movement."""
    body = state.body.copy()
    advance(body, state.grid, command)
    return math.hypot(body.position[0] - to[0], body.position[2] - to[2])


def _aim(move: HandMove, state: BuildState) -> tuple[float, float]:
    """Yaw and pitch from the body's own place, which is not quite the planned one, to the face that was planned."""
    body = state.body
    for point in _points(move, state.grid):
        yaw, pitch = body.angles_to(*point)
        if move.offered(trace(state.grid, body.eye, yaw, pitch)) == move.cell:
            return yaw, pitch
    return move.yaw, move.pitch


def _points(move: HandMove, grid: Grid) -> Float64Array:
    """Points of the face that the planned gaze meets, [n, 3], its middle first; world coordinates."""
    x, y, z = move.path[-1]
    hit, *cells = first_hit(grid, x, y + EYE_HEIGHT, z, move.yaw, move.pitch, REACH)
    assert hit, "an aim meets a cell"
    (by, bx, bz), (fy, fx, fz) = cells[:3], cells[3:]
    across = np.array([bx != fx, by != fy, bz != fz])
    low = np.array([bx, by, bz]) - CORNER
    points = np.where(across, np.maximum(low, np.array([fx, fy, fz]) - CORNER), low + ON_FACE)
    points = np.unique(points, axis=0)
    order = np.argsort(np.abs(points - low - 0.5).sum(1), kind="stable")
    return np.asarray(points[order])
