"""Scripted builder: walks or flies to a place, aims, and places or breaks, one block after another."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np

from interplay.env.task import Expert
from interplay.env.voxel.body import BuilderBody, step_by_cells, wrapped
from interplay.env.voxel.commands import Command
from interplay.env.voxel.controls import ControlScheme
from interplay.env.voxel.experts.work import HandMove, Place, Planner
from interplay.env.voxel.space import Grid
from interplay.env.voxel.tasks.build_task import Build
from interplay.env.world import Action, Movement, World

SAME = 1e-3  # distance and angle that count as none
FAILURES = 3  # moves without effect in a row after which it gives up


class PlanningExpert(Expert):
    """Carries out a task move by move; each is planned from the blocks that stand."""

    def __init__(self, task: Build, scheme: ControlScheme, auto_jump: bool = False) -> None:
        self._task = task
        self._scheme = scheme
        self._planner = Planner(scheme, auto_jump)
        self._turns, self._looks = scheme.angles(), scheme.angles("pitch")
        self._move: HandMove | None = None
        self._stage = 0  # the place of the path that it is at, or walks to
        self._grid = task.asked  # when the move was planned
        self._failures = 0

    def act(self, world: World) -> Action:
        return Action(self.movement(world.facts()))

    @abstractmethod
    def movement(self, facts: Any) -> Movement:
        """The movement of the next step."""

    def _plan(self, grid: Grid, body: BuilderBody) -> None:
        tally = self._task.tally(grid)
        self.finished = tally.done
        self._move = None if self.finished else self._planner.move(tally, self._task.asked, grid, body)
        self._stage, self._grid = 0, grid.copy()


class BuildingExpert(PlanningExpert):
    """Builds by cells or flying. It makes a new plan whenever something else has happened than planned."""

    def __init__(self, task: Build, scheme: ControlScheme, auto_jump: bool) -> None:
        super().__init__(task, scheme, auto_jump)
        self._auto_jump = auto_jump

    def movement(self, facts: Any) -> Movement:
        if self._move is None or not self._is_valid(facts):
            self._plan(facts.grid, facts.body)
        if self._move is None or self._failures >= FAILURES:
            self.finished = True
            return self._scheme.encode()
        return self._scheme.encode(self._command(self._move, facts))

    def _is_valid(self, facts: Any) -> bool:
        """Whether the move still leads to where it was planned."""
        assert self._move is not None
        if not np.array_equal(facts.grid, self._grid):
            self._failures = 0
            return False
        path = self._move.path
        for stage in (self._stage, self._stage + 1):
            if stage < len(path) and _is_at(facts.body, path[stage]):
                self._stage = stage
                return True
        if self._scheme.control == "fly":
            return True
        self._failures += 1
        return False

    def _command(self, move: HandMove, facts: Any) -> Command:
        body: BuilderBody = facts.body
        pitch = nearest_angle(move.pitch - body.pitch, self._looks)
        if self._scheme.control == "fly":
            if not _is_at(body, move.path[-1]):
                return self._fly(body, move.path[-1])._replace(pitch=pitch)
        elif self._stage + 1 < len(move.path):
            return self._walk(body, move.path[self._stage + 1], facts.grid)._replace(pitch=pitch)
        turning = 0.0 if move.raises else wrapped(move.yaw - body.yaw)
        if abs(turning) > SAME or abs(move.pitch - body.pitch) > SAME:
            return Command(yaw=nearest_angle(turning, self._turns), pitch=pitch)
        if move.cell is not None and move.cell != move.offered(body.gaze(facts.grid)):
            self._failures += 1
            self._move = None
            return Command()
        if not move.color:
            return Command(attack=1)
        if move.raises:
            self._failures += 1  # forgiven once the block is there
        return Command(select=move.color, use=1, jump=float(move.raises))

    def _walk(self, body: BuilderBody, to: Place, grid: Grid) -> Command:
        """A step to the next cell, facing it if one turn suffices."""
        x, _, z = body.position
        dx, dz = round(to[0] - x), round(to[2] - z)
        jump = float(not self._auto_jump and step_by_cells(grid, body.position, dx, dz) != to)
        wanted = math.degrees(math.atan2(-dx, dz))
        missing = wrapped(wanted - body.yaw)
        for turn in sorted((0.0, *self._turns), key=lambda angle: (abs(wrapped(missing - angle)), abs(angle))):
            for forward, strafe in self._ways():
                if _direction(body.yaw + turn, forward, strafe) == (dx, dz):
                    return Command(forward=forward, strafe=strafe, jump=jump, yaw=turn)
        return Command(yaw=nearest_angle(missing, self._turns))

    def _ways(self) -> Sequence[tuple[int, int]]:
        names = self._scheme.names
        return [
            (forward, strafe)
            for forward, strafe in ((1, 0), (-1, 0), (0, 1), (0, -1), (1, 1), (1, -1), (-1, 1), (-1, -1))
            if (not forward or names & {"move", "forward"}) and (not strafe or "strafe" in names)
        ]

    def _fly(self, body: BuilderBody, to: Place) -> Command:
        """A step through the air, along the axes."""
        square = wrapped(90 * round(body.yaw / 90) - body.yaw)
        turn = nearest_angle(square, self._turns)
        if abs(turn - square) > SAME:
            return Command(yaw=turn)
        yaw = math.radians(body.yaw + turn)
        dx, dy, dz = (float(np.clip(goal - at, -1, 1)) for goal, at in zip(to, body.position, strict=True))
        forward = -math.sin(yaw) * dx + math.cos(yaw) * dz
        strafe = -math.cos(yaw) * dx - math.sin(yaw) * dz
        return Command(forward=round(forward), strafe=round(strafe), up=round(dy), yaw=turn)


def _is_at(body: BuilderBody, place: Place) -> bool:
    return all(abs(at - goal) < 0.01 for at, goal in zip(body.position, place, strict=True))


def nearest_angle(angle: float, steps: Sequence[float]) -> float:
    """The step that leaves the smallest angle."""
    return min((0.0, *steps), key=lambda step: (round(abs(angle - step), 6), abs(step)))


def _direction(yaw: float, forward: int, strafe: int) -> tuple[int, int]:
    """The neighboring cell (dx, dz) in the nearest of eight directions."""
    turn = math.radians(yaw)
    ahead = -math.sin(turn) * forward - math.cos(turn) * strafe
    aside = math.cos(turn) * forward - math.sin(turn) * strafe
    length = math.hypot(ahead, aside)
    eighth = math.sin(math.radians(22.5)) * length
    return (
        0 if abs(ahead) < eighth else (1 if ahead > 0 else -1),
        0 if abs(aside) < eighth else (1 if aside > 0 else -1),
    )
