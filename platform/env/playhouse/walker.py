"""The legs and neck of a scripted solver: walks up to a thing, around what is in the way, looking where it goes."""

from __future__ import annotations

import math

from interplay.env.playhouse import queries
from interplay.env.playhouse.facts import XY, Body, HouseFacts, Thing
from interplay.env.playhouse.navigation import Distance, Ground
from interplay.env.playhouse.steering import Steering
from interplay.env.world import Movement

AHEAD = math.radians(28)  # off its way by more than this, a walker turns on the spot
ARRIVED = 0.35  # metres from a corner of the path at which the next one is taken
MOVED = 0.05  # metres: a walker that got less far in a step is stuck
STUCK = 2  # stuck steps in a row before it backs off
BACK_OFF = 2  # steps


class Walker:
    """Walks one role, a step at a time, and remembers its path from one step to the next."""

    def __init__(self, role: str, steering: Steering) -> None:
        self._role = role
        self._steering = steering
        self._corners: list[XY] = []
        self._last: XY | None = None  # where it stood when it last set out forward
        self._stuck = 0
        self._backing = 0

    def step(
        self, facts: HouseFacts, thing: Thing, distance: Distance, within: float, *, pitch: float, grasp: bool
    ) -> Movement:
        """One step towards where `distance` (of the body from `thing`) is at most `within`.

        `pitch`: radians to pitch by in this step; `grasp`: whether the hand stays closed.
        """
        body = facts.bodies[self._role]
        if self._held_up(body):
            yaw = math.radians(25) if self._backing % 2 else 0.0
            return self._steering.hold(forward=-1, yaw=yaw, pitch=pitch, grasp=grasp)
        towards = self._next_corner(facts, body, thing, distance, within)
        turn = queries.bearing(body, towards)
        forward = int(abs(turn) < AHEAD)
        self._last = body.position if forward else None
        return self._steering.hold(forward=forward, yaw=turn, pitch=pitch, grasp=grasp)

    def _held_up(self, body: Body) -> bool:
        """Is it backing away from something that it walked into?"""
        if self._backing:
            self._backing -= 1
            return self._backing > 0
        if self._last is not None and math.dist(self._last, body.position) < MOVED:
            self._stuck += 1
            if self._stuck >= STUCK:
                self._stuck, self._backing, self._last, self._corners = 0, BACK_OFF + 1, None, []
                return True
        elif self._last is not None:
            self._stuck = 0
        return False

    def _next_corner(self, facts: HouseFacts, body: Body, thing: Thing, distance: Distance, within: float) -> XY:
        """Straight for the thing where that is clear; else along the path, which is made anew once it is walked."""
        holding = (body.holding,) if body.holding is not None else ()
        ground = Ground(facts, self._role, holding)
        if ground.clear(body.position, thing.xy, distance, within):
            self._corners = []
            return thing.xy
        while self._corners and math.dist(body.position, self._corners[0]) < ARRIVED:
            del self._corners[0]
        if not self._corners:
            self._corners = ground.path(body.position, distance, within)
        return self._corners[0] if self._corners else thing.xy
