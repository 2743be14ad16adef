"""Stand somewhere: in front of the setter, behind it, beside it, far from it, opposite it; between two things."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Self, TypeVar

import numpy as np

from interplay.env.playhouse.language.templates import PHRASES, phrase
from interplay.env.playhouse.tasks.context import TaskContext
from interplay.env.playhouse.tasks.instructions.stand_at import StandAt
from interplay.env.playhouse.truth import predicates
from interplay.env.playhouse.truth.facts import XY, Body, HouseFacts
from interplay.env.task import InfeasibleTask

T = TypeVar("T", bound=StandAt)

CLOSE = 1.5  # meters between the middles of two players, one of whom stands in front of the other, behind it, at a side
BESIDE_PLAYER = 1.0  # ... and next to the other: an arm's length between them

PHRASES |= {
    "stand front": (
        "stand in front of me",
        "come and stand in front of me",
        "go in front of me",
        "place yourself in front of me",
        "come to where i am looking and stand there",
        "walk to my front and stop",
    ),
    "stand behind": (
        "stand behind me",
        "go and stand behind me",
        "get behind me",
        "place yourself behind me",
        "come and stand at my back",
        "walk round behind me",
    ),
    "stand left": (
        "stand to my left",
        "stand on my left side",
        "come to the left of me",
        "place yourself to the left of me",
        "go and stand on my left",
        "walk to my left side",
    ),
    "stand right": (
        "stand to my right",
        "stand on my right side",
        "come to the right of me",
        "place yourself to the right of me",
        "go and stand on my right",
        "walk to my right side",
    ),
    "stand next": (
        "stand next to me",
        "come and stand beside me",
        "come next to me",
        "place yourself close beside me",
        "come right up to me",
        "stand by my side",
    ),
    "stand far": (
        "stand far away from me",
        "go far away from me",
        "move away from me",
        "keep your distance from me",
        "walk well away from me",
        "go somewhere far from me",
    ),
    "stand opposite": (
        "stand opposite me",
        "stand face to face with me",
        "come and face me",
        "stand across from me and look at me",
        "place yourself opposite me",
        "let us stand face to face",
    ),
    "stand_between": (
        "stand between the {thing} and the {other}",
        "go between the {thing} and the {other}",
        "place yourself between the {thing} and the {other}",
        "walk to the space between the {thing} and the {other}",
        "get in between the {thing} and the {other}",
        "stop between the {thing} and the {other}",
    ),
}
RELATIONS = ("front", "behind", "left", "right", "next", "far", "opposite")
LIKELY = {  # what each is taken for
    "front": ("behind", "opposite"),
    "behind": ("front",),
    "left": ("right",),
    "right": ("left",),
    "next": ("far", "opposite"),
    "far": ("next",),
    "opposite": ("next", "behind"),
}


@dataclass(frozen=True)
class Stand(StandAt):
    """Stand in this relation to the setter."""

    setter: str  # the role that asked
    relation: str  # one of `RELATIONS`

    def holds(self, facts: HouseFacts, body: Body) -> bool:
        setter = facts.bodies[self.setter]
        if self.relation == "far":
            return predicates.far(body, setter)
        if self.relation == "opposite":
            return predicates.face_to_face(body, setter)
        apart = math.dist(body.position, setter.position)
        if self.relation == "next":
            return predicates.same_room(body.room, setter.room) and apart <= BESIDE_PLAYER
        return apart <= CLOSE and predicates.side_of_player(setter, body) == self.relation

    def mistaken(self, facts: HouseFacts) -> Sequence[Self]:
        """The other side."""
        return [replace(self, relation=relation) for relation in LIKELY[self.relation]]

    def facing(self, facts: HouseFacts, body: Body) -> XY:
        """Those who stand opposite each other look at each other."""
        return facts.bodies[self.setter].position if self.relation == "opposite" else super().facing(facts, body)


@dataclass(frozen=True)
class StandBetween(StandAt):
    """Stand between two pieces of furniture."""

    target: int  # a Thing's index
    other: int

    def holds(self, facts: HouseFacts, body: Body) -> bool:
        return predicates.between(body, facts.things[self.target], facts.things[self.other])

    def mistaken(self, facts: HouseFacts) -> Sequence[Self]:
        """Another piece of furniture in place of either."""
        furniture = [thing.index for thing in facts.things if thing.furniture and thing.index not in self._pair()]
        return [replace(self, other=index) for index in furniture] + [
            replace(self, target=index) for index in furniture
        ]

    def _pair(self) -> tuple[int, int]:
        return self.target, self.other


def draw_stand(asking: TaskContext, rng: np.random.Generator) -> StandAt:
    asking.needs_setter("stand")
    tasks = [Stand("stand", "", asking.solver, 0.0, 0.0, 0.0, asking.setter, relation) for relation in RELATIONS]
    task = _feasible(tasks, asking.facts, rng, "stand")
    return replace(task, instruction=phrase(f"stand {task.relation}", rng))


def draw_stand_between(asking: TaskContext, rng: np.random.Generator) -> StandAt:
    furniture = [thing for thing in asking.told_apart() if thing.furniture]
    tasks = [
        StandBetween("stand_between", "", asking.solver, 0.0, 0.0, 0.0, one.index, two.index)
        for one, two in combinations(furniture, 2)
        if one.room == two.room
    ]
    task = _feasible(tasks, asking.facts, rng, "stand_between")
    names = [asking.call(asking.facts.things[index], rng) for index in (task.target, task.other)]
    one, two = (names[i] for i in rng.permutation(2))
    return replace(task, instruction=phrase("stand_between", rng, thing=one, other=two))


def _feasible(tasks: Sequence[T], facts: HouseFacts, rng: np.random.Generator, kind: str) -> T:
    """One of the tasks that are not done yet and can be."""
    shuffled: list[T] = [tasks[i] for i in rng.permutation(len(tasks))]
    for task in shuffled:
        found = None if task.fulfilled(facts) else task.with_spot(facts)
        if found is not None:
            return found
    raise InfeasibleTask(f"no task of kind {kind!r} can be asked here: the solver stands so already, or nobody can")
