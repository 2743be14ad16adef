"""Putting things down: at places that a task accepts, and stacked or laid out in a shape; and handing a thing over: the
solver holds it out, the setter takes it."""

from __future__ import annotations

import math
from dataclasses import replace

from interplay.env.playhouse.control.place_skill import PlaceSkill
from interplay.env.playhouse.control.skills import (
    CALM_TURN_RAD,
    CARRY_HEIGHT_M,
    CARRY_PITCH_RAD,
    MAX_TURN_RAD,
    STEP_PITCH_RAD,
    Skills,
    Steering,
)
from interplay.env.playhouse.house.catalog import BIN
from interplay.env.playhouse.physics.hand import MIN_CARRY_M, is_offered
from interplay.env.playhouse.planning.layouts import ArrangementPlan
from interplay.env.playhouse.planning.navigation import PRICE_OF_OBJECT, distance_in_room
from interplay.env.playhouse.planning.placement import Placement, reachable_placements, standing_here_or_near
from interplay.env.playhouse.planning.reach import PUSH_M, eye_distance, hand_distance, pitch_for_height
from interplay.env.playhouse.planning.stacks import Stack
from interplay.env.playhouse.tasks.instructions.arrangement import Arrangement
from interplay.env.playhouse.tasks.instructions.bring_and_reposition import HandOver
from interplay.env.playhouse.tasks.instructions.object_instruction import PlaceObjects
from interplay.env.playhouse.tasks.instructions.put import Position
from interplay.env.playhouse.truth import predicates
from interplay.env.playhouse.truth.facts import Body, HouseFacts, Thing
from interplay.env.task import Expert
from interplay.env.world import Action, Movement, World

RELEASE_SETTLING_STEPS = 6  # to wait for a released thing to come to rest
DONE_STEPS = 3  # for which the task has to stay done
WALK_PATIENCE_STEPS, PLACE_PATIENCE_STEPS = 90, 40  # on the way and before a place; then another one is tried
OUT_OF_BIN_M = 0.45  # straight up, before a thing is carried off from a bin
OUT_OF_BIN_STEPS = 5

IN_PLACE_M = 0.1  # off its spot, at most, of a thing that need not be moved again
EXACT_M = 0.04  # the same, once everything is in place and the task is not yet done
ARRANGEMENT_SETTLING_STEPS = 5  # to wait for a thing that was put down to come to rest
MAX_ROUNDS = 3  # of planning, if everything is in place and the task is not yet done


class PlaceObjectsExpert(PlaceSkill[PlaceObjects]):
    """Fetches one thing after another and puts each in its place, until enough are there."""

    _placement: Placement | None = None
    _placements = 0  # tried so far
    _held_steps = 0  # with this thing in hand and this placement
    _settling_steps = RELEASE_SETTLING_STEPS
    _done_steps = 0
    _rise_to = 0.0  # height to which a thing is lifted straight up
    _chosen: int | None = None  # the thing that it set out to fetch

    def next_movement(self, facts: HouseFacts) -> Movement | None:
        body = facts.bodies[self.role]
        if self._task.is_done(facts):
            self._done_steps += 1  # a thing that was put down may still fall over
            return None if self._done_steps > DONE_STEPS else self._steering.hold(grasp=body.holding is not None)
        self._done_steps = 0
        if body.holding is None and self._settling_steps < RELEASE_SETTLING_STEPS and not predicates.settled(facts):
            self._settling_steps += 1
            return self._steering.hold()
        thing = self._next_thing(facts, body)
        if thing is None:
            return None
        if (movement := self.fetch(facts, thing)) is not None:
            self._placement, self._held_steps = None, 0
            in_bin = any(predicates.inside(thing, other) for other in facts.things if other.category == BIN)
            self._rise_to = thing.position[2] + OUT_OF_BIN_M if in_bin else 0.0
            return movement
        return self._bring(facts, body, thing)

    def _next_thing(self, facts: HouseFacts, body: Body) -> Thing | None:
        """The held thing if it counts; else the one that it set out to fetch; else the first that is not there yet."""
        counted = [facts.things[i] for i in self._task.candidates]
        held = next((thing for thing in counted if thing.index == body.holding), None)
        if held is not None:
            return held
        pending = [thing for thing in counted if not self._task.is_placed(facts, thing)]
        pending = [thing for thing in pending if self._task.placements(facts, thing)] or pending
        chosen = next((thing for thing in pending if thing.index == self._chosen), None)
        chosen = chosen or min(pending, key=lambda thing: self._task.rank(facts, thing), default=None)
        self._chosen = None if chosen is None else chosen.index
        return chosen

    def _bring(self, facts: HouseFacts, body: Body, thing: Thing) -> Movement | None:
        self._held_steps += 1
        if thing.position[2] < self._rise_to and self._held_steps <= OUT_OF_BIN_STEPS:
            return self._straight_up(body, thing)
        had_arrived = self._placing.arrived
        patience = PLACE_PATIENCE_STEPS if had_arrived else WALK_PATIENCE_STEPS
        if self._placement is None or self._held_steps > patience:
            places = self._task.placements(facts, thing)
            options = reachable_placements(facts, self.role, thing, places)
            # If no ground is clear, the solver pushes loose things aside.
            options = options or reachable_placements(facts, self.role, thing, places, PRICE_OF_OBJECT)
            if not options:
                return self._steering.hold(grasp=True) if self._held_steps <= WALK_PATIENCE_STEPS else None
            self._placement = options[self._placements % len(options)]
            self._held_steps = 1
            self._placements += 1
            self.start_placing()
            had_arrived = False
        if (movement := self.place(facts, thing, self._placement)) is not None:
            if self._placing.arrived and not had_arrived:
                self._held_steps = 1
            return movement
        self._settling_steps, self._placement = 0, None
        return self._steering.hold()

    def _straight_up(self, body: Body, thing: Thing) -> Movement:
        """Pulls and pitches in proportion, so that the thing moves neither towards the body nor away from it."""
        away = math.dist(body.position, thing.xy)
        distance = max(hand_distance(body, thing) - PUSH_M, MIN_CARRY_M)
        pitch = -math.acos(min(away / distance, 1.0))
        return self._steering.hold(pitch=pitch - body.pitch, push=-1, grasp=True)


