"""The skills of who carries a thing through the house and puts it down just where it belongs.

What is carried is drawn close, so that turning round never leaves it behind a wall or a wardrobe. To put it down, the
arm is stretched out or drawn in by the same 16 cm a step as any player's, so one tries from where one stands which
length of the arm and which gaze bring the thing nearest to its place, and takes a step where none does.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from interplay.env.playhouse.control.skills import Skills, within_its_room
from interplay.env.playhouse.control.steering import MAX_TURN_RAD
from interplay.env.playhouse.physics.hand import EYE_HEIGHT_M, MAX_CARRY_M, MIN_CARRY_M, PUSH_M_PER_FRAME
from interplay.env.playhouse.planning.navigation import Ground
from interplay.env.playhouse.planning.placement import Placement, reachable_placements
from interplay.env.playhouse.tasks.instructions.object_instruction import ObjectInstruction
from interplay.env.playhouse.truth import predicates
from interplay.env.playhouse.truth.facts import XY, XYZ, Body, HouseFacts, Thing
from interplay.env.world import Movement, WorldSpec

NEAR_BY = 3.0  # meters from a thing within which one should soon have it
HERE = 16  # steps so near, after which one tries from elsewhere
VANTAGE = (0.8, 1.1)  # meters from it
ASIDE = (60, -60, 100, -100, 140, -140, 180)  # degrees round it
CLOSE = 0.95  # meters from the eye to what is carried, at most
CARRYING_PITCH = math.radians(-25)  # of the gaze, and so of what is carried
CARRIED = EYE_HEIGHT_M - 0.25  # meters above the floor of what is carried close before one, about
LIFT_PITCH = math.radians(12.5)  # a step, while it is drawn in
ARRIVED = 0.35  # meters from where one means to stand
ABOVE = 0.1  # meters over its place, from which a thing is lowered
TOUCHES = 0.02  # meters over its place, at most, of what has come down there
CONTACT = 0.04  # meters farther off than it was to be, at which such a thing is let go
TRIED = 7  # steps after which what was meant to come nearer is taken to be as near as it comes
PITCHES = np.radians(np.arange(-75.0, 31.0, 1.0))
STRIDE, SIDESTEP = 0.53, 0.4  # meters that a step takes one, drift and all


class PlaceSkill(Skills):
    """Carries things and puts them down."""

    def __init__(self, task: ObjectInstruction, spec: WorldSpec) -> None:
        super().__init__(task, spec, MAX_TURN_RAD)  # its ways are long
        self._tried = 0  # steps close to what is to be fetched, or on the way to its other side
        self._vantage: Placement | None = None  # from where it is tried next
        self._sides = 0  # of it that were tried
        self._stage = 0  # of putting down: stepping up, then one for each waypoint
        self._steps = 0  # spent on it
        self._shifts = 0  # steps taken aside in order to reach
        self._lifts = 0  # times that it was raised again because it had come down beside its place
        self._arrived = False
        self._at: XY | None = None  # where it stood before
        self._was: XYZ | None = None  # where the thing was before

    def fetch(self, facts: HouseFacts, thing: Thing) -> Movement | None:
        """Takes a thing into the hand; where that fails from one side, tries from another."""
        body = facts.bodies[self.role]
        if body.holding is not None:
            self._tried, self._vantage = 0, None
            return super().fetch(facts, thing)
        close = predicates.same_room(body.room, thing.room) and math.dist(body.position, thing.xy) < NEAR_BY
        self._tried += close
        if self._vantage is None and self._tried > HERE:
            self._vantage, self._tried = self._other_side(facts, body, thing), 0
        if self._vantage is not None:
            if self._tried <= HERE and (movement := self.walk_to(facts, body, self._vantage, 0.0, False)) is not None:
                return movement
            self._tried, self._vantage, self._hidden = 0, None, 0
        return super().fetch(facts, thing)

    def _other_side(self, facts: HouseFacts, body: Body, thing: Thing) -> Placement | None:
        """A place to reach a thing from, clearly to the side of where one stands."""
        here = math.atan2(body.position[1] - thing.xy[1], body.position[0] - thing.xy[0])
        low = predicates.bottom(thing)
        around = [
            Placement(thing.xy, low, thing.room, 0.0, approach_angle=here + turn, ring=VANTAGE)
            for turn in np.radians(ASIDE).tolist()
        ]
        options = reachable_placements(facts, self.role, thing, around)
        self._sides += 1
        return options[self._sides % len(options)] if options else None

    def set_out(self) -> None:
        """Forgets how far the last putting down had come."""
        self._stage, self._steps, self._shifts, self._lifts, self._arrived = 0, 0, 0, 0, False

    def carry(self, facts: HouseFacts, thing: Thing, landing: Placement) -> Movement | None:
        """With the thing in hand: brings it to a landing; None where it should be let go now."""
        body = facts.bodies[self.role]
        still = self._at is not None and math.dist(self._at, body.position) < 0.03
        self._at = body.position
        calm = self._was is not None and math.dist(self._was, thing.position) < 0.03
        self._was = thing.position
        pitch = carrying_pitch(thing, landing)
        if not self._arrived:
            if (movement := self.draw_in(body, thing, pitch)) is not None:
                return movement
            if (movement := self.walk_to(facts, body, landing, pitch - body.pitch)) is not None:
                return movement
            self._arrived = True
        turn = predicates.bearing(body, landing.spot)
        if self._stage == 0 and (abs(turn) > math.radians(15) or not still):
            return self._steering.hold(yaw=turn, pitch=pitch - body.pitch, grasp=True)
        if self._stage == 0 and (shift := self._shift(facts, body, thing, landing)) is not None:
            return shift
        return self._lower(body, thing, landing, turn, calm)

    def draw_in(self, body: Body, thing: Thing, pitch: float) -> Movement | None:
        """Close and to the height at which it is carried."""
        off = pitch - body.pitch
        far = stretched(body, thing) > CLOSE + 0.08
        if not far and abs(off) < math.radians(4):
            return None
        return self._steering.hold(pitch=min(max(off, -LIFT_PITCH), LIFT_PITCH), grasp=True, push=-1 if far else 0)

    def walk_to(
        self, facts: HouseFacts, body: Body, landing: Placement, pitch: float, grasp: bool = True
    ) -> Movement | None:
        """To where one stands to put something down there; `pitch`: radians to pitch by meanwhile."""
        if math.dist(body.position, landing.stand) <= ARRIVED and predicates.same_room(body.room, landing.room):
            return None
        goal = standing_for(landing.stand, landing.room)
        distance = within_its_room(facts, goal, lambda point: math.dist(point, landing.stand))
        return self._walker.step(facts, goal, distance, ARRIVED, pitch=pitch, grasp=grasp)

    def _waypoints(self, thing: Thing, landing: Placement) -> list[tuple[float, float]]:
        """Of the thing's middle: meters short of the spot, and meters above the floor; the last is where it is let
        go."""
        middle = landing.height + landing.drop + thing.half_extents[2]
        if landing.slide_in:
            return [(landing.slide_in, CARRIED), (landing.slide_in, middle + 0.02), (0.0, middle + 0.02)]
        return [(0.0, middle + ABOVE), (0.0, middle)] if not landing.drop else [(0.0, middle)]

    def _shift(self, facts: HouseFacts, body: Body, thing: Thing, landing: Placement) -> Movement | None:
        """A step to where the arm reaches the spot better, if there is one; None where one stands well."""
        away = math.dist(body.position, landing.spot)
        arm = stretched(body, thing)
        waypoints = self._waypoints(thing, landing)

        def badness(away: float) -> float:
            return max(_plan(arm, away - short, middle, landing)[0] for short, middle in waypoints[-2:])

        here = badness(away)
        if here <= 1.0 or self._shifts >= 5:
            return None
        ground = Ground(facts, self.role, (thing.index,))
        options = []
        for forward, strafe in ((1, 0), (-1, 0), (0, 1), (0, -1)):
            there = _stepped(body, forward, strafe)
            way = np.linspace(body.position, there, 4)[1:]
            if (ground.price(way) > 0.0).any():
                continue
            options.append((badness(math.dist(there, landing.spot)), forward, strafe))
        best = min(options, default=(math.inf, 0, 0))
        if best[0] > here - 0.5:
            return None
        self._shifts += 1
        pitch = carrying_pitch(thing, landing) - body.pitch
        return self._steering.hold(forward=best[1], strafe=best[2], pitch=pitch, grasp=True)

    def _lower(self, body: Body, thing: Thing, landing: Placement, turn: float, calm: bool) -> Movement | None:
        """From waypoint to waypoint; None once it is where it is let go."""
        waypoints = self._waypoints(thing, landing)
        self._stage = max(self._stage, 1)
        short, middle = waypoints[self._stage - 1]
        away = math.dist(body.position, landing.spot) - short
        _, length, pitch = _plan(stretched(body, thing), away, middle, landing)
        self._steps += 1
        ahead = math.dist(body.position, thing.xy)
        off = abs(ahead - away) + abs(turn) * away
        high = thing.position[2] - middle
        last = self._stage == len(waypoints)
        low = high <= TOUCHES and last and not landing.drop and not landing.slide_in
        slack = CONTACT if low else 0.0  # what has touched down would tip over if it were moved
        there = off <= max(landing.off, 0.03) + slack and (
            -0.05 <= high <= (0.04 if last and not landing.drop else 0.15)
        )
        if low and not there and self._lifts < 2:
            self._stage, self._lifts = 1, self._lifts + 1
            return self._lower(body, thing, landing, turn, calm)
        if there and last and not calm and self._steps <= TRIED:
            return self._steering.hold(grasp=True)  # or it would fly on, or roll
        if there or self._steps > TRIED:
            self._steps = 0
            if last:
                return None
            self._stage += 1
            return self._lower(body, thing, landing, turn, calm)
        arm = stretched(body, thing)
        push = 0 if abs(length - arm) < 0.06 else int(math.copysign(1, length - arm))
        rising = middle - thing.position[2] > 0.08
        if rising and push > 0 and landing.slide_in == 0.0:
            push = 0  # first up, then out
        return self._steering.hold(yaw=turn, pitch=pitch - body.pitch, push=push, grasp=True)


def carrying_pitch(thing: Thing, landing: Placement) -> float:
    """At which a thing is carried: higher, where it goes up onto something."""
    middle = landing.height + landing.drop + thing.half_extents[2] + ABOVE
    return max(math.asin(min(max(middle - EYE_HEIGHT_M, -0.8), 0.4) / CLOSE), CARRYING_PITCH)


def stretched(body: Body, thing: Thing) -> float:
    """How far from the eye, along the gaze, what is held is held."""
    level = math.cos(body.pitch)
    dx, dy, dz = (
        thing.position[0] - body.position[0],
        thing.position[1] - body.position[1],
        thing.position[2] - body.eye_height,
    )
    along = (dx * math.cos(body.yaw) + dy * math.sin(body.yaw)) * level + dz * math.sin(body.pitch)
    return min(max(along, MIN_CARRY_M), MAX_CARRY_M)


def _plan(arm: float, away: float, middle: float, landing: Placement) -> tuple[float, float, float]:
    """How badly the best length of the arm and pitch miss a point so far `away` and so high, and these two.

    Up to a badness of 1 the thing lands well.
    """
    lengths = np.clip(arm + 8 * PUSH_M_PER_FRAME * np.arange(-8, 9), MIN_CARRY_M, MAX_CARRY_M)[:, None]
    aside = lengths * np.cos(PITCHES) - away
    above = EYE_HEIGHT_M + lengths * np.sin(PITCHES) - middle
    slack = 0.12 if landing.drop else 0.015
    badness: NDArray[np.float64] = (
        (aside / max(landing.off, 0.02)) ** 2
        + (np.where(above > 0, above / slack, above / 0.012)) ** 2
        + 0.02 * np.abs(lengths - arm) / 0.16
    )
    best = np.unravel_index(int(badness.argmin()), badness.shape)
    return float(badness[best]), float(lengths[best[0], 0]), float(PITCHES[best[1]])


def _stepped(body: Body, forward: int, strafe: int) -> XY:
    cos, sin = math.cos(body.yaw), math.sin(body.yaw)
    ahead, right = STRIDE * forward, SIDESTEP * strafe
    return body.position[0] + ahead * cos + right * sin, body.position[1] + ahead * sin - right * cos


_SPOT = Thing(-2, "", "", "", False, None, (0.0, 0.0, 0.0), 0.0, (0.0, 0.0, 0.0), True, None, frozenset())


def standing_for(spot: XY, room: str | None, height: float = 0.0) -> Thing:
    """A spot of the floor, for who can only walk to things."""
    return replace(_SPOT, position=(*spot, height), room=room)
