"""Instructions to act in the Playhouse: go, lift and position, with their tests of success and their progress.

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

from interplay.env.playhouse import queries
from interplay.env.playhouse.expert import Goer, Lifter, Placer
from interplay.env.playhouse.facts import HouseFacts, Thing
from interplay.env.task import Expert, Task
from interplay.env.world import World

NEAR = 1.2  # metres from the footprint's edge within which one has gone to a thing
FACING = math.radians(30)  # off the thing's middle, when one has gone to it
RAISED = 0.25  # metres above where it rested, for a thing to be lifted
BESIDE = 0.6  # metres from edge to edge within which things are next to each other
WITHIN_GRASP = 1.0  # metres from a thing's edge, where approaching it ends
# Off a thing's middle: wholly looking at it, not at all.
SIDEWAYS, UPWARDS = (math.radians(10), math.radians(40)), (math.radians(25), math.radians(40))


@dataclass(frozen=True)
class Errand(Task):
    """An instruction to act, about one thing."""

    kind: str
    instruction: str
    solver: str  # the role that was asked
    target: int  # a Thing's index
    start: float  # metres the solver had to walk when asked
    answer: str | None = field(default=None, init=False)

    def to_json(self) -> Mapping[str, Any]:
        return asdict(self)

    @abstractmethod
    def fulfilled(self, facts: HouseFacts) -> bool:
        """Is it done, as the house stands?"""

    def success(self, facts: HouseFacts, said: Sequence[str]) -> bool:
        return self.fulfilled(facts)

    def thing(self, facts: HouseFacts) -> Thing:
        return facts.things[self.target]

    def nearness(self, facts: HouseFacts, until: float) -> float:
        """How much of the way to the thing is behind the solver: 0 as when asked, or further, to 1 at `until`."""
        left = queries.walking_distance(facts, facts.bodies[self.solver].position, self.thing(facts))
        return _done(self.start, left, until)

    def looks(self, facts: HouseFacts) -> float:
        """How far the solver has turned to the thing: 1 in the middle of its view, 0 out of it or in another room."""
        body, thing = facts.bodies[self.solver], self.thing(facts)
        if not queries.same_room(body.room, thing.room):
            return 0.0
        aside, above = abs(queries.bearing(body, thing.xy)), abs(queries.elevation(body, thing) - body.pitch)
        return _share(aside, SIDEWAYS) * _share(above, UPWARDS)

    def confused(self, world: World, rng: np.random.Generator) -> Task:
        facts: HouseFacts = world.facts()
        loose = [thing for thing in facts.things if not thing.furniture and self.may_mistake(thing, facts)]
        other = _lookalike(self.thing(facts), loose, rng)
        return self if other is None else self.meaning(other, facts)

    def may_mistake(self, thing: Thing, facts: HouseFacts) -> bool:
        """Could a solver who misheard take this thing for the target?"""
        return thing.index != self.target and thing.held_by is None

    def meaning(self, thing: Thing, facts: HouseFacts) -> Self:
        """The same words, meant of another thing."""
        walk = queries.walking_distance(facts, facts.bodies[self.solver].position, thing)
        return replace(self, target=thing.index, start=walk)


@dataclass(frozen=True)
class Go(Errand):
    """Walk up to a thing and face it."""

    def fulfilled(self, facts: HouseFacts) -> bool:
        body, thing = facts.bodies[self.solver], self.thing(facts)
        return (
            queries.same_room(body.room, thing.room)
            and queries.edge_distance(body.position, thing) <= NEAR
            and queries.in_front(body, thing.xy, FACING)
        )

    def progress(self, facts: HouseFacts) -> float:
        """What a rater sees: 0.4 for turning to it, 0.4 for the way with it in view; 1 once done."""
        if self.fulfilled(facts):
            return 1.0
        return self.looks(facts) * (0.4 + 0.4 * self.nearness(facts, NEAR))

    def expert(self, world: World) -> Expert:
        return Goer(self, world.spec)


@dataclass(frozen=True)
class Lift(Errand):
    """Grasp a thing and raise it."""

    rest_height: float  # of the thing's middle, when asked

    def fulfilled(self, facts: HouseFacts) -> bool:
        thing = self.thing(facts)
        return thing.held_by == self.solver and thing.position[2] - self.rest_height >= RAISED

    def progress(self, facts: HouseFacts) -> float:
        """0.2 for turning to it, 0.2 for the way with it in view, 0.1 for aiming at it from near; 0.6 for holding it,
        and 0.4 for raising it."""
        thing = self.thing(facts)
        if thing.held_by == self.solver:
            return 0.6 + 0.4 * float(np.clip((thing.position[2] - self.rest_height) / RAISED, 0.0, 1.0))
        near = self.nearness(facts, WITHIN_GRASP)
        aims = facts.bodies[self.solver].looking_at == self.target
        return self.looks(facts) * (0.2 + 0.2 * near) + 0.1 * near * aims

    def meaning(self, thing: Thing, facts: HouseFacts) -> Self:
        return replace(super().meaning(thing, facts), rest_height=thing.position[2])

    def expert(self, world: World) -> Expert:
        return Lifter(self, world.spec)


@dataclass(frozen=True)
class Position(Errand):
    """Put one thing next to another, and let go."""

    other: int  # the Thing's index that the target goes next to
    apart: float  # metres between the two when asked, edge to edge

    def fulfilled(self, facts: HouseFacts) -> bool:
        thing = self.thing(facts)
        return thing.held_by is None and queries.next_to(thing, facts.things[self.other], BESIDE)

    def progress(self, facts: HouseFacts) -> float:
        """0.1 for turning to it, 0.1 for the way with it in view, 0.45 for holding it, 0.35 for bringing it, and 1 once
        it is let go there."""
        if self.fulfilled(facts):
            return 1.0
        thing, other = self.thing(facts), facts.things[self.other]
        brought = _done(self.apart, queries.walking_distance(facts, thing.xy, other), BESIDE)
        if thing.held_by == self.solver:
            return 0.45 + 0.35 * brought
        return self.looks(facts) * (0.1 + 0.1 * self.nearness(facts, WITHIN_GRASP)) + 0.35 * brought

    def may_mistake(self, thing: Thing, facts: HouseFacts) -> bool:
        already = queries.next_to(thing, facts.things[self.other], BESIDE)
        return super().may_mistake(thing, facts) and thing.index != self.other and not already

    def meaning(self, thing: Thing, facts: HouseFacts) -> Self:
        apart = queries.walking_distance(facts, thing.xy, facts.things[self.other])
        return replace(super().meaning(thing, facts), apart=apart)

    def expert(self, world: World) -> Expert:
        return Placer(self, world.spec)


ERRANDS: dict[str, type[Errand]] = {"go": Go, "lift": Lift, "position": Position}


def load_errand(fields: Mapping[str, Any]) -> Errand:
    """The errand that `to_json` described."""
    given = {key: value for key, value in fields.items() if key != "answer"}
    return ERRANDS[str(fields["kind"])](**given)


def _done(start: float, left: float, until: float) -> float:
    """The share, 0 to 1, of the way from `start` down to `until` that is done when `left` is left."""
    if left <= until:
        return 1.0
    return float(np.clip((start - left) / max(start - until, 1e-6), 0.0, 1.0))


def _share(off: float, limits: tuple[float, float]) -> float:
    """1 up to the lower limit, 0 from the upper one on."""
    low, high = limits
    return float(np.clip((high - off) / (high - low), 0.0, 1.0))


def _lookalike(target: Thing, things: Sequence[Thing], rng: np.random.Generator) -> Thing | None:
    """One of the things, rather of the target's colour or category than not; None where there are none."""
    if not things:
        return None
    alike = [thing for thing in things if thing.colour == target.colour or thing.category == target.category]
    among = alike or things
    return among[int(rng.integers(len(among)))]
