"""The skill of putting a held thing down precisely: at a point, on the floor or on top of another thing.

The hand holds what it carries on the line of sight, at a distance that pushing changes by `PUSHED` a step. So a point
is met by three numbers: the body's distance from it, the hand's from the eye, and the pitch. Standing where it came to,
the deliverer looks for a number of pushes with which some pitch brings the thing over the point and a little above
what it goes on; where there is none, it takes a step and looks again.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from interplay.env.playhouse.control.steering import Steering
from interplay.env.playhouse.control.walker import Walker
from interplay.env.playhouse.physics.hand import MAX_CARRY_M, MIN_CARRY_M, gaze_direction
from interplay.env.playhouse.planning.arm import PUSHED, fits, hand_at, pitch_for, pushes
from interplay.env.playhouse.planning.navigation import Ground
from interplay.env.playhouse.planning.release_pose import ReleasePose
from interplay.env.playhouse.planning.standing import in_reach, standing_spot
from interplay.env.playhouse.truth import predicates
from interplay.env.playhouse.truth.facts import XY, XYZ, Body, HouseFacts, Thing
from interplay.env.world import Movement

TWIST = math.radians(36.7)  # turned by in a step of rotating
CARRIED = 1.05  # meters from the eye to what is carried about, at most
CARRY_HEIGHT = 0.95  # meters above the floor of its middle, at least
OVER = 0.16  # meters above the place, of what has not yet been lowered
FACED = math.radians(15)  # off its direction, at most, of what is lowered: in turning it would knock things over
AIMED = math.radians(1.3)  # off its direction, at most, of what is let go; a turn is no finer
ON_LINE = 0.03  # meters off the line of sight, within which a held thing is where the hand is
STRIDE, SIDESTEP = 0.53, 0.4  # meters that a step goes, coasting and all
CLOSE, WIDE = 0.55, 1.25  # meters from the point to where one stands
COASTING = 0.02  # meters moved in a step by a body at rest
ARRIVED = 0.3  # meters from where one wants to stand
OFF = 0.04  # meters off the point at which a thing is let go at once
PATIENCE = 4  # steps to wait for it to come closer, before it is let go as it is
ADJUSTMENTS = 4  # steps to a better distance, at most
STUCK = 0.8  # meters between the hand and what it holds, from which on it is stuck
RETREAT = 3  # steps
BACK = 0.75  # meters from what was put down, and its own radius, at which one has stepped back


class DeliverySkill:
    """Brings what the hand holds to a place and lets it go there, a step at a time; one thing after another."""

    def __init__(self, role: str, steering: Steering, walker: Walker) -> None:
        self._role = role
        self._steering = steering
        self._walker = walker
        self._place: ReleasePose | None = None
        self._stand: XY | None = None
        self._distance = 1.0  # from the eye to what the hand carries
        self._pushing = 0  # what the hand did in the step before
        self._holds: int | None = None
        self._standing, self._steady = False, False  # is the body at rest, is what it holds, too?
        self._last: XY = (math.inf, math.inf)  # where the body stood a step ago
        self._seen: XYZ = (math.inf, math.inf, math.inf)  # where the thing was
        self._retreating = 0  # steps left of backing off
        self._adjusted = 0
        self._arrived = False
        self._waited = 0
        self._backing: int | None = None  # the thing to step back from

    def bring(self, facts: HouseFacts, thing: Thing, place: ReleasePose) -> Movement:
        """The next step of who holds `thing` and wants it at `place`."""
        body = facts.bodies[self._role]
        if self._place is None or math.dist(place.spot, self._place.spot) > OFF:
            self._begin(facts, body, thing, place)
        self._place, self._backing = place, None
        self._feel(body, thing)
        if (movement := self._retreat(body, thing)) is not None:
            return movement
        if not self._arrived:
            assert self._stand is not None
            if math.dist(body.position, self._stand) > ARRIVED:
                return self._walk(facts, thing, place)
            self._arrived = True
        return self._set_down(facts, body, thing, place)

    def empty(self) -> None:
        """The hand has lost what it held, or never had it."""
        self._holds = None

    def step_back(self, facts: HouseFacts) -> Movement | None:
        """The next step away from what was let go; None once one is away."""
        if self._backing is None:
            return None
        body, thing = facts.bodies[self._role], facts.things[self._backing]
        self._place = None
        behind = (body.position[0] - 0.4 * math.cos(body.yaw), body.position[1] - 0.4 * math.sin(body.yaw))
        blocked = Ground(facts, self._role).price(np.array([behind]))[0] > 0.0
        if blocked or math.dist(body.position, thing.xy) > BACK + thing.radius:
            self._backing = None
            return None
        return self._steering.hold(forward=-1, pitch=math.radians(12.5))

    def _begin(self, facts: HouseFacts, body: Body, thing: Thing, place: ReleasePose) -> None:
        """Takes a new place for its aim."""
        away = max(place.wide - 0.2, 0.0)
        self._stand = standing_spot(facts, self._role, place.spot, away=away, held=thing.index) or place.spot
        self._adjusted, self._waited, self._arrived = 0, 0, False
        reach = math.dist(body.position, place.spot)
        if CLOSE + place.wide < reach < WIDE and predicates.same_room(body.room, thing.room):
            room = predicates.nearest_room(facts, body.position)
            self._arrived = predicates.outside(room, place.spot) < 0.0 and in_reach(facts, body.position, place.spot)

    def _feel(self, body: Body, thing: Thing) -> None:
        """Keeps track of how far the hand is from the eye: by what was pushed, and by measuring once all is still."""
        self._distance = min(max(self._distance + PUSHED * self._pushing, MIN_CARRY_M), MAX_CARRY_M)
        self._pushing = 0
        eye, ray = (*body.position, body.eye_height), gaze_direction(body.yaw, body.pitch)
        along = sum((thing.position[k] - eye[k]) * ray[k] for k in range(3))
        off = math.dist(thing.position, hand_at(body, along))
        self._standing = math.dist(self._last, body.position) < COASTING
        self._steady = self._standing and math.dist(self._seen, thing.position) < COASTING
        if self._holds != thing.index or (self._steady and off < ON_LINE):
            self._distance = min(max(along, MIN_CARRY_M), MAX_CARRY_M)
        self._holds, self._last, self._seen = thing.index, body.position, thing.position

    def _retreat(self, body: Body, thing: Thing) -> Movement | None:
        """Backs off from where the thing is stuck behind something, before the hand loses it."""
        if math.dist(hand_at(body, self._distance), thing.position) > STUCK:
            self._retreating = RETREAT
        if not self._retreating:
            return None
        self._retreating -= 1
        push = self._push(-int(self._distance > CARRIED))
        return self._steering.hold(forward=-1, yaw=predicates.bearing(body, thing.xy), grasp=True, push=push)

    def _push(self, count: int) -> int:
        """One step of so many pushes."""
        self._pushing = (count > 0) - (count < 0)
        return self._pushing

    def _walk(self, facts: HouseFacts, thing: Thing, place: ReleasePose) -> Movement:
        assert self._stand is not None
        stand = self._stand
        body = facts.bodies[self._role]
        goal = replace(thing, position=(*stand, 0.0), room=None)
        return self._walker.step(
            facts,
            goal,
            lambda point: math.dist(point, stand),
            ARRIVED - 0.05,
            pitch=self._raised(body, thing, place),
            grasp=True,
            push=self._push(-int(self._distance > CARRIED)),
            rotate=self._twist(thing, place),
        )

    def _raised(self, body: Body, thing: Thing, place: ReleasePose) -> float:
        """The pitch that is missing for carrying it over what lies about."""
        height = max(CARRY_HEIGHT, place.height + 2 * thing.half_extents[2] + OVER)
        return pitch_for(height, body, self._distance) - body.pitch

    def _twist(self, thing: Thing, place: ReleasePose) -> int:
        """The turn that brings the thing's sides in line with what it goes on, as far as steps of `TWIST` can."""
        if place.yaw is None:
            return 0
        off = math.remainder(place.yaw - thing.yaw, math.pi / 2)
        return int(math.copysign(1, off)) if abs(off) > 0.6 * TWIST else 0

    def _set_down(self, facts: HouseFacts, body: Body, thing: Thing, place: ReleasePose) -> Movement:
        """From where it stands: aims, pushes, lowers, lets go."""
        want = place.height + thing.half_extents[2]  # of the thing's middle
        turn, reach = predicates.bearing(body, place.spot), math.dist(body.position, place.spot)
        if abs(turn) > FACED:
            push = self._push(-int(self._distance > CARRIED))
            return self._steering.hold(yaw=turn, pitch=self._raised(body, thing, place), push=push, grasp=True)
        hover = pitch_for(want + OVER, body, self._distance)
        if not self._standing or abs(turn) > AIMED:
            return self._steering.hold(yaw=turn, pitch=hover - body.pitch, grasp=True)
        if (step := self._adjust(facts, body, place, want, reach)) is not None:
            forward, strafe = step
            self._adjusted += 1
            return self._steering.hold(forward=forward, strafe=strafe, pitch=hover - body.pitch, grasp=True)
        count, _ = pushes(self._distance, reach, body.eye_height - want)
        twist = self._twist(thing, place)
        if count or twist:
            push = self._push(count)
            hover = pitch_for(want + OVER, body, self._distance + PUSHED * push)
            return self._steering.hold(push=push, rotate=twist, pitch=hover - body.pitch, grasp=True)
        down = -math.acos(min(reach / self._distance, 1.0)) - body.pitch
        if abs(down) > math.radians(0.6):
            return self._steering.hold(pitch=max(down, math.radians(-12.5)), grasp=True)
        if not (self._steady and math.dist(thing.xy, place.spot) < OFF) and self._waited < PATIENCE:
            self._waited += 1
            return self._steering.hold(grasp=True)
        self._backing, self._holds = thing.index, None
        return self._steering.hold()

    def _adjust(
        self, facts: HouseFacts, body: Body, place: ReleasePose, want: float, reach: float
    ) -> tuple[int, int] | None:
        """The step, forward and sideways, to where the hand can meet the place; None where it can from here, or nothing
        better is in reach."""
        drop = body.eye_height - want
        nearest = CLOSE + place.wide
        if (nearest <= reach <= WIDE and fits(self._distance, reach, drop)) or self._adjusted >= ADJUSTMENTS:
            return None
        ground = Ground(facts, self._role, () if body.holding is None else (body.holding,))
        best, least = None, math.inf
        cos, sin = math.cos(body.yaw), math.sin(body.yaw)
        for forward, strafe in ((0, 1), (0, -1), (1, 0), (-1, 0), (1, 1), (1, -1), (-1, 1), (-1, -1)):
            along, aside = STRIDE * forward, SIDESTEP * strafe
            to = (body.position[0] + along * cos + aside * sin, body.position[1] + along * sin - aside * cos)
            there = math.dist(to, place.spot)
            if not nearest <= there <= WIDE or ground.price(np.array([to]))[0] > 0.0:
                continue
            error = abs(pushes(self._distance, there, drop)[1]) + 0.01 * (abs(forward) + abs(strafe))
            if error < least:
                best, least = (forward, strafe), error
        better = not nearest <= reach <= WIDE or least < abs(pushes(self._distance, reach, drop)[1])
        return best if better else None
