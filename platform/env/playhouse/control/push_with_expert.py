"""Takes one thing, and drives it into another at a walk."""

from __future__ import annotations

import math

from interplay.env.playhouse.control.use_tool_expert import TOOL_AIM_RAD, UseToolExpert, tool_tilt
from interplay.env.playhouse.planning.pushes import TOOL_RUN_UP_M, PushPath, best_push_path
from interplay.env.playhouse.planning.reach import eye_distance
from interplay.env.playhouse.planning.strikes import (
    MIN_ARM_M,
    mean_half_extent,
    striking_height,
    striking_point,
)
from interplay.env.playhouse.tasks.instructions.use_tool import UseTool
from interplay.env.playhouse.truth import predicates
from interplay.env.playhouse.truth.facts import XYZ, Body, HouseFacts, Thing
from interplay.env.world import Movement, World

START_RADIUS_M = 0.3  # from the start of a run
FACING_RAD = math.radians(30)  # off the other, within which the arm is stretched out
STUCK_ARM_M = 0.3  # short of a stretched arm, from which the tool is stuck behind something
MIN_GAP_M = 0.15  # between tool and other; below it, the solver steps back first
RUN_PATIENCE_STEPS = 5  # after which a run has failed
MAX_STRETCHES, MAX_RETREATS = 8, 3  # steps
MOVED_M = 0.3  # by the other, after which the run is planned again


class PushWithExpert(UseToolExpert):
    """Goes to where the way to the other is clear, lowers the tool to the other's height, and walks."""

    def __init__(self, task: UseTool, world: World) -> None:
        super().__init__(task, world)
        self.restart()

    def restart(self) -> None:
        self._path: PushPath | None = None
        self._arrived = False
        self._running_steps = self._stretches = self._retreats = 0

    def strike(self, facts: HouseFacts, body: Body, tool: Thing, other: Thing) -> Movement:
        if self._path is None or math.dist(self._path.through, other.xy) > MOVED_M:
            self.restart()
            self._path = self.plan(facts, tool, other)
        if self._arrived:
            return self._run(body, tool, other, striking_point(body, other))
        start = self._path.start
        self._arrived = math.dist(body.position, start) <= START_RADIUS_M
        tilt = tool_tilt(body, tool)
        walk = self._walker.to(facts, start, START_RADIUS_M, pitch=tilt, grasp=True, max_turn=self.max_turn)
        return self.drawing_in(walk, body, tool)

    def plan(self, facts: HouseFacts, tool: Thing, other: Thing) -> PushPath:
        """The run to take."""
        path = best_push_path(facts, self.role, other, TOOL_RUN_UP_M + other.radius, tool.index)
        return path or PushPath(facts.bodies[self.role].position, other.xy)

    def _run(self, body: Body, tool: Thing, other: Thing, point: XYZ) -> Movement:
        turn = predicates.bearing(body, point[:2])
        tilt = tool_tilt(body, tool, striking_height(tool, other, point))
        if not self._running_steps and (movement := self._prepare(body, tool, other, point, tilt)) is not None:
            return movement
        self._running_steps += 1
        if self._running_steps > RUN_PATIENCE_STEPS:
            self.restart()
        return self._steering.hold(forward=1, yaw=turn, pitch=tilt, grasp=True)

    def _prepare(self, body: Body, tool: Thing, other: Thing, point: XYZ, tilt: float) -> Movement | None:
        """Turns to the other, stretches out the arm and lowers it; None once ready to run."""
        turn, arm = predicates.bearing(body, point[:2]), eye_distance(body, tool)
        if abs(turn) > FACING_RAD:
            return self._steering.hold(yaw=turn, pitch=tool_tilt(body, tool), grasp=True, max_turn=self.max_turn)
        if self._steering.supports("push") and arm < MIN_ARM_M and self._stretches < MAX_STRETCHES:
            self._stretches += 1
            return self._steering.hold(yaw=turn, pitch=tool_tilt(body, tool), grasp=True, push=1)
        blocked = self._stretches == MAX_STRETCHES and arm < MIN_ARM_M - STUCK_ARM_M
        too_near = blocked or _gap_ahead(body, tool, other, point) < MIN_GAP_M
        if too_near and self._retreats < MAX_RETREATS:
            self._retreats, self._stretches = self._retreats + 1, 0
            return self._steering.hold(forward=-1, yaw=turn, pitch=tilt, grasp=True)
        if abs(turn) > TOOL_AIM_RAD or abs(tilt) > TOOL_AIM_RAD:
            return self._steering.hold(yaw=turn, pitch=tilt, grasp=True, max_turn=self.max_turn)
        return None


def _gap_ahead(body: Body, tool: Thing, other: Thing, point: XYZ) -> float:
    """Meters along the floor between the tool and the other."""
    between = math.dist(body.position, point[:2]) - math.dist(body.position, tool.xy)
    return between - mean_half_extent(tool) - (0.0 if other.furniture else mean_half_extent(other))
