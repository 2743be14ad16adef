"""Stand in a relation to the setter, or between two things; go into another room."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Self

import numpy as np

from interplay.env.playhouse.language.templates import fill_template
from interplay.env.playhouse.tasks.context import TaskContext
from interplay.env.playhouse.tasks.instructions.stand_at import StandAt, T, draw_feasible
from interplay.env.playhouse.tasks.sampling import room_of_player, sample_one
from interplay.env.playhouse.tasks.task_kind import Sampler, TaskKind
from interplay.env.playhouse.truth import predicates
from interplay.env.playhouse.truth.facts import XY, Body, HouseFacts
from interplay.env.task import InfeasibleTask

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
INSIDE_MARGIN_M = 0.4  # from the walls, and so from a doorway's sill, at which a player is in a room
GO_ROOM_WORDINGS = (
    "go to the {room}", "go into the {room}", "walk to the {room}", "walk into the {room}", "enter the {room}",
    "move over to the {room}", "visit the {room}",
)  # fmt: skip


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

    def facing(self, facts: HouseFacts, body: Body) -> XY:
        """Returns the setter's position for "opposite": such players face each other."""
        return facts.bodies[self.setter].position if self.relation == "opposite" else super().facing(facts, body)


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


def sample_stand(context: TaskContext, rng: np.random.Generator) -> StandAt:
    """Draws a relation in which the solver does not stand yet and can stand."""
    context.require_setter("stand")
    tasks = [
        Stand(kind="stand", instruction="", solver=context.solver, setter=context.setter, relation=relation)
        for relation in STAND_WORDINGS
    ]
    task = _sample_feasible(tasks, context.facts, rng, "stand")
    return replace(task, instruction=fill_template(STAND_WORDINGS[task.relation], rng))


def sample_stand_between(context: TaskContext, rng: np.random.Generator) -> StandAt:
    """Draws two pieces of furniture between which the solver does not stand yet and can stand."""
    furniture = [thing for thing in context.nameable_things() if thing.furniture]
    tasks = [
        StandBetween(kind="stand_between", instruction="", solver=context.solver, target=one.index, other=two.index)
        for one, two in combinations(furniture, 2)
        if one.room == two.room
    ]
    task = _sample_feasible(tasks, context.facts, rng, "stand_between")
    names = [context.name(context.facts.things[index], rng) for index in (task.target, task.other)]
    one, two = (names[i] for i in rng.permutation(2))
    return replace(task, instruction=fill_template(STAND_BETWEEN_WORDINGS, rng, thing=one, other=two))


def _sample_feasible(tasks: Sequence[T], facts: HouseFacts, rng: np.random.Generator, kind: str) -> T:
    if (task := draw_feasible(tasks, facts, rng)) is None:
        raise InfeasibleTask(f"no task of kind {kind!r} can be asked here: the solver stands so already, or nobody can")
    return task


@dataclass(frozen=True, kw_only=True)
class GoRoom(StandAt):
    """Walk into a room, past its doorway."""

    room: str  # its name in `HouseFacts`

    def holds(self, facts: HouseFacts, body: Body) -> bool:
        room = next(room for room in facts.rooms if room.name == self.room)
        return predicates.outside(room, body.position) <= -INSIDE_MARGIN_M

    def misreadings(self, facts: HouseFacts) -> Sequence[Self]:
        """Any other room, except the one that the solver is in."""
        here = room_of_player(facts, self.solver)
        return [replace(self, room=room.name) for room in facts.rooms if room.name not in (self.room, here)]


def sample_go_room(context: TaskContext, rng: np.random.Generator) -> GoRoom:
    """Draws a room that the solver is not in and that is the only one of its kind."""
    facts = context.facts
    here, kinds = room_of_player(facts, context.solver), [room.kind for room in facts.rooms]
    others = [room for room in facts.rooms if room.name != here and kinds.count(room.kind) == 1]
    room = sample_one(others, rng, "go_room", "there is no other room that can be named")
    text = fill_template(GO_ROOM_WORDINGS, rng, room=room.kind)
    return GoRoom(kind="go_room", instruction=text, solver=context.solver, room=room.name)


def _kind(name: str, task: type[StandAt], sample: Sampler, wordings: tuple[str, ...]) -> TaskKind:
    return TaskKind(name=name, task=task, sample=sample, wordings=wordings, probe_steps=60)


GO_ROOM_KIND = _kind("go_room", GoRoom, sample_go_room, GO_ROOM_WORDINGS)
KINDS = (
    _kind("stand", Stand, sample_stand, tuple(text for texts in STAND_WORDINGS.values() for text in texts)),
    _kind("stand_between", StandBetween, sample_stand_between, STAND_BETWEEN_WORDINGS),
    GO_ROOM_KIND,
)
