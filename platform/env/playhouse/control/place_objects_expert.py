"""Brings things to where they belong, one after another."""

from __future__ import annotations

import math

from interplay.env.playhouse.control.place_skill import PlaceSkill, stretched
from interplay.env.playhouse.house.catalog import BIN
from interplay.env.playhouse.planning.navigation import PRICE_OF_OBJECT
from interplay.env.playhouse.planning.placement import Placement, reachable_placements
from interplay.env.playhouse.tasks.instructions.place_objects import PlaceObjects
from interplay.env.playhouse.truth import predicates
from interplay.env.playhouse.truth.facts import Body, HouseFacts, Thing
from interplay.env.world import Movement, WorldSpec

WAIT = 6  # steps for what was let go to come to rest
STANDS = 3  # steps for which all has to stay done
LONG_WALK, PATIENCE = 90, 40  # steps on the way and before a place, after which another place is tried
OUT_OF_BIN = 0.45  # meters straight up, before what was in a bin is carried off


class PlaceObjectsExpert(PlaceSkill):
    """Fetches one thing after another and puts each where it belongs, until enough are there."""

    def __init__(self, task: PlaceObjects, spec: WorldSpec) -> None:
        super().__init__(task, spec)
        self._task = task
        self._landing: Placement | None = None
        self._tries = 0  # landings tried
        self._held = 0  # steps with the present thing in hand
        self._waited = WAIT
        self._stands = 0  # steps for which all has been done
        self._rise = 0.0  # meters, up to which what is taken is lifted straight up
        self._meant: int | None = None  # what it set out to fetch

    def next_movement(self, facts: HouseFacts) -> Movement | None:
        body = facts.bodies[self.role]
        if self._task.is_done(facts):
            self._stands += 1  # what was put down may still fall over
            return None if self._stands > STANDS else self._steering.hold(grasp=body.holding is not None)
        self._stands = 0
        if body.holding is None and self._waited < WAIT and not predicates.settled(facts):
            self._waited += 1
            return self._steering.hold()
        thing = self._next(facts, body)
        if thing is None:
            return None
        if (movement := self.fetch(facts, thing)) is not None:
            self._landing, self._held = None, 0
            boxes = (other for other in facts.things if other.category == BIN)
            deep = any(predicates.inside(thing, box) for box in boxes)
            self._rise = thing.position[2] + OUT_OF_BIN if deep else 0.0
            return movement
        return self._bring(facts, body, thing)

    def _next(self, facts: HouseFacts, body: Body) -> Thing | None:
        """What it holds, if that is to be moved; else what it set out for; else the first that is not there yet."""
        counted = [facts.things[i] for i in self._task.candidates]
        held = next((thing for thing in counted if thing.index == body.holding), None)
        if held is not None:
            return held
        left = [thing for thing in counted if not self._task.is_placed(facts, thing)]
        left = [thing for thing in left if self._task.placements(facts, thing)] or left  # what has a place to go to
        meant = next((thing for thing in left if thing.index == self._meant), None)
        chosen = meant or min(left, key=lambda thing: self._task.rank(facts, thing), default=None)
        self._meant = None if chosen is None else chosen.index
        return chosen

    def _bring(self, facts: HouseFacts, body: Body, thing: Thing) -> Movement | None:
        self._held += 1
        if thing.position[2] < self._rise and self._held <= 5:
            return self._straight_up(body, thing)
        if self._landing is None or self._held > (PATIENCE if self._arrived else LONG_WALK):
            places = self._task.placements(facts, thing)
            options = reachable_placements(facts, self.role, thing, places)
            options = options or reachable_placements(
                facts, self.role, thing, places, PRICE_OF_OBJECT
            )  # pushing it aside
            if not options:
                return self._steering.hold(grasp=True) if self._held <= LONG_WALK else None
            self._landing = options[self._tries % len(options)]
            self._held = 1
            self._tries += 1
            self.set_out()
        on_the_way = not self._arrived
        if (movement := self.carry(facts, thing, self._landing)) is not None:
            if on_the_way and self._arrived:
                self._held = 1
            return movement
        self._waited, self._landing = 0, None
        return self._steering.hold()

    def _straight_up(self, body: Body, thing: Thing) -> Movement:
        """Closer and upwards in such measure that it goes neither to nor fro."""
        away = math.dist(body.position, thing.xy)
        shorter = max(stretched(body, thing) - 0.16, 0.6)
        pitch = -math.acos(min(away / shorter, 1.0))
        return self._steering.hold(pitch=pitch - body.pitch, push=-1, grasp=True)
