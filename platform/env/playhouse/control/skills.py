"""The skills that competent solvers of the Playhouse's errands share: searching, walking up to things, taking them.

Each step is one movement action held over all its frames, so an agent with one action a step can imitate it. They
look round for a thing until it is in view, as people must, and look at what they walk to: what they do follows from
what they see, or an agent that sees no more could not learn it from them.
"""

from __future__ import annotations

import math
from abc import abstractmethod

from interplay.env.playhouse.control.steering import CALM_TURN_RAD, Steering
from interplay.env.playhouse.control.walker import Walker
from interplay.env.playhouse.planning.navigation import Distance
from interplay.env.playhouse.tasks.instructions.arrangement import Arrangement
from interplay.env.playhouse.tasks.instructions.object_instruction import ObjectInstruction
from interplay.env.playhouse.tasks.instructions.stand_at import StandAt
from interplay.env.playhouse.tasks.questions.question import Question
from interplay.env.playhouse.truth import predicates
from interplay.env.playhouse.truth.facts import Body, HouseFacts, Thing
from interplay.env.task import Expert
from interplay.env.world import Action, Movement, World, WorldSpec

STAND_OFF = 0.95  # meters from a thing's edge where going to it ends; a step is half a meter
FACED = math.radians(12)
ARM = 0.3  # meters short of the full reach, from which things are grasped
FROM_WALL = 0.15  # meters inside a room, at least, of where one stands to reach for what is in it
ELSEWHERE = 2.0  # meters that being outside its room adds to the distance from a thing
TOO_CLOSE = 0.5  # meters from a thing's middle: step back to see it
NECK = math.radians(-55)  # how far down one looks while walking
SEARCH_TURN = math.radians(25)  # by which one turns, always the same way round, to look for a thing
SEARCH_PITCH = math.radians(-25)
AT_THE_EDGE = math.radians(5.6)  # of the view: too little of a thing shows there for it to be found


class Search:
    """Looks round for things, and remembers which it has found."""

    def __init__(self, steering: Steering) -> None:
        self._steering = steering
        self._found: set[int] = set()

    def look_around(
        self, body: Body, thing: Thing, *, pitch: float | None = None, grasp: bool = False
    ) -> Movement | None:
        """The turn that goes on looking; None once the thing has been in view, or where it is in another room."""
        if abs(predicates.bearing(body, thing.xy)) <= body.half_view - AT_THE_EDGE:
            self._found.add(thing.index)
        if thing.index in self._found or not predicates.same_room(body.room, thing.room):
            return None
        tilt = SEARCH_PITCH - body.pitch if pitch is None else pitch
        return self._steering.hold(yaw=SEARCH_TURN, pitch=tilt, grasp=grasp)


class Skills(Expert):
    """The skills that errands are made of. Each returns the movement it still needs, or None once it is done.

    `haste`: a step's turn to a thing in view or on the way to it, at most, in radians.
    """

    def __init__(
        self, task: Arrangement | ObjectInstruction | StandAt | Question, spec: WorldSpec, haste: float = CALM_TURN_RAD
    ) -> None:
        self.role = task.solver
        self._haste = haste
        self._steering = Steering(spec)
        self._walker = Walker(self.role, self._steering)
        self._search = Search(self._steering)
        self._hidden = 0  # steps for which the target stood in the middle of the view, and was not what is seen

    def act(self, world: World) -> Action:
        facts: HouseFacts = world.facts()
        movement = self.next_movement(facts)
        if movement is None:
            self.finished = True
            movement = self._steering.hold(grasp=facts.bodies[self.role].holding is not None)
        return Action(movement)

    @abstractmethod
    def next_movement(self, facts: HouseFacts) -> Movement | None:
        """The next step, or None once there is nothing left to do."""

    def approach(self, facts: HouseFacts, thing: Thing) -> Movement | None:
        """Walks up to a thing and faces it."""
        body = facts.bodies[self.role]
        if (movement := self._search.look_around(body, thing)) is not None:
            return movement
        distance = within_its_room(facts, thing, lambda point: predicates.edge_distance(point, thing))
        if distance(body.position) > STAND_OFF:
            return self._walk(facts, thing, distance, STAND_OFF)
        if not predicates.in_front(body, thing.xy, FACED):
            return self._steering.hold(
                yaw=predicates.bearing(body, thing.xy), pitch=self._gaze(body, thing), most=self._haste
            )
        return None

    def fetch(self, facts: HouseFacts, thing: Thing) -> Movement | None:
        """Takes a thing into the hand."""
        body = facts.bodies[self.role]
        if body.holding == thing.index:
            return None
        if body.holding is not None:
            return self._steering.hold()  # drops what is not wanted
        if (movement := self._search.look_around(body, thing)) is not None:
            return movement
        drop = body.eye_height - thing.position[2]
        distance = within_its_room(facts, thing, lambda point: math.hypot(math.dist(point, thing.xy), drop))
        arm = body.reach - ARM
        if distance(body.position) > arm or self._hidden > 2:
            self._hidden = max(self._hidden - 1, 0) if distance(body.position) > TOO_CLOSE + 0.4 else 0
            return self._walk(facts, thing, distance, arm)
        return self._aim_and_grasp(body, thing)

    def _aim_and_grasp(self, body: Body, thing: Thing) -> Movement:
        turn, pitch = predicates.bearing(body, thing.xy), predicates.elevation(body, thing) - body.pitch
        if body.looking_at == thing.index:
            self._hidden = 0
            return self._steering.hold(grasp=True)
        if math.dist(body.position, thing.xy) < TOO_CLOSE:
            return self._steering.hold(forward=-1, yaw=turn, pitch=pitch)
        self._hidden += abs(turn) < 0.02 and abs(pitch) < 0.02
        return self._steering.hold(yaw=turn, pitch=pitch, most=self._haste)

    def _walk(self, facts: HouseFacts, thing: Thing, distance: Distance, within: float) -> Movement:
        body = facts.bodies[self.role]
        pitch = self._gaze(body, thing)
        return self._walker.step(facts, thing, distance, within, pitch=pitch, grasp=False, most=self._haste)

    def _gaze(self, body: Body, thing: Thing) -> float:
        """The pitch that is missing for looking at a thing, as far as one's neck goes while walking."""
        return max(predicates.elevation(body, thing), NECK) - body.pitch


def within_its_room(facts: HouseFacts, thing: Thing, distance: Distance) -> Distance:
    """A distance from a thing that counts as more from outside its room: through a wall, nothing is near."""
    room = next((room for room in facts.rooms if room.name == thing.room), None)
    if room is None or len(facts.rooms) == 1:
        return distance
    return lambda point: distance(point) + ELSEWHERE * (predicates.outside(room, point) > -FROM_WALL)
