"""Competent solvers of the Playhouse's tasks: from the house's truth, through the action interface only.

Each step is one movement action held over all its frames, so an agent with one action a step can imitate it. They
look round for a thing until it is in view, as people must, and look at what they walk to: what they do follows from
what they see, or an agent that sees no more could not learn it from them.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import replace
from typing import TYPE_CHECKING

from interplay.env.playhouse import queries
from interplay.env.playhouse.facts import Body, HouseFacts, Thing
from interplay.env.playhouse.navigation import Distance
from interplay.env.playhouse.steering import BRISK, CALM, Steering
from interplay.env.playhouse.walker import Walker
from interplay.env.task import Expert
from interplay.env.world import Action, Movement, World, WorldSpec

if TYPE_CHECKING:
    from interplay.env.playhouse.errands import Errand, Go, Lift, Position
    from interplay.env.playhouse.inquiries import Question

STAND_OFF = 0.95  # metres from a thing's edge where going to it ends; a step is half a metre
FACED = math.radians(12)
ARM = 0.3  # metres short of the full reach, from which things are grasped
FROM_WALL = 0.15  # metres inside a room, at least, of where one stands to reach for what is in it
ELSEWHERE = 2.0  # metres that being outside its room adds to the distance from a thing
TOO_CLOSE = 0.5  # metres from a thing's middle: step back to see it
NECK = math.radians(-55)  # how far down one looks while walking
CARRY_HEIGHT = 0.75  # metres above the floor of what is carried
CARRIED_NEXT_TO = 0.42  # metres from edge to edge at which a carried thing is close enough to be let go
STILL_NEXT_TO = 0.52  # the same, once it has begun to be lowered
TOUCHING = 0.05  # metres from edge to edge at which it would be put on top
DROP = 0.12  # metres above the floor from which a thing is let go
LOWERING = 4  # steps after which it is let go anyhow
ANSWER_WITHIN = 16  # steps to look before answering
SEARCH_TURN = math.radians(25)  # by which one turns, always the same way round, to look for a thing
SEARCH_PITCH = math.radians(-25)
AT_THE_EDGE = math.radians(5.6)  # of the view: too little of a thing shows there for it to be found
SEEN = math.radians(20)  # off the middle of the view, within which something is well seen


class Search:
    """Looks round for things, and remembers which it has found."""

    def __init__(self, steering: Steering) -> None:
        self._steering = steering
        self._found: set[int] = set()

    def look_round(
        self, body: Body, thing: Thing, *, pitch: float | None = None, grasp: bool = False
    ) -> Movement | None:
        """The turn that goes on looking; None once the thing has been in view, or where it is in another room."""
        if abs(queries.bearing(body, thing.xy)) <= body.half_view - AT_THE_EDGE:
            self._found.add(thing.index)
        if thing.index in self._found or not queries.same_room(body.room, thing.room):
            return None
        tilt = SEARCH_PITCH - body.pitch if pitch is None else pitch
        return self._steering.hold(yaw=SEARCH_TURN, pitch=tilt, grasp=grasp)


class Errander(Expert):
    """The skills that errands are made of. Each returns the movement it still needs, or None once it is done.

    `haste`: a step's turn to a thing in view or on the way to it, at most, in radians.
    """

    def __init__(self, task: Errand | Question, spec: WorldSpec, haste: float = CALM) -> None:
        self.role = task.solver
        self._haste = haste
        self._steering = Steering(spec)
        self._walker = Walker(self.role, self._steering)
        self._search = Search(self._steering)
        self._hidden = 0  # steps for which the target stood in the middle of the view, and was not what is seen

    def act(self, world: World) -> Action:
        facts: HouseFacts = world.facts()
        movement = self.carry_out(facts)
        if movement is None:
            self.finished = True
            movement = self._steering.hold(grasp=facts.bodies[self.role].holding is not None)
        return Action(movement)

    @abstractmethod
    def carry_out(self, facts: HouseFacts) -> Movement | None:
        """The next step, or None once there is nothing left to do."""

    def approach(self, facts: HouseFacts, thing: Thing) -> Movement | None:
        """Walks up to a thing and faces it."""
        body = facts.bodies[self.role]
        if (movement := self._search.look_round(body, thing)) is not None:
            return movement
        distance = _within_its_room(facts, thing, lambda point: queries.edge_distance(point, thing))
        if distance(body.position) > STAND_OFF:
            return self._walk(facts, thing, distance, STAND_OFF)
        if not queries.in_front(body, thing.xy, FACED):
            return self._steering.hold(
                yaw=queries.bearing(body, thing.xy), pitch=self._gaze(body, thing), most=self._haste
            )
        return None

    def fetch(self, facts: HouseFacts, thing: Thing) -> Movement | None:
        """Takes a thing into the hand."""
        body = facts.bodies[self.role]
        if body.holding == thing.index:
            return None
        if body.holding is not None:
            return self._steering.hold()  # drops what is not wanted
        if (movement := self._search.look_round(body, thing)) is not None:
            return movement
        drop = body.eye_height - thing.position[2]
        distance = _within_its_room(facts, thing, lambda point: math.hypot(math.dist(point, thing.xy), drop))
        arm = body.reach - ARM
        if distance(body.position) > arm or self._hidden > 2:
            self._hidden = max(self._hidden - 1, 0) if distance(body.position) > TOO_CLOSE + 0.4 else 0
            return self._walk(facts, thing, distance, arm)
        return self._aim_and_grasp(body, thing)

    def _aim_and_grasp(self, body: Body, thing: Thing) -> Movement:
        turn, pitch = queries.bearing(body, thing.xy), queries.elevation(body, thing) - body.pitch
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
        return max(queries.elevation(body, thing), NECK) - body.pitch


def _within_its_room(facts: HouseFacts, thing: Thing, distance: Distance) -> Distance:
    """A distance from a thing that counts as more from outside its room: through a wall, nothing is near."""
    room = next((room for room in facts.rooms if room.name == thing.room), None)
    if room is None or len(facts.rooms) == 1:
        return distance
    return lambda point: distance(point) + ELSEWHERE * (queries.outside(room, point) > -FROM_WALL)


class Goer(Errander):
    """Goes to a thing."""

    def __init__(self, task: Go, spec: WorldSpec) -> None:
        super().__init__(task, spec)
        self._task = task

    def carry_out(self, facts: HouseFacts) -> Movement | None:
        return self.approach(facts, self._task.thing(facts))


class Lifter(Errander):
    """Fetches a thing and raises it."""

    def __init__(self, task: Lift, spec: WorldSpec) -> None:
        super().__init__(task, spec)
        self._task = task

    def carry_out(self, facts: HouseFacts) -> Movement | None:
        if (movement := self.fetch(facts, self._task.thing(facts))) is not None:
            return movement
        if self._task.fulfilled(facts):
            return None
        return self._steering.hold(pitch=math.radians(25), grasp=True)


class Placer(Errander):
    """Fetches a thing, carries it to another and lets it go there."""

    def __init__(self, task: Position, spec: WorldSpec) -> None:
        super().__init__(task, spec, BRISK)  # its ways are long
        self._task = task
        self._lowering = 0  # steps spent on lowering it
        self._taken = False  # has it been in the hand?

    def carry_out(self, facts: HouseFacts) -> Movement | None:
        thing = self._task.thing(facts)
        if self._task.fulfilled(facts):
            return None
        other = facts.things[self._task.other]
        if (movement := self._recover(facts, other)) is not None:
            return movement
        if (movement := self.fetch(facts, thing)) is not None:
            return movement
        self._taken = True
        return self._carry(facts, thing, other)

    def _recover(self, facts: HouseFacts, other: Thing) -> Movement | None:
        """Once the thing was knocked out of the hand in turning round with it, looks for the other empty-handed."""
        body = facts.bodies[self.role]
        return self._search.look_round(body, other) if self._taken and body.holding is None else None

    def _carry(self, facts: HouseFacts, thing: Thing, other: Thing) -> Movement:
        """With the thing in hand: raises it, walks until it is beside the other, lowers it, lets it go."""
        body = facts.bodies[self.role]
        gap = queries.gap(thing, other)
        if gap <= (STILL_NEXT_TO if self._lowering else CARRIED_NEXT_TO) and queries.same_room(thing.room, other.room):
            return self._put_down(thing, other)
        self._lowering = 0
        ahead = math.dist(body.position, thing.xy)
        carrying = self._carrying_pitch(body, thing)
        if (movement := self._search.look_round(body, other, pitch=carrying, grasp=True)) is not None:
            return movement
        distance = _within_its_room(facts, other, lambda point: queries.edge_distance(point, other))
        within = max(ahead + thing.radius + CARRIED_NEXT_TO - 0.25, 0.3)
        faces = queries.in_front(body, other.xy, math.radians(40))
        if distance(body.position) <= within - 0.3 and faces:  # it is held up on something: let it go here
            return self._put_down(thing, other)
        return self._walker.step(facts, other, distance, within, pitch=carrying, grasp=True)

    def _put_down(self, thing: Thing, other: Thing) -> Movement:
        """Lowers the thing and lets it go; if it would land on top of the other, or lies there, steps back first."""
        over = queries.edge_distance(thing.xy, other) == 0.0
        low = queries.bottom(thing) <= DROP and not over
        self._lowering += 1
        if not low and self._lowering <= LOWERING:
            return self._steering.hold(pitch=math.radians(-12.5), grasp=True)
        if not low and queries.gap(thing, other) <= TOUCHING:
            return self._steering.hold(forward=-1, yaw=math.radians(25), grasp=True)
        self._lowering = 0
        return self._steering.hold()

    def _carrying_pitch(self, body: Body, thing: Thing) -> float:
        """The pitch that is missing for carrying a thing at the right height."""
        arm = math.hypot(math.dist(body.position, thing.xy), body.eye_height - thing.position[2])
        down = min(max((CARRY_HEIGHT - body.eye_height) / max(arm, 0.1), -1.0), 1.0)
        return math.asin(down) - body.pitch


class Answerer(Expert):
    """Looks at what a question is about, and answers."""

    def __init__(self, question: Question, spec: WorldSpec) -> None:
        self._question = question
        self._steering = Steering(spec)
        self._search = Search(self._steering)
        self._steps = 0

    def act(self, world: World) -> Action:
        facts: HouseFacts = world.facts()
        body = facts.bodies[self._question.solver]
        point = self._question.look_at(facts)
        for index in self._question.about[:1]:
            if (
                self._steps < ANSWER_WITHIN
                and (seeking := self._search.look_round(body, facts.things[index])) is not None
            ):
                self._steps += 1
                return Action(seeking)
        turn = queries.bearing(body, point)
        down = -math.atan2(body.eye_height, max(math.dist(body.position, point), 0.1))
        pitch = max(down, math.radians(-35)) - body.pitch
        movement = self._steering.hold(yaw=turn, pitch=pitch)
        self._steps += 1
        seen = abs(turn) < SEEN and abs(pitch) < SEEN
        if self.finished or not (seen or self._steps > ANSWER_WITHIN):
            return Action(movement)
        self.finished = True
        return Action(movement, utterance=self._question.answer)


class Finder(Errander):
    """Goes through the house until it has a thing in view, and answers."""

    def __init__(self, question: Question, spec: WorldSpec) -> None:
        super().__init__(question, spec, BRISK)
        self._question = question

    def act(self, world: World) -> Action:
        had_finished = self.finished
        action = super().act(world)
        return replace(action, utterance=self._question.answer) if self.finished and not had_finished else action

    def carry_out(self, facts: HouseFacts) -> Movement | None:
        body, thing = facts.bodies[self.role], facts.things[self._question.about[0]]
        if queries.same_room(body.room, thing.room) and queries.in_front(body, thing.xy, SEEN):
            return None
        return self.approach(facts, thing)
