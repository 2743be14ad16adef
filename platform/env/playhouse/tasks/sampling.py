"""What a question or an instruction can be about: things that words can tell apart."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TypeVar

import numpy as np

from interplay.env.playhouse.truth import predicates
from interplay.env.playhouse.truth.facts import HouseFacts, Thing
from interplay.env.task import InfeasibleTask

T = TypeVar("T")


def one_of(choices: Sequence[T], rng: np.random.Generator, kind: str, why_none: str) -> T:
    """One of the choices, all alike.

    Raises:
        InfeasibleTask: there is none, and why.
    """
    if not choices:
        raise InfeasibleTask(f"no task of kind {kind!r} can be asked here: {why_none}")
    return choices[int(rng.integers(len(choices)))]


def room_of(facts: HouseFacts, role: str) -> str:
    """The name of the room that a player is in."""
    return predicates.nearest_room(facts, facts.bodies[role].position).name


def answers_for(facts: HouseFacts, things: Sequence[Thing]) -> tuple[str, ...]:
    """How a thing may be named in an answer: "red ball", and "ball" where no other category would fit as well."""
    categories = Counter(thing.category for thing in facts.things)
    names = dict.fromkeys(thing.name for thing in things)
    short = dict.fromkeys(thing.category for thing in things if categories[thing.category] == 1)
    return (*names, *short)
