"""Throwing a thing, anywhere or out of a room; acting on one thing with another: touching, pushing, striking."""

from __future__ import annotations

import math
from abc import abstractmethod

import numpy as np

from interplay.env.playhouse.control.skills import (
    BENT_ARM_M,
    CARRY_HEIGHT_M,
    CARRY_PITCH_RAD,
    MAX_TURN_RAD,
    START_RADIUS_M,
    Skills,
)
from interplay.env.playhouse.planning.navigation import distance_in_room
from interplay.env.playhouse.planning.reach import eye_distance, pitch_for_height
from interplay.env.playhouse.planning.ways_ahead import (
    MIN_ARM_M,
    TOOL_RUN_UP_M,
    PushPath,
    best_push_path,
    doorway_exits,
    mean_half_extent,
    striking_height,
    striking_point,
    striking_spots,
)
from interplay.env.playhouse.tasks.instructions.lift_and_throw import Throw, ThrowOut
from interplay.env.playhouse.tasks.instructions.push_and_tools import UseTool
from interplay.env.playhouse.truth import predicates
from interplay.env.playhouse.truth.facts import XY, XYZ, Body, HouseFacts, Thing
from interplay.env.world import Movement, World

THROW_PITCH_RAD = math.radians(8)
THROW_YAW_AIM_RAD = math.radians(2.5)
THROW_PITCH_AIM_RAD = math.radians(6)
MAX_PULLS = 6  # steps of bending the arm
ENOUGH_ROOM_M = 4.0  # any more makes no difference
MIN_OBSTACLE_TOP_M = 0.6  # height of furniture that is an obstacle to a throw
THROW_SPACING_M = 0.15  # between the samples of a line
THROW_DIRECTIONS = 24


class ThrowExpert(Skills[Throw]):
    """Fetches a thing, raises and draws it in, turns to the longest free line, and throws."""

    max_turn = MAX_TURN_RAD
    _aim: XY | None = None  # set once the thing is in hand
    _pulls = 0  # steps spent on drawing the thing in

    def next_movement(self, facts: HouseFacts) -> Movement | None:
        thing = self._task.thing(facts)
        if self._task.is_done(facts):
            return None
        released = thing.let_go is not None and thing.let_go.time >= self._task.since
        if released and thing.held_by is None and not thing.at_rest:
            return self._steering.hold()  # it is flying
        if (movement := self.fetch(facts, thing)) is not None:
            self._aim, self._pulls = None, 0
            return movement
        if (movement := self._prepare(facts, thing)) is not None:
            return movement
        return self._steering.add(self._steering.hold(grasp=True), throw=1)

    def _prepare(self, facts: HouseFacts, thing: Thing) -> Movement | None:
        """The next step before the throw, with the thing in hand; None once ready to throw."""
        body = facts.bodies[self.role]
        if self._aim is None:
            self._aim = farthest_point(facts, body)
        return self._turn(body, thing, self._aim)

    def _turn(self, body: Body, thing: Thing, aim: XY) -> Movement | None:
        """Draws the thing in, which would hit walls in turning, then turns to the aim."""
        tilt, push = THROW_PITCH_RAD - body.pitch, self._pull(body, thing)
        if push and abs(tilt) > THROW_PITCH_AIM_RAD:
            return self._steering.hold(pitch=tilt, grasp=True, push=push)
        turn = predicates.bearing(body, aim)
        if abs(turn) > THROW_YAW_AIM_RAD or abs(tilt) > THROW_PITCH_AIM_RAD or push:
            yaw = 0.0 if push else turn
            return self._steering.hold(yaw=yaw, pitch=tilt, grasp=True, push=push, max_turn=self.max_turn)
        return None

    def _pull(self, body: Body, thing: Thing) -> int:
        """-1 as long as the arm has to be bent, else 0."""
        bent = math.dist(body.position, thing.xy) <= BENT_ARM_M
        if not self._steering.supports("push") or self._pulls >= MAX_PULLS or bent:
            return 0
        self._pulls += 1
        return -1


def farthest_point(facts: HouseFacts, body: Body) -> XY:
    """The farthest of the points all round that a throw would reach; of equally far ones, that with the least turn."""
    ends = []
    for turn in np.arange(THROW_DIRECTIONS) * math.tau / THROW_DIRECTIONS:
        yaw = body.yaw + float(turn)
        along = (math.cos(yaw), math.sin(yaw))
        free = _free_distance(facts, body, along)
        ends.append((min(free, ENOUGH_ROOM_M), math.cos(turn), along))
    free, _, along = max(ends)
    return body.position[0] + free * along[0], body.position[1] + free * along[1]


