"""Helpers shared by the task samplers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TypeVar

import numpy as np

from interplay.env.playhouse.tasks.context import TaskContext
from interplay.env.playhouse.truth import predicates
from interplay.env.playhouse.truth.facts import HouseFacts, Thing
from interplay.env.task import InfeasibleTask

T = TypeVar("T")


def sample_one(choices: Sequence[T], rng: np.random.Generator, kind: str, reason: str) -> T:
    """Draws one of the choices with equal probability.

    Raises:
        InfeasibleTask: there is no choice; `reason` says why.
    """
    if not choices:
        raise InfeasibleTask(f"no task of kind {kind!r} can be asked here: {reason}")
    return choices[int(rng.integers(len(choices)))]


def room_of_player(facts: HouseFacts, role: str) -> str:
    """Returns the name of the room that a player is in, or of the nearest one if it stands in a doorway."""
    return predicates.nearest_room(facts, facts.bodies[role].position).name


def objects_here(context: TaskContext) -> list[Thing]:
    """Returns the loose objects of the solver's room."""
    room = room_of_player(context.facts, context.solver)
    return [thing for thing in predicates.matching(context.facts, room=room) if not thing.furniture]


def nameable_things_here(context: TaskContext) -> list[Thing]:
    """Returns the nameable things of the solver's room, furniture and objects that no player holds."""
    room = room_of_player(context.facts, context.solver)
    return [thing for thing in context.nameable_things() if thing.room == room and thing.held_by is None]


def answers_naming(facts: HouseFacts, things: Sequence[Thing]) -> tuple[str, ...]:
    """Returns the answers that name one of the things: "red ball", and "ball" if the house has no other ball."""
    categories = Counter(thing.category for thing in facts.things)
    names = dict.fromkeys(thing.name for thing in things)
    categories_alone = dict.fromkeys(thing.category for thing in things if categories[thing.category] == 1)
    return (*names, *categories_alone)
