"""The legs and neck of a scripted solver: walks up to a thing, around what is in the way, looking where it goes."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

from interplay.env.playhouse.control.steering import MAX_TURN_RAD, Steering
from interplay.env.playhouse.planning.navigation import Distance, Ground, doorway_crossing
from interplay.env.playhouse.truth import predicates
from interplay.env.playhouse.truth.facts import XY, Body, HouseFacts
from interplay.env.world import Movement

AHEAD = math.radians(28)  # off its way by more than this, a walker turns on the spot
ARRIVED = 0.35  # meters from a corner of the path at which the next one is taken
MOVED = 0.05  # meters: a walker that got less far in a step is stuck
TRUST = 3  # steps for which a way that was clear is not looked at again
STUCK = 2  # stuck steps in a row before it backs off
BACK_OFF = 2  # steps


class Goal(Protocol):
    """What one walks to: a thing, or a spot on the floor."""

    @property
    def xy(self) -> XY: ...


@dataclass(frozen=True)
class Spot:
    """A place on the floor, meters."""

    xy: XY


class Walker:
    """Walks one role, a step at a time, and remembers its path from one step to the next."""

    def __init__(self, role: str, steering: Steering) -> None:
        self._role = role
        self._steering = steering
        self._corners: list[XY] = []
        self._aim: XY = (math.inf, math.inf)  # where the straight way led that was last found clear
        self._trusted = 0  # steps for which it is still taken to be
        self._last: XY | None = None  # where it stood when it last set out forward
        self._stuck = 0
        self._backing = 0

    def step(
        self,
        facts: HouseFacts,
        thing: Goal,
        distance: Distance,
        within: float,
        *,
        pitch: float,
        grasp: bool,
        most: float = MAX_TURN_RAD,
        push: int = 0,
        rotate: int = 0,
    ) -> Movement:
        """One step towards where `distance` (of the body from `thing`) is at most `within`.

        `pitch`: radians to pitch by in this step; `grasp`: whether the hand stays closed; `most`: radians
        that it turns by; `push`, `rotate`: what the hand does to what it holds.
        """
        body = facts.bodies[self._role]
        if self._held_up(body):
            yaw = math.radians(25) if self._backing % 2 else 0.0
            return self._steering.hold(forward=-1, yaw=yaw, pitch=pitch, grasp=grasp, push=push, rotate=rotate)
        towards = self._next_corner(facts, body, thing, distance, within)
        turn = predicates.bearing(body, towards)
        forward = int(abs(turn) < AHEAD)
        self._last = body.position if forward else None
        return self._steering.hold(
            forward=forward, yaw=turn, pitch=pitch, grasp=grasp, most=most, push=push, rotate=rotate
        )

    def _held_up(self, body: Body) -> bool:
        """Is it backing away from something that it walked into?"""
        if self._backing:
            self._backing -= 1
            return self._backing > 0
        if self._last is not None and math.dist(self._last, body.position) < MOVED:
            self._stuck += 1
            if self._stuck >= STUCK:
                self._stuck, self._backing, self._last, self._corners = 0, BACK_OFF + 1, None, []
                self._trusted = 0
                return True
        elif self._last is not None:
            self._stuck = 0
        return False

    def _next_corner(self, facts: HouseFacts, body: Body, thing: Goal, distance: Distance, within: float) -> XY:
        """Straight for the thing where that is clear; else for the next doorway; else along a path around what is in
        the way, which is made anew once it is walked."""
        if self._trusted > 0 and math.dist(self._aim, thing.xy) < MOVED:
            self._trusted -= 1
            return thing.xy
        ground = Ground(facts, self._role, () if body.holding is None else (body.holding,))
        if ground.clear(body.position, thing.xy, distance, within):
            self._corners, self._aim, self._trusted = [], thing.xy, TRUST
            return thing.xy
        while self._corners and math.dist(body.position, self._corners[0]) < ARRIVED:
            del self._corners[0]
        if not self._corners:
            self._corners = self._plan(ground, body, thing, distance, within)
        return self._corners[0] if self._corners else thing.xy

    def _plan(self, ground: Ground, body: Body, thing: Goal, distance: Distance, within: float) -> list[XY]:
        """The corners of a way to the next doorway and through it, or to the thing where there is none between."""
        doorways = predicates.route(ground.facts, body.position, thing.xy)
        if not doorways:
            return ground.path(body.position, distance, within)
        before, beyond = doorway_crossing(doorways[0], ground.facts, body.position)

        def to_doorway(point: XY) -> float:
            return math.dist(point, before)

        if math.dist(body.position, before) < ARRIVED:
            return [beyond]
        if ground.clear(body.position, before, to_doorway, 0.0):
            return [before, beyond]
        return [*ground.path(body.position, to_doorway, ARRIVED / 2), beyond]