def _free_distance(facts: HouseFacts, body: Body, along: XY) -> float:
    """Meters in this direction to the wall or to the first tall furniture."""
    room = predicates.nearest_room(facts, body.position)
    tall = [thing for thing in facts.things if thing.furniture and predicates.top(thing) > MIN_OBSTACLE_TOP_M]
    free = THROW_SPACING_M
    while True:
        point = (body.position[0] + free * along[0], body.position[1] + free * along[1])
        blocked = any(predicates.edge_distance(point, thing) < THROW_SPACING_M for thing in tall)
        if blocked or predicates.outside(room, point) > 0.0:
            return free
        free += THROW_SPACING_M


class ThrowOutExpert(ThrowExpert):
    """Fetches a thing, carries it before a doorway of its room, and throws it through."""

    _task: ThrowOut
    _stand: XY | None = None

    def _prepare(self, facts: HouseFacts, thing: Thing) -> Movement | None:
        body = facts.bodies[self.role]
        if self._aim is None or self._stand is None:
            exits = doorway_exits(facts, self.role, self._task.room)
            # Things that moved since the task was asked may occupy every spot.
            exits = exits or doorway_exits(facts, self.role, self._task.room, occupied=True)
            self._stand, self._aim = min(exits, key=lambda each: predicates.route_length(facts, body.position, each[0]))
        if math.dist(body.position, self._stand) > START_RADIUS_M and not self._pulls:
            tilt = CARRY_PITCH_RAD - body.pitch
            return self._walker.to(facts, self._stand, START_RADIUS_M, pitch=tilt, grasp=True)
        return self._turn(body, thing, self._aim)


TOOL_AIM_RAD = math.radians(5)
LOWEST_TOOL_PITCH_RAD = math.radians(-72)

FULL_ARM_M = 1.75  # from the eye to a tool in the hand of a stretched arm
MIN_DISTANCE_M = 0.45  # along the floor from the point to touch; any nearer is close enough in any case
REACH_PATIENCE_STEPS = 8  # with a stretched arm, after which the solver walks on

STRETCHING_AIM_RAD = math.radians(30)  # off the other, within which the arm is stretched out
STUCK_ARM_M = 0.3  # a tool that is farther short of a stretched arm is stuck behind something
MIN_GAP_M = 0.15  # between tool and other; below it, the solver steps back first
TOOL_RUN_STEPS = 5  # after which a run has failed
MAX_STRETCHES, MAX_RETREATS = 8, 3  # steps
REPLAN_DISTANCE_M = 0.3  # a run is planned again once the other thing has moved this far

NEW_START_DISTANCE_M = 0.6  # from the starts that failed to the next one, at least


class UseToolExpert(Skills[UseTool]):
    """Fetches the tool, again if it is lost, and leaves its use to `strike`."""

    max_turn = MAX_TURN_RAD  # the ways are long
    _was_held = False  # whether the tool has been in the hand

    def next_movement(self, facts: HouseFacts) -> Movement | None:
        if self._task.is_done(facts):
            return None
        body, tool, other = facts.bodies[self.role], self._task.thing(facts), facts.things[self._task.other]
        if self._was_held and body.holding is None and (movement := self._search.look_around(body, tool)) is not None:
            return movement
        if (movement := self.fetch(facts, tool)) is not None:
            if self._was_held:
                self.restart()
            return movement
        self._was_held = True
        if (movement := self._search.look_around(body, other, pitch=tool_tilt(body, tool), grasp=True)) is not None:
            return self.drawing_in(movement, body, tool)
        return self.strike(facts, body, tool, other)

    @abstractmethod
    def strike(self, facts: HouseFacts, body: Body, tool: Thing, other: Thing) -> Movement:
        """The next step with the tool in hand."""

    def drawing_in(self, movement: Movement, body: Body, tool: Thing) -> Movement:
        """The same movement while bending the arm: walls would knock a tool out of a stretched arm in a turn."""
        return self._steering.add(movement, push=-1) if self.can_bend(body, tool) else movement

    def can_bend(self, body: Body, tool: Thing) -> bool:
        """Whether the arm is stretched out and can be bent."""
        return self._steering.supports("push") and eye_distance(body, tool) > BENT_ARM_M

    def restart(self) -> None:
        """Discards the progress of `strike`, after the tool was lost."""
        return


def tool_tilt(body: Body, tool: Thing, height: float = CARRY_HEIGHT_M) -> float:
    """The pitch change that brings a held tool to this height."""
    return max(pitch_for_height(height, body, eye_distance(body, tool)), LOWEST_TOOL_PITCH_RAD) - body.pitch