class ArrangeExpert(PlaceSkill[Arrangement]):
    """Plans which thing goes where, and carries one after the other."""

    _plan: Stack | ArrangementPlan | None = None
    _placement: Placement | None = None
    _was_holding = False  # in the step before
    _in_place = IN_PLACE_M
    _idle_steps = 0
    _rounds = 0

    def next_movement(self, facts: HouseFacts) -> Movement | None:
        if (movement := self.step_back(facts)) is not None:
            return movement
        if self._task.is_done(facts):
            return None
        holding = facts.bodies[self.role].holding
        emptied, self._was_holding = self._was_holding and holding is None, holding is not None
        if self._plan is None or (emptied and isinstance(self._plan, Stack)) or self._plan.is_obstructed(facts):
            self._plan = self._task.plan(facts)
        following = None if self._plan is None else self._plan.next(facts, self._in_place)
        if following is None:
            return self._settle()
        self._idle_steps = 0
        return self._bring(facts, *following)

    def _bring(self, facts: HouseFacts, index: int, placement: Placement) -> Movement:
        thing = facts.things[index]
        if (movement := self.fetch(facts, thing)) is not None:
            self._placement = None
            return movement
        if self._placement is None or math.dist(placement.spot, self._placement.spot) > EXACT_M:
            self._placement = standing_here_or_near(facts, self.role, thing, placement)
            self.start_placing(arrived=self._placement.stand == facts.bodies[self.role].position)
        placement = replace(placement, stand=self._placement.stand)
        movement = self.place(facts, thing, placement)
        return self.release(thing) if movement is None else movement

    def _settle(self) -> Movement | None:
        """With nothing left to carry: waits until things rest, plans again with a lower tolerance, finally gives up."""
        self._idle_steps += 1
        if self._idle_steps > ARRANGEMENT_SETTLING_STEPS:
            self._idle_steps, self._plan, self._in_place = 0, None, EXACT_M
            self._rounds += 1
        return self._steering.hold() if self._rounds < MAX_ROUNDS else None


RELEASE_GAP_M = 0.42  # from edge to edge, at which a carried thing is close enough to be released
LOWERING_GAP_M = 0.52  # the same, once lowering has begun
LANDS_ON_GAP_M = 0.05  # from edge to edge, at which the thing would land on top of the other
MAX_RELEASE_HEIGHT_M = 0.12
MAX_LOWERING_STEPS = 4
OBSTACLE_AIM_RAD = math.radians(40)


class PositionExpert(Skills[Position]):
    """Carries one thing to another and releases it there, for players that can neither push, pull nor strafe.

    With those movements, `PlaceObjectsExpert` does the same more precisely.
    """

    max_turn = MAX_TURN_RAD  # the ways are long
    _lowering_steps = 0
    _was_held = False

    def next_movement(self, facts: HouseFacts) -> Movement | None:
        thing, other = self._task.thing(facts), facts.things[self._task.other]
        body = facts.bodies[self.role]
        if self._task.is_done(facts):
            return None
        lost = self._was_held and body.holding is None  # knocked out of the hand in a turn
        if lost and (movement := self._search.look_around(body, other)) is not None:
            return movement
        if (movement := self.fetch(facts, thing)) is not None:
            return movement
        self._was_held = True
        return self._carry(facts, thing, other)

    def _carry(self, facts: HouseFacts, thing: Thing, other: Thing) -> Movement:
        """With the thing in hand: raises it, walks until it is next to the other, lowers and releases it."""
        body = facts.bodies[self.role]
        near = predicates.gap(thing, other) <= (LOWERING_GAP_M if self._lowering_steps else RELEASE_GAP_M)
        if near and predicates.same_room(thing.room, other.room):
            return self._put_down(thing, other)
        self._lowering_steps = 0
        pitch = pitch_for_height(CARRY_HEIGHT_M, body, eye_distance(body, thing)) - body.pitch
        if (movement := self._search.look_around(body, other, pitch=pitch, grasp=True)) is not None:
            return movement
        distance = distance_in_room(facts, other.room, lambda point: predicates.edge_distance(point, other))
        within = max(math.dist(body.position, thing.xy) + thing.radius + RELEASE_GAP_M - 0.25, 0.3)
        if distance(body.position) <= within - 0.3 and predicates.in_front(body, other.xy, OBSTACLE_AIM_RAD):
            return self._put_down(thing, other)  # an obstacle holds it up
        return self._walker.towards(facts, other.xy, distance, within, pitch=pitch, grasp=True)

    def _put_down(self, thing: Thing, other: Thing) -> Movement:
        """Lowers and releases the thing; steps back first if it would land on top of the other, or lies there."""
        over = predicates.edge_distance(thing.xy, other) == 0.0
        low = predicates.bottom(thing) <= MAX_RELEASE_HEIGHT_M and not over
        self._lowering_steps += 1
        if not low and self._lowering_steps <= MAX_LOWERING_STEPS:
            return self._steering.hold(pitch=-STEP_PITCH_RAD, grasp=True)
        if not low and predicates.gap(thing, other) <= LANDS_ON_GAP_M:
            return self._steering.hold(forward=-1, yaw=MAX_TURN_RAD, grasp=True)
        self._lowering_steps = 0
        return self._steering.hold()


