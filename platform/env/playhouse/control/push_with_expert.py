"""Takes one thing, and drives it into another at a walk."""

from __future__ import annotations

import math

from interplay.env.playhouse.control.use_tool_expert import FACED, UseToolExpert, carrying, stretched
from interplay.env.playhouse.control.walker import Spot
from interplay.env.playhouse.planning.pushes import TOOL_RUN_UP_M, PushPath, best_push_path
from interplay.env.playhouse.planning.strikes import ARM, mean_half_extent, striking_height, striking_point
from interplay.env.playhouse.tasks.instructions.use_tool import UseTool
from interplay.env.playhouse.truth import predicates
from interplay.env.playhouse.truth.facts import XYZ, Body, HouseFacts, Thing
from interplay.env.world import Movement, WorldSpec

REACHED = 0.3  # meters from there
TURNED = math.radians(30)  # off the other, from which on the arm is stretched out
FREE = 0.3  # meters that an arm may be bent, whose tool is not stuck behind something
TOO_NEAR = 0.15  # meters left between tool and other, below which one steps back first
RUNS = 5  # steps of a run, after which it has failed
STRETCHES, RETREATS = 8, 3  # steps, at most, for stretching out the arm, and for stepping back
MOVED = 0.3  # meters by which the other has moved when a run at it is planned anew


class PushWithExpert(UseToolExpert):
    """Goes to where there is a clear run, lowers the tool to the other's height, and walks."""

    def __init__(self, task: UseTool, spec: WorldSpec) -> None:
        super().__init__(task, spec)
        self.restart()

    def restart(self) -> None:
        self._run: PushPath | None = None
        self._arrived = False
        self._running = self._stretched = self._retreated = 0

    def strike(self, facts: HouseFacts, body: Body, tool: Thing, other: Thing) -> Movement:
        if self._run is None or math.dist(self._run.through, other.xy) > MOVED:
            self.restart()
            self._run = self.plan(facts, tool, other)
        if not self._arrived:
            return self._go(facts, body, tool, other, self._run)
        return self._ram(body, tool, other, striking_point(body, other))

    def plan(self, facts: HouseFacts, tool: Thing, other: Thing) -> PushPath:
        """Where to run from."""
        found = best_push_path(facts, self.role, other, TOOL_RUN_UP_M + other.radius, tool.index)
        return found or PushPath(facts.bodies[self.role].position, other.xy)

    def _go(self, facts: HouseFacts, body: Body, tool: Thing, other: Thing, run: PushPath) -> Movement:
        self._arrived = math.dist(body.position, run.start) <= REACHED
        walk = self._walker.step(
            facts,
            Spot(run.start),
            lambda at: math.dist(at, run.start),
            REACHED,
            pitch=carrying(body, tool),
            grasp=True,
            most=self._haste,
        )
        return self.drawing_in(walk, body, tool)

    def _ram(self, body: Body, tool: Thing, other: Thing, point: XYZ) -> Movement:
        turn, height = predicates.bearing(body, point[:2]), striking_height(tool, other, point)
        pitch = carrying(body, tool, height)
        if not self._running:
            if abs(turn) > TURNED:
                return self._steering.hold(yaw=turn, pitch=carrying(body, tool), grasp=True, most=self._haste)
            if self._steering.can("push") and stretched(body, tool) < ARM and self._stretched < STRETCHES:
                self._stretched += 1
                return self._steering.hold(yaw=turn, pitch=carrying(body, tool), grasp=True, push=1)
            blocked = self._stretched == STRETCHES and stretched(body, tool) < ARM - FREE
            too_near = blocked or self._left(body, tool, other, point) < TOO_NEAR
            if too_near and self._retreated < RETREATS:
                self._retreated, self._stretched = self._retreated + 1, 0
                return self._steering.hold(forward=-1, yaw=turn, pitch=pitch, grasp=True)
            if abs(turn) > FACED or abs(pitch) > FACED:
                return self._steering.hold(yaw=turn, pitch=pitch, grasp=True, most=self._haste)
        self._running += 1
        if self._running > RUNS:
            self.restart()
        return self._steering.hold(forward=1, yaw=turn, pitch=pitch, grasp=True)

    def _left(self, body: Body, tool: Thing, other: Thing, point: XYZ) -> float:
        """Meters along the floor between the tool and the other."""
        between = math.dist(body.position, point[:2]) - math.dist(body.position, tool.xy)
        return between - mean_half_extent(tool) - (0.0 if other.furniture else mean_half_extent(other))