class TouchWithExpert(UseToolExpert):
    """Walks up until its arm is long enough, points the tool at the other thing, and stretches out its arm."""

    _reach_steps = 0

    def restart(self) -> None:
        self._reach_steps = 0

    def strike(self, facts: HouseFacts, body: Body, tool: Thing, other: Thing) -> Movement:
        point = striking_point(body, other)
        within = _arm_range(body, tool, other, point)
        distance = distance_in_room(facts, other.room, lambda position: math.dist(position, point[:2]))
        if distance(body.position) > within and not self._reach_steps:
            tilt = tool_tilt(body, tool)
            walk = self._walker.towards(facts, other.xy, distance, within, pitch=tilt, grasp=True)
            return self.drawing_in(walk, body, tool)
        return self._reach(body, tool, point)

    def _reach(self, body: Body, tool: Thing, point: XYZ) -> Movement:
        turn = predicates.bearing(body, point[:2])
        tilt = math.atan2(point[2] - body.eye_height, math.dist(body.position, point[:2])) - body.pitch
        aimed = abs(turn) <= TOOL_AIM_RAD and abs(tilt) <= TOOL_AIM_RAD
        if not self._reach_steps and (not aimed or self.can_bend(body, tool)):
            movement = self._steering.hold(yaw=turn, pitch=tilt, grasp=True, max_turn=self.max_turn)
            return self.drawing_in(movement, body, tool)
        self._reach_steps += 1
        walks = not self._steering.supports("push") or self._reach_steps > REACH_PATIENCE_STEPS
        if self._reach_steps > 2 * REACH_PATIENCE_STEPS:
            self._reach_steps = 0
        push, forward = (0, 1) if walks else (1, 0)
        return self._steering.hold(forward=forward, yaw=turn, pitch=tilt, grasp=True, push=push)


def _arm_range(body: Body, tool: Thing, other: Thing, point: XYZ) -> float:
    """Distance along the floor from the point within which the arm reaches it."""
    arm = FULL_ARM_M + 0.7 * (mean_half_extent(tool) + (0.0 if other.furniture else mean_half_extent(other)))
    return math.sqrt(max(arm**2 - (body.eye_height - point[2]) ** 2, MIN_DISTANCE_M**2))


class PushWithExpert(UseToolExpert):
    """Goes to where the way to the other is clear, lowers the tool to the other's height, and walks."""

    _path: PushPath | None = None
    _arrived = False
    _running_steps = _stretches = _retreats = 0

    def restart(self) -> None:
        self._path, self._arrived = None, False
        self._running_steps = self._stretches = self._retreats = 0

    def strike(self, facts: HouseFacts, body: Body, tool: Thing, other: Thing) -> Movement:
        if self._path is None or math.dist(self._path.through, other.xy) > REPLAN_DISTANCE_M:
            self.restart()
            self._path = self.plan(facts, tool, other)
        if self._arrived:
            return self._run(body, tool, other, striking_point(body, other))
        start = self._path.start
        self._arrived = math.dist(body.position, start) <= START_RADIUS_M
        tilt = tool_tilt(body, tool)
        walk = self._walker.to(facts, start, START_RADIUS_M, pitch=tilt, grasp=True)
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
        if self._running_steps > TOOL_RUN_STEPS:
            self.restart()
        return self._steering.hold(forward=1, yaw=turn, pitch=tilt, grasp=True)

    def _prepare(self, body: Body, tool: Thing, other: Thing, point: XYZ, tilt: float) -> Movement | None:
        """Turns to the other, stretches out the arm and lowers it; None once ready to run."""
        turn, arm = predicates.bearing(body, point[:2]), eye_distance(body, tool)
        if abs(turn) > STRETCHING_AIM_RAD:
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


class HitExpert(PushWithExpert):
    """A run at the other thing, which need not move, and may stand on furniture or be furniture."""

    def __init__(self, task: UseTool, world: World) -> None:
        super().__init__(task, world)
        self._failed_starts: list[XY] = []

    def plan(self, facts: HouseFacts, tool: Thing, other: Thing) -> PushPath:
        here = facts.bodies[self.role].position
        starts = striking_spots(facts, self.role, tool, other)
        failed = self._failed_starts
        untried = [spot for spot in starts if all(math.dist(spot, each) > NEW_START_DISTANCE_M for each in failed)]
        if not untried:
            failed.clear()
        start = min(untried or starts or [here], key=lambda spot: predicates.route_length(facts, here, spot))
        failed.append(start)
        return PushPath(start, other.xy)