FACING_DISTANCES_M = (1.3, 1.45)  # from the setter to the solver in front of it
HOLD_OUT_HEIGHT_M = 1.0
DIRECTIONS_FROM_SETTER = 12  # directions from the setter in which the solver may stand
HOLD_OUT_PATIENCE_STEPS = 12  # then the thing is held out from elsewhere
HOLD_OUT_AIM_RAD = math.radians(8)  # off the setter, at most

SETTER_PITCH_RAD = math.radians(-15)  # while looking at the solver and at the thing in its hand
SOLVER_AIM_RAD = math.radians(10)


class HandOverExpert(PlaceSkill[HandOver]):
    """Fetches a thing, walks up to the setter, and holds it out until it is taken."""

    _placement: Placement | None = None  # where it stands to hold the thing out
    _placements = 0  # tried so far
    _waited_steps = 0

    def next_movement(self, facts: HouseFacts) -> Movement | None:
        if self._task.is_done(facts):
            return None
        thing = self._task.thing(facts)
        if (movement := self.fetch(facts, thing)) is not None:
            return movement
        body, setter = facts.bodies[self.role], facts.bodies[self._task.setter]
        if (movement := self.draw_in(body, thing, CARRY_PITCH_RAD)) is not None:
            return movement
        if self._placement is None or self._waited_steps > HOLD_OUT_PATIENCE_STEPS:
            angles = [math.tau * k / DIRECTIONS_FROM_SETTER for k in range(DIRECTIONS_FROM_SETTER)]
            before = Placement(setter.position, HOLD_OUT_HEIGHT_M, setter.room, stand_distances=FACING_DISTANCES_M)
            sides = [replace(before, approach_angle=angle) for angle in angles]
            options = reachable_placements(facts, self.role, thing, sides)
            if not options:
                return self._steering.hold(grasp=True)
            self._placement, self._waited_steps = options[self._placements % len(options)], 0
            self._placements += 1
        tilt = CARRY_PITCH_RAD - body.pitch
        if (movement := self.walk_to_stand(facts, body, self._placement, tilt)) is not None:
            return movement
        self._waited_steps += 1
        turn = predicates.bearing(body, setter.position)
        return self._steering.hold(yaw=turn if abs(turn) > HOLD_OUT_AIM_RAD else 0.0, pitch=tilt, grasp=True)


class ReceiveExpert(Expert):
    """Turns to the solver, and takes the thing once it is held out within reach."""

    def __init__(self, task: HandOver, world: World) -> None:
        self._task = task
        self._steering = Steering(world.spec)

    def act(self, world: World) -> Action:
        facts: HouseFacts = world.facts()
        body, other = facts.bodies[self._task.setter], facts.bodies[self._task.solver]
        thing = self._task.thing(facts)
        if body.holding == thing.index:
            self.finished = True
            return Action(self._steering.hold(grasp=True))
        away = math.hypot(math.dist(body.position, thing.xy), body.eye_height - thing.position[2])
        offered = thing.held_by == self._task.solver and is_offered(other.position, other.yaw, body.position)
        if offered and away <= body.reach:
            if body.looking_at == thing.index:
                return Action(self._steering.hold(grasp=True))
            turn = predicates.bearing(body, thing.xy)
            return Action(self._steering.hold(yaw=turn, pitch=predicates.elevation(body, thing) - body.pitch))
        if not predicates.same_room(body.room, other.room):
            return Action(self._steering.hold())
        turn, pitch = predicates.bearing(body, other.position), SETTER_PITCH_RAD - body.pitch
        yaw = turn if abs(turn) > SOLVER_AIM_RAD else 0.0
        return Action(self._steering.hold(yaw=yaw, pitch=pitch, max_turn=CALM_TURN_RAD))
