"""Go to a thing, stand in a relation to the setter or between two things, or go into another room."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Self, TypeVar

import numpy as np

from interplay.env.playhouse.language.templates import fill_template
from interplay.env.playhouse.planning.navigation import nearest_free_spots
from interplay.env.playhouse.tasks.context import TaskContext
from interplay.env.playhouse.tasks.instructions.object_instruction import ObjectInstruction
from interplay.env.playhouse.tasks.playhouse_task import PlayhouseTask, Potential, fraction_covered, task_kind
from interplay.env.playhouse.truth import predicates
from interplay.env.playhouse.truth.facts import XY, Body, HouseFacts
from interplay.env.task import InfeasibleTask

T = TypeVar("T", bound="StandAt")

GO_NEAR_M = 1.2  # from the footprint's edge
FACING_RAD = math.radians(30)  # off the thing's middle
GO_WEIGHTS = Potential(look=0.4, approach=0.4)

GO_WORDINGS = (
    "go to the {thing}", "walk to the {thing}", "go near the {thing}", "go and stand near the {thing}",
    "walk up to the {thing}", "go over to the {thing}", "move close to the {thing}", "find the {thing} and go near it",
)  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Go(ObjectInstruction):
    """Walk up to a thing and face it."""

    def is_done(self, facts: HouseFacts) -> bool:
        body, thing = facts.bodies[self.solver], self.thing(facts)
        return (
            predicates.same_room(body.room, thing.room)
            and predicates.edge_distance(body.position, thing) <= GO_NEAR_M
            and predicates.in_front(body, thing.xy, FACING_RAD)
        )

    def partial_progress(self, facts: HouseFacts) -> float:
        """0.4 for turning to it, 0.4 for the way with it in view."""
        return GO_WEIGHTS(looking=self.looking(facts), nearness=self.nearness(facts, GO_NEAR_M), held=False)


@task_kind("go", Go, GO_WORDINGS, usual=True)
def go_kind(context: TaskContext, rng: np.random.Generator) -> Go:
    """Draws an instruction to go to an object that the solver is not near."""
    facts, here = context.facts, context.facts.bodies[context.solver].position
    far = [t for t in context.nameable_objects() if predicates.walking_distance(facts, here, t) > GO_NEAR_M]
    target = context.sample_one(far, rng, "every thing that can be named is near the solver")
    text = context.phrase(context.wordings(GO_WORDINGS), rng, thing=target)
    return Go(kind=context.kind, instruction=text, solver=context.solver, target=target.index)


SPOT_MARGIN_M = 0.2  # the instruction also holds this far to any side of a spot
WEIGHT_OF_WAY = 0.9  # progress at the end of the way


@dataclass(frozen=True, kw_only=True)
class StandAt(PlayhouseTask):
    """An instruction to stand somewhere.

    Baseline `spot_x` and `spot_y`: the nearest place that satisfies it (others do as well); `walk`: meters to there.
    """

    @abstractmethod
    def holds(self, facts: HouseFacts, body: Body) -> bool:
        """Tests whether a solver with this body would satisfy the instruction."""

    @abstractmethod
    def misreadings(self, facts: HouseFacts) -> Sequence[Self]:
        """Returns all misinterpretations, still without a baseline."""

    @property
    def spot(self) -> XY:
        """Nearest place that satisfied the instruction when it was set."""
        return self.baseline["spot_x"], self.baseline["spot_y"]

    def is_done(self, facts: HouseFacts) -> bool:
        return self.holds(facts, facts.bodies[self.solver])

    def partial_progress(self, facts: HouseFacts) -> float:
        """0.9 for the way to the spot."""
        remaining = predicates.route_length(facts, facts.bodies[self.solver].position, self.spot)
        return WEIGHT_OF_WAY * fraction_covered(self.baseline["walk"], remaining, 0.0)

    def measure(self, facts: HouseFacts) -> Mapping[str, float]:
        """Measures the way to the nearest spot.

        Raises:
            InfeasibleTask: no free floor satisfies the instruction.
        """
        spot = self.nearest_spot(facts)
        if spot is None:
            raise InfeasibleTask(f"no task of kind {self.kind!r} can be asked here: there is no free floor to stand on")
        walk = predicates.route_length(facts, facts.bodies[self.solver].position, spot)
        return {"spot_x": spot[0], "spot_y": spot[1], "walk": walk}

    def misreading(self, facts: HouseFacts, rng: np.random.Generator) -> PlayhouseTask | None:
        return draw_feasible(self.misreadings(facts), facts, rng)

    def nearest_spot(self, facts: HouseFacts) -> XY | None:
        """Returns the spot of free floor nearest to the solver that satisfies the instruction, if there is one."""
        body = facts.bodies[self.solver]
        spots = nearest_free_spots(facts, self.solver)
        return next((spot for spot in spots if self._holds_around(facts, body, spot)), None)

    def turn(self, facts: HouseFacts, body: Body) -> float:
        """Returns the turn to the direction that the instruction requires: none if it requires none."""
        return 0.0

    def turned(self, facts: HouseFacts, body: Body) -> Body:
        """Returns the body turned as the instruction requires."""
        turn = self.turn(facts, body)
        return replace(body, yaw=body.yaw + turn) if turn else body

    def _holds_around(self, facts: HouseFacts, body: Body, spot: XY) -> bool:
        """Tests whether the instruction holds at a spot and `SPOT_MARGIN_M` to all four sides."""
        room = predicates.nearest_room(facts, spot).name
        m = SPOT_MARGIN_M
        return all(
            self.holds(facts, self.turned(facts, replace(body, room=room, position=(spot[0] + dx, spot[1] + dy))))
            for dx, dy in ((0.0, 0.0), (m, 0.0), (-m, 0.0), (0.0, m), (0.0, -m))
        )


def draw_feasible(tasks: Sequence[T], facts: HouseFacts, rng: np.random.Generator) -> T | None:
    """Draws a feasible task that is not done yet; None without one."""
    shuffled = (tasks[i] for i in rng.permutation(len(tasks)).tolist())
    return next((t for t in shuffled if not t.is_done(facts) and t.nearest_spot(facts) is not None), None)


AT_SIDE_M = 1.5  # between the middles of two players, one in front of the other, behind it, or at a side of it
NEXT_TO_M = 1.0  # between the middles of two players next to each other: an arm's length between them
STAND_WORDINGS: Mapping[str, tuple[str, ...]] = {
    "front": (
        "stand in front of me", "come and stand in front of me", "go in front of me", "place yourself in front of me",
        "come to where i am looking and stand there", "walk to my front and stop",
    ),
    "behind": (
        "stand behind me", "go and stand behind me", "get behind me", "place yourself behind me",
        "come and stand at my back", "walk round behind me",
    ),
    "left": (
        "stand to my left", "stand on my left side", "come to the left of me", "place yourself to the left of me",
        "go and stand on my left", "walk to my left side",
    ),
    "right": (
        "stand to my right", "stand on my right side", "come to the right of me", "place yourself to the right of me",
        "go and stand on my right", "walk to my right side",
    ),
    "next": (
        "stand next to me", "come and stand beside me", "come next to me", "place yourself close beside me",
        "come right up to me", "stand by my side",
    ),
    "far": (
        "stand far away from me", "go far away from me", "move away from me", "keep your distance from me",
        "walk well away from me", "go somewhere far from me",
    ),
    "opposite": (
        "stand opposite me", "stand face to face with me", "come and face me", "stand across from me and look at me",
        "place yourself opposite me", "let us stand face to face",
    ),
}  # fmt: skip
STAND_BETWEEN_WORDINGS = (
    "stand between the {thing} and the {other}", "go between the {thing} and the {other}",
    "place yourself between the {thing} and the {other}", "walk to the space between the {thing} and the {other}",
    "get in between the {thing} and the {other}", "stop between the {thing} and the {other}",
)  # fmt: skip
MISREAD_RELATIONS = {  # relations that each one is mistaken for
    "front": ("behind", "opposite"),
    "behind": ("front",),
    "left": ("right",),
    "right": ("left",),
    "next": ("far", "opposite"),
    "far": ("next",),
    "opposite": ("next", "behind"),
}


@dataclass(frozen=True, kw_only=True)
class Stand(StandAt):
    """Stand in a relation to the setter."""

    setter: str  # role of the other player
    relation: str  # a key of `STAND_WORDINGS`

    def holds(self, facts: HouseFacts, body: Body) -> bool:
        setter = facts.bodies[self.setter]
        if self.relation == "far":
            return predicates.far(body, setter)
        if self.relation == "opposite":
            return predicates.face_to_face(body, setter)
        distance = math.dist(body.position, setter.position)
        if self.relation == "next":
            return predicates.same_room(body.room, setter.room) and distance <= NEXT_TO_M
        return distance <= AT_SIDE_M and predicates.side_of_player(setter, body) == self.relation

    def misreadings(self, facts: HouseFacts) -> Sequence[Self]:
        return [replace(self, relation=relation) for relation in MISREAD_RELATIONS[self.relation]]

    def turn(self, facts: HouseFacts, body: Body) -> float:
        """Returns the turn to the setter for "opposite": such players face each other."""
        return predicates.bearing(body, facts.bodies[self.setter].position) if self.relation == "opposite" else 0.0


@dataclass(frozen=True, kw_only=True)
class StandBetween(StandAt):
    """Stand between two pieces of furniture."""

    target: int  # index of a piece of furniture
    other: int  # index of the other one

    def holds(self, facts: HouseFacts, body: Body) -> bool:
        return predicates.between(body, facts.things[self.target], facts.things[self.other])

    def misreadings(self, facts: HouseFacts) -> Sequence[Self]:
        """Another piece of furniture in place of either."""
        pair = (self.target, self.other)
        furniture = [thing.index for thing in facts.things if thing.furniture and thing.index not in pair]
        return [replace(self, other=index) for index in furniture] + [
            replace(self, target=index) for index in furniture
        ]


@task_kind("stand", Stand, *STAND_WORDINGS.values(), probe_steps=60)
def stand_kind(context: TaskContext, rng: np.random.Generator) -> StandAt:
    """Draws a relation in which the solver does not stand yet and can stand."""
    context.require_setter()
    kind, solver, setter = context.kind, context.solver, context.setter
    tasks = [Stand(kind=kind, instruction="", solver=solver, setter=setter, relation=each) for each in STAND_WORDINGS]
    task = _sample_feasible(tasks, context, rng)
    return replace(task, instruction=fill_template(STAND_WORDINGS[task.relation], rng))


@task_kind("stand_between", StandBetween, STAND_BETWEEN_WORDINGS, probe_steps=60)
def stand_between_kind(context: TaskContext, rng: np.random.Generator) -> StandAt:
    """Draws two pieces of furniture between which the solver does not stand yet and can stand."""
    furniture = [thing for thing in context.nameable_things() if thing.furniture]
    tasks = [
        StandBetween(kind=context.kind, instruction="", solver=context.solver, target=one.index, other=two.index)
        for one, two in combinations(furniture, 2)
        if one.room == two.room
    ]
    task = _sample_feasible(tasks, context, rng)
    names = [context.name(context.facts.things[index], rng) for index in (task.target, task.other)]
    one, two = (names[i] for i in rng.permutation(2))
    return replace(task, instruction=fill_template(STAND_BETWEEN_WORDINGS, rng, thing=one, other=two))


def _sample_feasible(tasks: Sequence[T], context: TaskContext, rng: np.random.Generator) -> T:
    if (task := draw_feasible(tasks, context.facts, rng)) is None:
        raise context.refusal("the solver stands so already, or nobody can")
    return task


INSIDE_MARGIN_M = 0.4  # from the walls, and so from a doorway's sill, at which a player is in a room
GO_ROOM_WORDINGS = (
    "go to the {room}", "go into the {room}", "walk to the {room}", "walk into the {room}", "enter the {room}",
    "move over to the {room}", "visit the {room}",
)  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class GoRoom(StandAt):
    """Walk into a room, past its doorway."""

    room: str  # its name in `HouseFacts`

    def holds(self, facts: HouseFacts, body: Body) -> bool:
        room = next(room for room in facts.rooms if room.name == self.room)
        return predicates.outside(room, body.position) <= -INSIDE_MARGIN_M

    def misreadings(self, facts: HouseFacts) -> Sequence[Self]:
        """Any other room, except the one that the solver is in."""
        here = predicates.nearest_room(facts, facts.bodies[self.solver].position).name
        return [replace(self, room=room.name) for room in facts.rooms if room.name not in (self.room, here)]


@task_kind("go_room", GoRoom, GO_ROOM_WORDINGS, probe_steps=60)
def go_room_kind(context: TaskContext, rng: np.random.Generator) -> GoRoom:
    """Draws a room that the solver is not in and that is the only one of its kind."""
    rooms, here = context.facts.rooms, context.room
    kinds = [room.kind for room in rooms]
    others = [room for room in rooms if room.name != here and kinds.count(room.kind) == 1]
    room = context.sample_one(others, rng, "there is no other room that can be named")
    text = fill_template(GO_ROOM_WORDINGS, rng, room=room.kind)
    return GoRoom(kind=context.kind, instruction=text, solver=context.solver, room=room.name)
