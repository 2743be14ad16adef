"""Putting things down: at places that a task accepts, and stacked or laid out in a shape."""

from __future__ import annotations

import math
from dataclasses import replace

from interplay.env.playhouse.control.place_skill import PlaceSkill
from interplay.env.playhouse.house.catalog import BIN
from interplay.env.playhouse.physics.hand import MIN_CARRY_M
from interplay.env.playhouse.planning.layouts import ArrangementPlan
from interplay.env.playhouse.planning.navigation import PRICE_OF_OBJECT
from interplay.env.playhouse.planning.placement import Placement, reachable_placements, standing_here_or_near
from interplay.env.playhouse.planning.reach import PUSH_M, hand_distance
from interplay.env.playhouse.planning.stacks import Stack
from interplay.env.playhouse.tasks.instructions.arrangement import Arrangement
from interplay.env.playhouse.tasks.instructions.place_objects import PlaceObjects
from interplay.env.playhouse.truth import predicates
from interplay.env.playhouse.truth.facts import Body, HouseFacts, Thing
from interplay.env.world import Movement, World

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

    def __init__(self, task: PlaceObjects, world: World) -> None:
        super().__init__(task, world)
        self._placement: Placement | None = None
        self._placements = 0  # tried so far
        self._held_steps = 0  # with this thing in hand and this placement
        self._settling_steps = RELEASE_SETTLING_STEPS
        self._done_steps = 0
        self._rise_to = 0.0  # height to which a thing is lifted straight up
        self._chosen: int | None = None  # the thing that it set out to fetch

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

    def __init__(self, task: Arrangement, world: World) -> None:
        super().__init__(task, world)
        self._plan: Stack | ArrangementPlan | None = None
        self._placement: Placement | None = None
        self._was_holding = False  # in the step before
        self._in_place = IN_PLACE_M
        self._idle_steps = 0
        self._rounds = 0

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
