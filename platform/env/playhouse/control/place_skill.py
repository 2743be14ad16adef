"""Carrying a thing through the house and putting it down exactly where it belongs.

A held thing is on the line of sight; pushing and pulling change its distance from the eye by 16 cm per step. Three
numbers therefore determine its position: the body's distance from the place, the hand's distance from the eye, and the
pitch. A thing is carried close to the body, because it would otherwise get caught behind walls and wardrobes in a turn.
Before the place, the solver searches for the hand distance and the pitch that bring the thing nearest to it, and takes
a step if none is good.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from interplay.env.playhouse.control.skills import CARRY_PITCH_RAD, MAX_TURN_RAD, STEP_PITCH_RAD, Skills, TaskT
from interplay.env.playhouse.physics.model import EYE_HEIGHT_M
from interplay.env.playhouse.planning.navigation import Ground
from interplay.env.playhouse.planning.placement import Placement, reachable_placements
from interplay.env.playhouse.planning.reach import best_arm, free_steps, hand_distance, pitch_for_height
from interplay.env.playhouse.truth import predicates
from interplay.env.playhouse.truth.facts import XY, XYZ, Body, HouseFacts, Thing
from interplay.env.world import Movement, World

FETCH_RADIUS_M = 3.0  # around a thing, within which the steps to fetch it are counted
FETCH_PATIENCE_STEPS = 16  # within that radius; then it is fetched from another side
VANTAGE_DISTANCES_M = (0.8, 1.1)
VANTAGE_ANGLES_DEG = (60, -60, 100, -100, 140, -140, 180)  # around the thing, off the present direction
CARRY_DISTANCE_M = 0.95  # from the eye to a carried thing, at most
CARRY_SLACK_M = 0.08
CARRY_PITCH_SLACK_RAD = math.radians(4)
SLIDE_HEIGHT_M = EYE_HEIGHT_M - 0.25  # of the middle of a thing that is held close and level
STAND_RADIUS_M = 0.35  # from the spot to stand at
HOVER_M = 0.1  # above its place, from where a thing is lowered
PITCH_AIM_RAD = math.radians(1.0)  # off the best pitch; the finest turn is 2 degrees
STILL_M = 0.03  # moved in a step by a body or a thing at rest
PLACING_AIM_RAD = math.radians(15)
TOUCHDOWN_M = 0.02  # above its place, at most, of a thing that rests there
TOUCHDOWN_SLACK_M = 0.04  # of tolerance, added for such a thing: moving it would tip it over
MIN_TOLERANCE_M = 0.03
LOWERING_PATIENCE_STEPS = 7  # for one waypoint; after that the thing comes no nearer
MAX_SIDE_STEPS, MAX_LIFTS, MAX_ROTATIONS = 5, 2, 8
SIDE_STEPS = ((1, 0), (-1, 0), (0, 1), (0, -1))  # forward, strafe
ROTATION_RAD = math.radians(36.7)  # by which one step of rotating turns a held thing
PUSH_SLACK_M = 0.06
RISING_M = 0.08  # a thing farther below its waypoint is raised before it is pushed out
STEP_BACK_M = 0.75  # from the edge of what was put down
STEP_BACK_CHECK_M = 0.4  # behind the body, required to be free


@dataclass
class PlacingProgress:
    """Progress of putting one thing down."""

    arrived: bool = False  # at the spot to stand at
    waypoint: int = 0  # 0 before lowering begins, then 1, 2, ...
    steps: int = 0  # spent on this waypoint
    side_steps: int = 0
    rotations: int = 0  # steps
    lifts: int = 0  # times that the thing came down off its place and was raised again


class PlaceSkill(Skills[TaskT]):
    """Carries things and puts them down."""

    max_turn = MAX_TURN_RAD  # the ways are long

    def __init__(self, task: TaskT, world: World) -> None:
        super().__init__(task, world)
        self._fetch_steps = 0  # near the thing to be fetched, or on the way to its other side
        self._vantage: Placement | None = None  # from where the thing is fetched next
        self._vantages = 0  # tried so far
        self._placing = PlacingProgress()
        self._last_position: XY = (math.inf, math.inf)  # of the body
        self._last_thing: XYZ = (math.inf, math.inf, math.inf)
        self._released: int | None = None  # the thing to step back from

    def fetch(self, facts: HouseFacts, thing: Thing) -> Movement | None:
        """Takes a thing into the hand; tries another side if that fails from one."""
        body = facts.bodies[self.role]
        if body.holding is not None:
            self._fetch_steps, self._vantage = 0, None
            return super().fetch(facts, thing)
        near = predicates.same_room(body.room, thing.room) and math.dist(body.position, thing.xy) < FETCH_RADIUS_M
        self._fetch_steps += near
        patient = self._fetch_steps <= FETCH_PATIENCE_STEPS
        if self._vantage is None and not patient:
            self._vantage, self._fetch_steps, patient = self._other_side(facts, body, thing), 0, True
        if self._vantage is not None:
            if patient and (movement := self.walk_to_stand(facts, body, self._vantage, 0.0, grasp=False)) is not None:
                return movement
            self._fetch_steps, self._vantage, self._hidden_steps = 0, None, 0
        return super().fetch(facts, thing)

    def _other_side(self, facts: HouseFacts, body: Body, thing: Thing) -> Placement | None:
        """Where to stand to reach a thing from another side than now."""
        here = math.atan2(body.position[1] - thing.xy[1], body.position[0] - thing.xy[0])
        height = predicates.bottom(thing)
        around = [
            Placement(thing.xy, height, thing.room, approach_angle=here + turn, stand_distances=VANTAGE_DISTANCES_M)
            for turn in np.radians(VANTAGE_ANGLES_DEG).tolist()
        ]
        options = reachable_placements(facts, self.role, thing, around)
        self._vantages += 1
        return options[self._vantages % len(options)] if options else None

    def place(self, facts: HouseFacts, thing: Thing, placement: Placement) -> Movement | None:
        """With the thing in hand: carries it to its place and lowers it there; None once it should be released.

        Call `start_placing` before the first step of each placement."""
        body, progress = facts.bodies[self.role], self._placing
        body_still = math.dist(self._last_position, body.position) < STILL_M
        thing_still = math.dist(self._last_thing, thing.position) < STILL_M
        self._last_position, self._last_thing = body.position, thing.position
        pitch = _carry_pitch(body, thing, placement)
        rotate = _rotation(thing, placement) if progress.rotations < MAX_ROTATIONS else 0
        progress.rotations += rotate != 0
        if not progress.arrived:
            movement = self.draw_in(body, thing, pitch)
            movement = self.walk_to_stand(facts, body, placement, pitch - body.pitch) if movement is None else movement
            if movement is not None:
                return self._steering.add(movement, rotate=rotate)
            progress.arrived = True
        turn = predicates.bearing(body, placement.spot)
        if progress.waypoint == 0:
            if abs(turn) > PLACING_AIM_RAD or not body_still or rotate:
                push = -int(abs(turn) > PLACING_AIM_RAD and _is_far(body, thing))
                return self._steering.hold(yaw=turn, pitch=pitch - body.pitch, grasp=True, push=push, rotate=rotate)
            if (movement := self._step_aside(facts, body, thing, placement)) is not None:
                return movement
        return self._lower(body, thing, placement, turn, thing_still)

    def start_placing(self, arrived: bool = False) -> None:
        """Forgets the progress of the last placement. `arrived`: the spot to stand at is right here."""
        self._placing = PlacingProgress(arrived)

    def release(self, thing: Thing) -> Movement:
        """Opens the hand; `step_back` then backs away from the thing."""
        self._released = thing.index
        return self._steering.hold()

    def step_back(self, facts: HouseFacts) -> Movement | None:
        """The next step away from the thing that was released last; None once far enough, or with no room behind."""
        if self._released is None:
            return None
        body, thing = facts.bodies[self.role], facts.things[self._released]
        x, y = body.position
        behind = (x - STEP_BACK_CHECK_M * math.cos(body.yaw), y - STEP_BACK_CHECK_M * math.sin(body.yaw))
        blocked = Ground(facts, self.role).price(np.array([behind]))[0] > 0.0
        if blocked or math.dist(body.position, thing.xy) > STEP_BACK_M + thing.radius:
            self._released = None
            return None
        return self._steering.hold(forward=-1, pitch=STEP_PITCH_RAD)

    def draw_in(self, body: Body, thing: Thing, pitch: float) -> Movement | None:
        """Brings a held thing close, and to the pitch at which it is carried."""
        tilt = pitch - body.pitch
        far = _is_far(body, thing)
        if not far and abs(tilt) < CARRY_PITCH_SLACK_RAD:
            return None
        tilt = min(max(tilt, -STEP_PITCH_RAD), STEP_PITCH_RAD)
        return self._steering.hold(pitch=tilt, grasp=True, push=-1 if far else 0)

    def walk_to_stand(
        self, facts: HouseFacts, body: Body, placement: Placement, pitch: float, *, grasp: bool = True
    ) -> Movement | None:
        """Walks to the spot to stand at for a placement; `pitch`: radians to pitch by in this step."""
        stand, room = placement.stand, placement.room
        if math.dist(body.position, stand) <= STAND_RADIUS_M and predicates.same_room(body.room, room):
            return None
        return self._walker.to(facts, stand, STAND_RADIUS_M, pitch=pitch, room=room, grasp=grasp)

    def _step_aside(self, facts: HouseFacts, body: Body, thing: Thing, placement: Placement) -> Movement | None:
        """A step to where the arm reaches the place better; None if the thing can be lowered from here."""
        distance, waypoints = hand_distance(body, thing), _waypoints(thing, placement)[-2:]

        def badness(away: float) -> float:
            return max(
                best_arm(distance, away - short, height, placement.tolerance, placement.height_tolerance)[0]
                for short, height in waypoints
            )

        here = badness(math.dist(body.position, placement.spot))
        if here <= 1.0 or self._placing.side_steps >= MAX_SIDE_STEPS:
            return None
        steps = free_steps(Ground(facts, self.role, (thing.index,)), body, SIDE_STEPS)
        options = [(badness(math.dist(end, placement.spot)), forward, strafe) for (forward, strafe), end in steps]
        best, forward, strafe = min(options, default=(math.inf, 0, 0))
        if best > here - 0.5:
            return None
        self._placing.side_steps += 1
        pitch = _carry_pitch(body, thing, placement) - body.pitch
        return self._steering.hold(forward=forward, strafe=strafe, pitch=pitch, grasp=True)

    def _lower(self, body: Body, thing: Thing, placement: Placement, turn: float, thing_still: bool) -> Movement | None:
        """Moves the thing from waypoint to waypoint; None once it should be released."""
        waypoints, progress = _waypoints(thing, placement), self._placing
        progress.waypoint = max(progress.waypoint, 1)
        short, height = waypoints[progress.waypoint - 1]
        last = progress.waypoint == len(waypoints)
        away = math.dist(body.position, placement.spot) - short
        progress.steps += 1
        above = thing.position[2] - height
        error = abs(math.dist(body.position, thing.xy) - away) + abs(turn) * away
        down = above <= TOUCHDOWN_M and last and not placement.drop and not placement.slide_in
        tolerance = max(placement.tolerance, MIN_TOLERANCE_M) + (TOUCHDOWN_SLACK_M if down else 0.0)
        there = error <= tolerance and -0.05 <= above <= (placement.height_tolerance + 0.025 if last else 0.15)
        if down and not there and progress.lifts < MAX_LIFTS:
            progress.waypoint, progress.lifts = 1, progress.lifts + 1
            return self._lower(body, thing, placement, turn, thing_still)
        now = hand_distance(body, thing)
        _, distance, pitch = best_arm(now, away, height, placement.tolerance, placement.height_tolerance)
        push = 0 if abs(distance - now) < PUSH_SLACK_M else int(math.copysign(1, distance - now))
        if -above > RISING_M and push > 0 and placement.slide_in == 0.0:
            push = 0  # first up, then out
        at_limit = progress.steps > 1 and thing_still and push == 0 and abs(pitch - body.pitch) < PITCH_AIM_RAD
        patient = progress.steps <= LOWERING_PATIENCE_STEPS and not at_limit
        if there and last and not thing_still and patient:
            return self._steering.hold(grasp=True)  # released in motion, it would fly or roll away
        if there or not patient:
            progress.steps = 0
            if last:
                return None
            progress.waypoint += 1
            return self._lower(body, thing, placement, turn, thing_still)
        return self._steering.hold(yaw=turn, pitch=pitch - body.pitch, push=push, grasp=True)


def _is_far(body: Body, thing: Thing) -> bool:
    """Whether a held thing is too far away to be carried around."""
    return hand_distance(body, thing) > CARRY_DISTANCE_M + CARRY_SLACK_M


def _carry_pitch(body: Body, thing: Thing, placement: Placement) -> float:
    """The pitch at which a thing is carried: higher if it goes up onto something."""
    height = placement.height + placement.drop + thing.half_extents[2] + HOVER_M
    return max(pitch_for_height(min(height, EYE_HEIGHT_M + 0.4), body, CARRY_DISTANCE_M), CARRY_PITCH_RAD)


def _rotation(thing: Thing, placement: Placement) -> int:
    """The rotation, -1, 0 or 1, that brings a thing's sides in line with `placement.yaw`, as far as whole steps of
    rotating can."""
    if placement.yaw is None:
        return 0
    off = math.remainder(placement.yaw - thing.yaw, math.pi / 2)
    return int(math.copysign(1, off)) if abs(off) > 0.6 * ROTATION_RAD else 0


def _waypoints(thing: Thing, placement: Placement) -> list[tuple[float, float]]:
    """Waypoints of the thing's middle: meters short of the spot, and above the floor; it is released at the last."""
    height = placement.height + placement.drop + thing.half_extents[2]
    if placement.slide_in:
        return [(placement.slide_in, SLIDE_HEIGHT_M), (placement.slide_in, height + 0.02), (0.0, height + 0.02)]
    return [(0.0, height)] if placement.drop else [(0.0, height + HOVER_M), (0.0, height)]
