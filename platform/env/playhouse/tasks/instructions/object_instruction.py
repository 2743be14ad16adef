"""What all instructions to act share: whom they ask, the thing they are about, and what may be mistaken for it.

`progress` is a potential of the present moment and of the constants measured when the task was set; it has no
memory, so what a player undoes, progress loses.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Self

import numpy as np

from interplay.env.playhouse.tasks.stored_fields import without_unused_cues
from interplay.env.playhouse.truth import predicates
from interplay.env.playhouse.truth.facts import HouseFacts, Thing
from interplay.env.task import Task
from interplay.env.world import World

WITHIN_GRASP = 1.0  # meters from a thing's edge, where approaching it ends
# Off a thing's middle: wholly looking at it, not at all.
SIDEWAYS, UPWARDS = (math.radians(10), math.radians(40)), (math.radians(25), math.radians(40))


@dataclass(frozen=True)
class ObjectInstruction(Task):
    """An instruction to act, about one thing."""

    kind: str
    instruction: str
    solver: str  # the role that was asked
    target: int  # a Thing's index
    start: float  # meters the solver had to walk when asked
    answer: str | None = field(default=None, init=False)
    cue: str | None = field(default=None, kw_only=True)
    modifier: str | None = field(default=None, kw_only=True)

    def to_json(self) -> Mapping[str, Any]:
        return without_unused_cues(asdict(self))

    @abstractmethod
    def fulfilled(self, facts: HouseFacts) -> bool:
        """Is it done, as the house stands?"""

    def success(self, facts: HouseFacts, said: Sequence[str]) -> bool:
        return self.fulfilled(facts)

    def thing(self, facts: HouseFacts) -> Thing:
        return facts.things[self.target]

    def nearness(self, facts: HouseFacts, until: float) -> float:
        """How much of the way to the thing is behind the solver: 0 as when asked, or further, to 1 at `until`."""
        left = predicates.walking_distance(facts, facts.bodies[self.solver].position, self.thing(facts))
        return done(self.start, left, until)

    def looks(self, facts: HouseFacts) -> float:
        """How far the solver has turned to the thing: 1 in the middle of its view, 0 out of it or in another room."""
        body, thing = facts.bodies[self.solver], self.thing(facts)
        if not predicates.same_room(body.room, thing.room):
            return 0.0
        aside, above = abs(predicates.bearing(body, thing.xy)), abs(predicates.elevation(body, thing) - body.pitch)
        return share(aside, SIDEWAYS) * share(above, UPWARDS)

    def misread(self, world: World, rng: np.random.Generator) -> Task:
        facts: HouseFacts = world.facts()
        loose = [thing for thing in facts.things if not thing.furniture and self.may_mistake(thing, facts)]
        other = _lookalike(self.thing(facts), loose, rng)
        return self if other is None else self.meaning(other, facts)

    def may_mistake(self, thing: Thing, facts: HouseFacts) -> bool:
        """Could a solver who misheard take this thing for the target?"""
        return thing.index != self.target and thing.held_by is None

    def meaning(self, thing: Thing, facts: HouseFacts) -> Self:
        """The same words, meant of another thing."""
        walk = predicates.walking_distance(facts, facts.bodies[self.solver].position, thing)
        return replace(self, target=thing.index, start=walk)


def done(start: float, left: float, until: float) -> float:
    """The share, 0 to 1, of the way from `start` down to `until` that is done when `left` is left."""
    if left <= until:
        return 1.0
    return float(np.clip((start - left) / max(start - until, 1e-6), 0.0, 1.0))


def share(off: float, limits: tuple[float, float]) -> float:
    """1 up to the lower limit, 0 from the upper one on."""
    low, high = limits
    return float(np.clip((high - off) / (high - low), 0.0, 1.0))


def _lookalike(target: Thing, things: Sequence[Thing], rng: np.random.Generator) -> Thing | None:
    """One of the things, rather of the target's color or category than not; None where there are none."""
    if not things:
        return None
    alike = [thing for thing in things if thing.color == target.color or thing.category == target.category]
    among = alike or things
    return among[int(rng.integers(len(among)))]
