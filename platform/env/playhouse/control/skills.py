"""Skills shared by the scripted solvers of the Playhouse's tasks: searching, walking up to things, grasping them.

Each step is one movement action held over all its frames, so that an agent with one action a step can imitate it. The
solvers look around until a thing is in view, as people must, and look at what they walk to: their actions follow from
visible information, so that an agent can learn them from its pictures.

Steering translates an expert's turns and walks into the bins of a world, one movement action held over a whole step.
The walker goes to a point, around obstacles and through doorways, looking where it walks.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from typing import Generic, TypeVar

import numpy as np

from interplay.env.playhouse.house.action_codec import BIN_VALUES, COMPONENTS
from interplay.env.playhouse.planning.navigation import Distance, Ground, distance_in_room, doorway_crossing
from interplay.env.playhouse.tasks.playhouse_task import PlayhouseTask
from interplay.env.playhouse.truth import predicates
from interplay.env.playhouse.truth.facts import XY, Body, HouseFacts, Thing
from interplay.env.task import Expert
from interplay.env.world import Action, Movement, World, WorldSpec

APPROACH_AIM_RAD = math.radians(12)  # off a thing that an expert has walked up to
START_RADIUS_M = 0.3  # from the start of a run, and from the spot to throw from
BENT_ARM_M = 1.1  # from the body to a carried thing, at most, if the arm can be bent
CARRY_HEIGHT_M = 0.75  # of the middle of a carried tool, or of a thing that is carried without pushing and pulling
CARRY_PITCH_RAD = math.radians(-25)
STEP_PITCH_RAD = math.radians(12.5)  # up or down in one step, with a thing in hand


MAX_TURN_RAD = math.radians(25)  # in one step
CALM_TURN_RAD = math.radians(12.5)  # the same while looking around: more is seen, and learned, on the way
REQUIRED_COMPONENTS = ("forward", "yaw", "pitch", "grasp")  # without these, nothing can be fetched


class Steering:
    """Turns the intended motion of one step into a movement chunk whose frames are all alike.

    Raises:
        ValueError: the world does not offer the movements that an expert needs.
    """

    def __init__(self, spec: WorldSpec) -> None:
        names = [component.name for component in spec.movement]
        if missing := [name for name in REQUIRED_COMPONENTS if name not in names]:
            raise ValueError(
                f"the Playhouse's scripted solver moves by {', '.join(REQUIRED_COMPONENTS)}; this house lacks "
                f"{', '.join(missing)}: add them to env.components"
            )
        values = {component.name: BIN_VALUES[i] for i, component in enumerate(COMPONENTS)}
        self._column = {name: names.index(name) for name in names}
        # The angle that each bin turns by in a step, radians [bins].
        self._turns = {name: values[name] * spec.frames_per_step for name in ("yaw", "pitch")}
        self._rest = spec.rest()

    def hold(
        self,
        *,
        forward: int = 0,
        strafe: int = 0,
        yaw: float = 0.0,
        pitch: float = 0.0,
        grasp: bool = False,
        push: int = 0,
        rotate: int = 0,
        max_turn: float = MAX_TURN_RAD,
    ) -> Movement:
        """A chunk with these motions.

        `forward`, `strafe`: -1, 0 or 1; strafing is to the right. `yaw`, `pitch`: radians to turn by, rounded to the
        nearest bin; `max_turn` limits the yaw. `push`: 1 moves the held thing away, -1 closer. `rotate`: 1 turns it
        counterclockwise.

        Raises:
            ValueError: the chunk strafes, pushes or rotates in a world without that component.
        """
        movement = self._rest.copy()
        movement[:, self._column["forward"]] += forward
        movement[:, self._column["yaw"]] = self._nearest_bin("yaw", min(max(yaw, -max_turn), max_turn))
        movement[:, self._column["pitch"]] = self._nearest_bin("pitch", pitch)
        movement[:, self._column["grasp"]] = grasp
        return self.add(movement, strafe=strafe, push=push, rotate=rotate)

    def add(self, movement: Movement, **bins: int) -> Movement:
        """The same chunk with further components moved off their rest position by the given number of bins: `push=-1`.

        Raises:
            ValueError: the world lacks a component whose value is not 0.
        """
        movement = movement.copy()
        for name, value in bins.items():
            if value and name not in self._column:
                raise ValueError(f"this house has no {name}: add it to env.components")
            if value:
                movement[:, self._column[name]] += value
        return movement

    def supports(self, *names: str) -> bool:
        """Whether the world has all of these components."""
        return all(name in self._column for name in names)

    def _nearest_bin(self, name: str, angle: float) -> int:
        return int(np.abs(self._turns[name] - angle).argmin())


TURN_IN_PLACE_RAD = math.radians(28)  # a walker that faces farther off its way turns on the spot
CORNER_RADIUS_M = 0.35  # from a corner of the path, at which the next one is taken
STUCK_DISTANCE_M = 0.05  # a walker that covered less in a step is stuck
TRUSTED_STEPS = 3  # for which a straight way that was clear is not checked again
STUCK_PATIENCE_STEPS = 2  # stuck in a row, before it backs off
BACK_OFF_STEPS = 2


class Walker:
    """Walks one role, a step at a time, and remembers its path from one step to the next."""

    def __init__(self, role: str, steering: Steering, max_turn: float) -> None:
        """`max_turn`: in one step, radians."""
        self._role = role
        self._steering = steering
        self._max_turn = max_turn
        self._corners: list[XY] = []
        self._target: XY = (math.inf, math.inf)  # of the straight way that was last found clear
        self._trusted = 0  # steps for which that way still counts as clear
        self._last_position: XY | None = None  # when it last walked forward
        self._stuck = 0
        self._backing_off = 0

    def to(
        self, facts: HouseFacts, point: XY, within: float, *, pitch: float, room: str | None = None, grasp: bool = False
    ) -> Movement:
        """One step towards a point, to within the given distance in meters.

        `room`: the one that the point has to be reached from. The other arguments are those of `towards`.
        """
        distance = distance_in_room(facts, room, lambda position: math.dist(position, point))
        return self.towards(facts, point, distance, within, pitch=pitch, grasp=grasp)

    def towards(
        self, facts: HouseFacts, target: XY, distance: Distance, within: float, *, pitch: float, grasp: bool = False
    ) -> Movement:
        """One step towards where `distance`, a function of the body's position, is at most `within`.

        `target`: the point to head for. `pitch`: radians to pitch by in this step. `grasp`: keeps the hand closed.
        """
        body = facts.bodies[self._role]
        if self._backs_off(body):
            yaw = MAX_TURN_RAD if self._backing_off % 2 else 0.0
            return self._steering.hold(forward=-1, yaw=yaw, pitch=pitch, grasp=grasp)
        turn = predicates.bearing(body, self._next_corner(facts, body, target, distance, within))
        forward = int(abs(turn) < TURN_IN_PLACE_RAD)
        self._last_position = body.position if forward else None
        return self._steering.hold(forward=forward, yaw=turn, pitch=pitch, grasp=grasp, max_turn=self._max_turn)

    def _backs_off(self, body: Body) -> bool:
        """Counts stuck steps; returns whether to back away from an obstacle in this step."""
        if self._backing_off:
            self._backing_off -= 1
            return self._backing_off > 0
        if self._last_position is not None and math.dist(self._last_position, body.position) < STUCK_DISTANCE_M:
            self._stuck += 1
            if self._stuck >= STUCK_PATIENCE_STEPS:
                self._stuck, self._backing_off, self._last_position, self._corners = 0, BACK_OFF_STEPS + 1, None, []
                self._trusted = 0
                return True
        elif self._last_position is not None:
            self._stuck = 0
        return False

    def _next_corner(self, facts: HouseFacts, body: Body, target: XY, distance: Distance, within: float) -> XY:
        """The target where the straight way is clear, else the next doorway, else the next corner of a path around the
        obstacles; the path is planned again once it has been walked."""
        if self._trusted > 0 and math.dist(self._target, target) < STUCK_DISTANCE_M:
            self._trusted -= 1
            return target
        ground = Ground(facts, self._role, () if body.holding is None else (body.holding,))
        if ground.is_clear(body.position, target, distance, within):
            self._corners, self._target, self._trusted = [], target, TRUSTED_STEPS
            return target
        while self._corners and math.dist(body.position, self._corners[0]) < CORNER_RADIUS_M:
            del self._corners[0]
        if not self._corners:
            self._corners = self._plan(ground, body, target, distance, within)
        return self._corners[0] if self._corners else target

    def _plan(self, ground: Ground, body: Body, target: XY, distance: Distance, within: float) -> list[XY]:
        """The corners of a path to the next doorway and through it, or to the target in the same room."""
        doorways = predicates.route(ground.facts, body.position, target)
        if not doorways:
            return ground.path(body.position, distance, within)
        before, beyond = doorway_crossing(doorways[0], ground.facts, body.position)

        def to_doorway(point: XY) -> float:
            return math.dist(point, before)

        if math.dist(body.position, before) < CORNER_RADIUS_M:
            return [beyond]
        if ground.is_clear(body.position, before, to_doorway, 0.0):
            return [before, beyond]
        return [*ground.path(body.position, to_doorway, CORNER_RADIUS_M / 2), beyond]


STAND_OFF_M = 0.95  # from a thing's edge, where approaching it ends; a step is half a meter
ARM_MARGIN_M = 0.3  # short of the full reach, from which things are grasped
TOO_CLOSE_M = 0.5  # from a thing's middle; any nearer, the solver steps back to see it
HIDDEN_DISTANCE_M = TOO_CLOSE_M + 0.4  # nearest approach to get a clear view of a hidden thing
HIDDEN_PATIENCE_STEPS = 2  # of aiming at a thing that something else hides
AIMED_RAD = 0.02  # off a thing's middle, at most, at which it is hidden if the solver does not look at it
LOWEST_WALKING_PITCH_RAD = math.radians(-55)
SEARCH_TURN_RAD = math.radians(25)  # always the same way round
SEARCH_PITCH_RAD = math.radians(-25)
VIEW_MARGIN_RAD = math.radians(5.6)  # at the edge of the view, where too little of a thing shows for it to be found


TaskT = TypeVar("TaskT", bound=PlayhouseTask)


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
        self._walker = Walker(self.role, self._steering, self.max_turn)
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
        self._hidden_steps += abs(turn) < AIMED_RAD and abs(pitch) < AIMED_RAD
        return self._steering.hold(yaw=turn, pitch=pitch, max_turn=self.max_turn)

    def _walk(self, facts: HouseFacts, thing: Thing, distance: Distance, within: float) -> Movement:
        pitch = self._walking_pitch(facts.bodies[self.role], thing)
        return self._walker.towards(facts, thing.xy, distance, within, pitch=pitch)

    def _walking_pitch(self, body: Body, thing: Thing) -> float:
        """The pitch change that looks at a thing, as far down as one looks while walking."""
        return max(predicates.elevation(body, thing), LOWEST_WALKING_PITCH_RAD) - body.pitch
