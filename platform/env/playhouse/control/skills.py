"""Skills shared by the scripted solvers of the Playhouse's tasks: searching, walking up to things, grasping them.

Each step is one movement action held over all its frames, so that an agent with one action a step can imitate it. The
solvers look around until a thing is in view, as people must, and look at what they walk to: their actions follow from
visible information, so that an agent can learn them from its pictures.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from typing import Generic, Protocol, TypeVar

from interplay.env.playhouse.control.steering import APPROACH_AIM_RAD, CALM_TURN_RAD, Steering, Walker
from interplay.env.playhouse.planning.navigation import Distance, distance_in_room
from interplay.env.playhouse.truth import predicates
from interplay.env.playhouse.truth.facts import Body, HouseFacts, Thing
from interplay.env.task import Expert
from interplay.env.world import Action, Movement, World

STAND_OFF_M = 0.95  # from a thing's edge, where approaching it ends; a step is half a meter
ARM_MARGIN_M = 0.3  # short of the full reach, from which things are grasped
TOO_CLOSE_M = 0.5  # from a thing's middle; any nearer, the solver steps back to see it
HIDDEN_DISTANCE_M = TOO_CLOSE_M + 0.4  # nearest approach to get a clear view of a hidden thing
HIDDEN_PATIENCE_STEPS = 2  # of aiming at a thing that something else hides
GRASP_AIM_RAD = 0.02
LOWEST_WALKING_PITCH_RAD = math.radians(-55)
SEARCH_TURN_RAD = math.radians(25)  # always the same way round
SEARCH_PITCH_RAD = math.radians(-25)
VIEW_MARGIN_RAD = math.radians(5.6)  # at the edge of the view, where too little of a thing shows for it to be found


class HasSolver(Protocol):
    """A task that names the role that carries it out."""

    @property
    def solver(self) -> str: ...


TaskT = TypeVar("TaskT", bound=HasSolver)


class Search:
    """Looks around for things, and remembers which have been found."""

    def __init__(self, steering: Steering) -> None:
        self._steering = steering
        self._found: set[int] = set()

    def look_around(
        self, body: Body, thing: Thing, *, pitch: float | None = None, grasp: bool = False
    ) -> Movement | None:
        """The next turn of the search; None once the thing has been in view, or while it is in another room."""
        if abs(predicates.bearing(body, thing.xy)) <= body.half_view - VIEW_MARGIN_RAD:
            self._found.add(thing.index)
        if thing.index in self._found or not predicates.same_room(body.room, thing.room):
            return None
        tilt = SEARCH_PITCH_RAD - body.pitch if pitch is None else pitch
        return self._steering.hold(yaw=SEARCH_TURN_RAD, pitch=tilt, grasp=grasp)


class Skills(Expert, Generic[TaskT]):
    """The skills that experts are made of. Each returns the next movement it needs, or None once it is done."""

    max_turn = CALM_TURN_RAD  # a step's turn towards a thing in view, or on the way to it

    def __init__(self, task: TaskT, world: World) -> None:
        self._task = task
        self.role = task.solver
        self._steering = Steering(world.spec)
        self._walker = Walker(self.role, self._steering)
        self._search = Search(self._steering)
        self._hidden_steps = 0  # for which the target was in the middle of the view, hidden by something else

    def act(self, world: World) -> Action:
        facts: HouseFacts = world.facts()
        movement = self.next_movement(facts)
        if movement is None:
            self.finished = True
            movement = self._steering.hold(grasp=facts.bodies[self.role].holding is not None)
        return Action(movement)

    @abstractmethod
    def next_movement(self, facts: HouseFacts) -> Movement | None:
        """The next step, or None once nothing is left to do."""

    def approach(self, facts: HouseFacts, thing: Thing) -> Movement | None:
        """Walks up to a thing and faces it."""
        body = facts.bodies[self.role]
        if (movement := self._search.look_around(body, thing)) is not None:
            return movement
        distance = distance_in_room(facts, thing.room, lambda point: predicates.edge_distance(point, thing))
        if distance(body.position) > STAND_OFF_M:
            return self._walk(facts, thing, distance, STAND_OFF_M)
        if not predicates.in_front(body, thing.xy, APPROACH_AIM_RAD):
            turn = predicates.bearing(body, thing.xy)
            return self._steering.hold(yaw=turn, pitch=self._walking_pitch(body, thing), max_turn=self.max_turn)
        return None

    def fetch(self, facts: HouseFacts, thing: Thing) -> Movement | None:
        """Takes a thing into the hand; releases any other first."""
        body = facts.bodies[self.role]
        if body.holding == thing.index:
            return None
        if body.holding is not None:
            return self._steering.hold()
        if (movement := self._search.look_around(body, thing)) is not None:
            return movement
        drop = body.eye_height - thing.position[2]
        distance = distance_in_room(facts, thing.room, lambda point: math.hypot(math.dist(point, thing.xy), drop))
        arm = body.reach - ARM_MARGIN_M
        if distance(body.position) > arm or self._hidden_steps > HIDDEN_PATIENCE_STEPS:
            near = distance(body.position) <= HIDDEN_DISTANCE_M
            self._hidden_steps = 0 if near else max(self._hidden_steps - 1, 0)
            return self._walk(facts, thing, distance, arm)
        return self._aim_and_grasp(body, thing)

    def _aim_and_grasp(self, body: Body, thing: Thing) -> Movement:
        turn, pitch = predicates.bearing(body, thing.xy), predicates.elevation(body, thing) - body.pitch
        if body.looking_at == thing.index:
            self._hidden_steps = 0
            return self._steering.hold(grasp=True)
        if math.dist(body.position, thing.xy) < TOO_CLOSE_M:
            return self._steering.hold(forward=-1, yaw=turn, pitch=pitch)
        self._hidden_steps += abs(turn) < GRASP_AIM_RAD and abs(pitch) < GRASP_AIM_RAD
        return self._steering.hold(yaw=turn, pitch=pitch, max_turn=self.max_turn)

    def _walk(self, facts: HouseFacts, thing: Thing, distance: Distance, within: float) -> Movement:
        pitch = self._walking_pitch(facts.bodies[self.role], thing)
        return self._walker.towards(facts, thing.xy, distance, within, pitch=pitch, max_turn=self.max_turn)

    def _walking_pitch(self, body: Body, thing: Thing) -> float:
        """The pitch change that looks at a thing, as far down as one looks while walking."""
        return max(predicates.elevation(body, thing), LOWEST_WALKING_PITCH_RAD) - body.pitch
