"""Bases of instructions about objects: looking at one, walking to it, mistaking another for it; bringing one or more
to a place; groups of objects that an instruction is about, and the noun phrases that name them."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from interplay.env.playhouse.language.templates import NUMBERS, plural
from interplay.env.playhouse.planning.placement import Placement
from interplay.env.playhouse.tasks.context import TaskContext
from interplay.env.playhouse.tasks.playhouse_task import (
    CARRY_AND_RELEASE,
    PlayhouseTask,
    Potential,
    fraction_covered,
    ramp_down,
)
from interplay.env.playhouse.truth import predicates
from interplay.env.playhouse.truth.facts import HouseFacts, Thing

GRASP_DISTANCE_M = 1.0  # from an object's edge, where approaching it ends
# Angle off the object's middle up to which the solver fully looks at it, and from which it does not look at it at all.
YAW_RANGE_RAD = (math.radians(10), math.radians(40))
PITCH_RANGE_RAD = (math.radians(25), math.radians(40))


@dataclass(frozen=True, kw_only=True)
class ObjectInstruction(PlayhouseTask):
    """An instruction about one thing. Baseline `walk`: meters from the solver to it."""

    target: int  # index of the thing

    @abstractmethod
    def is_done(self, facts: HouseFacts) -> bool:
        """Tests whether the instruction is carried out at this moment."""

    @property
    def since(self) -> float:
        """World time in seconds from which contacts and throws count, of the kinds that measure it."""
        return self.baseline["since"]

    def thing(self, facts: HouseFacts) -> Thing:
        """Returns the target."""
        return facts.things[self.target]

    def measure(self, facts: HouseFacts) -> Mapping[str, float]:
        return {"walk": self._walk(facts, self.thing(facts))}

    def potential(self, facts: HouseFacts, weights: Potential, carried: float = 0.0) -> float:
        """Evaluates weights for fetching the target and carrying it; `carried`: fraction of the way it has been."""
        return weights(
            looking=self.looking(facts),
            nearness=self.nearness(facts, GRASP_DISTANCE_M),
            held=self.thing(facts).held_by == self.solver,
            carried=carried,
        )

    def nearness(self, facts: HouseFacts, goal: float) -> float:
        """Returns the fraction of the way to the target, up to `goal` meters from it, that the solver has covered."""
        return fraction_covered(self.baseline["walk"], self._walk(facts, self.thing(facts)), goal)

    def looking(self, facts: HouseFacts) -> float:
        """Returns how far the solver has turned to the target: 1 in the middle of its view, 0 outside its view or in
        another room."""
        body, thing = facts.bodies[self.solver], self.thing(facts)
        if not predicates.same_room(body.room, thing.room):
            return 0.0
        yaw, pitch = abs(predicates.bearing(body, thing.xy)), abs(predicates.elevation(body, thing) - body.pitch)
        return ramp_down(yaw, YAW_RANGE_RAD) * ramp_down(pitch, PITCH_RANGE_RAD)

    def misreading(self, facts: HouseFacts, rng: np.random.Generator) -> PlayhouseTask | None:
        loose = [thing for thing in facts.things if not thing.furniture and self.is_plausible_target(thing, facts)]
        other = _similar_thing(self.thing(facts), loose, rng)
        return None if other is None else self.with_target(other, facts)

    def is_plausible_target(self, thing: Thing, facts: HouseFacts) -> bool:
        """Tests whether a solver that misunderstood could take this thing for the target."""
        return thing.index != self.target and thing.held_by is None

    def with_target(self, thing: Thing, facts: HouseFacts) -> Self:
        """Returns the same instruction about another thing, still without its baseline."""
        return replace(self, target=thing.index)

    def _walk(self, facts: HouseFacts, thing: Thing) -> float:
        return predicates.walking_distance(facts, facts.bodies[self.solver].position, thing)


def _similar_thing(target: Thing, things: Sequence[Thing], rng: np.random.Generator) -> Thing | None:
    """Draws one of the things, if possible one of the target's color or category; None if there are none."""
    if not things:
        return None
    similar = [thing for thing in things if thing.color == target.color or thing.category == target.category]
    choices = similar or things
    return choices[int(rng.integers(len(choices)))]


# Meters that a solver walks rather than take an object that carries another one, or one that lies in a bin.
LADEN_PENALTY_M, IN_BIN_PENALTY_M = 100.0, 10.0


@dataclass(frozen=True, kw_only=True)
class PlaceObjects(ObjectInstruction):
    """Bring `count` of the candidates to a place. `target` is the first candidate.

    Baseline of candidate i: `walk_i` and `carry_i`, meters from the solver to it and from there to the place.
    """

    candidates: tuple[int, ...]  # indices of the objects that count
    count: int = 1  # number of candidates that must be placed

    @classmethod
    def of(cls, context: TaskContext, text: str, things: Sequence[Thing], **fields: Any) -> Self:
        """Returns a task about these candidates for the solver of a context."""
        indices = tuple(thing.index for thing in things)
        kind, solver = context.kind, context.solver
        return cls(kind=kind, instruction=text, solver=solver, target=indices[0], candidates=indices, **fields)

    @abstractmethod
    def is_placed(self, facts: HouseFacts, thing: Thing) -> bool:
        """Tests whether a candidate is at the place."""

    @abstractmethod
    def remaining(self, facts: HouseFacts, thing: Thing) -> float:
        """Returns the meters that a candidate still has to be carried; 0 at the place."""

    @abstractmethod
    def placements(self, facts: HouseFacts, thing: Thing) -> Sequence[Placement]:
        """Returns the poses in which a candidate would be at the place."""

    def rank(self, facts: HouseFacts, thing: Thing) -> float:
        """Orders the candidates for the scripted solver, lowest first: by distance, laden ones and those in a bin
        last."""
        laden = bool(predicates.contents(facts, thing) or predicates.things_on(facts, thing))
        in_bin = any(predicates.inside(thing, other) for other in facts.things)
        return self._walk(facts, thing) + LADEN_PENALTY_M * laden + IN_BIN_PENALTY_M * in_bin

    def is_done(self, facts: HouseFacts) -> bool:
        return sum(self.is_placed(facts, facts.things[i]) for i in self.candidates) >= self.count

    def partial_progress(self, facts: HouseFacts) -> float:
        """1 for each object at the place, and for the one of the others that has come farthest: 0.1 for turning to it,
        0.1 for the way with it in view, 0.45 for holding it, 0.35 for carrying it; divided by `count`."""
        placed = [self.is_placed(facts, facts.things[i]) for i in self.candidates]
        partial = [
            self._potential_of(facts, i) for i, at_place in zip(self.candidates, placed, strict=True) if not at_place
        ]
        return (sum(placed) + max(partial)) / self.count

    def _potential_of(self, facts: HouseFacts, index: int) -> float:
        thing = facts.things[index]
        one = replace(self, target=index, baseline={"walk": self.baseline[f"walk_{index}"]})
        carried = fraction_covered(self.baseline[f"carry_{index}"], self.remaining(facts, thing), 0.0)
        return one.potential(facts, CARRY_AND_RELEASE, carried)

    def is_plausible_target(self, thing: Thing, facts: HouseFacts) -> bool:
        fits = super().is_plausible_target(thing, facts) and thing.index not in self.candidates
        return fits and not self.is_placed(facts, thing) and bool(self.placements(facts, thing))

    def with_target(self, thing: Thing, facts: HouseFacts) -> Self:
        """Returns the same instruction about this thing and `count - 1` of the candidates."""
        rest = tuple(i for i in self.candidates if i != self.target)
        return replace(self, target=thing.index, candidates=(thing.index, *rest[: self.count - 1]))

    def measure(self, facts: HouseFacts) -> Mapping[str, float]:
        things = [facts.things[i] for i in self.candidates]
        walks = {f"walk_{thing.index}": self._walk(facts, thing) for thing in things}
        carries = {f"carry_{thing.index}": self.remaining(facts, thing) for thing in things}
        return {**super().measure(facts), **walks, **carries}


NOUN_ATTRIBUTES = ("round", "rectangular", "pointy", "eatable")  # attributes that may precede a noun
ANY_ARRANGED = "objects"  # any loose objects, in instructions to arrange them
ANY_OBJECT = "things"  # any loose objects, in instructions to carry them
MAX_CANDIDATES = 10


@dataclass(frozen=True)
class ObjectGroup:
    """A group of candidate objects, how many of them are required, and the phrase that names them."""

    words: str  # "the white objects", "any three objects"
    candidates: tuple[int, ...]
    count: int


def described_groups(
    context: TaskContext, counts: Sequence[int], fits: Callable[[Thing], bool], *, subsets: bool = True
) -> list[ObjectGroup]:
    """Returns the groups of one color, one category or one attribute, or of any objects.

    A group is all objects of a description if their number is in `counts` and all of them fit; with `subsets` also
    `counts` of them if the description has more and as many fit. Objects that another player holds are left out.
    """
    loose = [thing for thing in context.facts.things if not thing.furniture]
    groups: list[ObjectGroup] = []
    for noun, things in _descriptions(loose, ANY_ARRANGED):
        free = [thing for thing in things if thing.held_by in (None, context.solver)]
        indices, usable = tuple(thing.index for thing in free), sum(map(fits, free))
        if len(things) > MAX_CANDIDATES:
            continue
        if len(things) in counts and usable == len(things) and len(things) < len(loose):
            groups.append(ObjectGroup(f"the {noun}", indices, len(things)))
        if subsets:
            anyone = "any " if noun == ANY_ARRANGED else ""
            fewer = [count for count in counts if count <= usable and count < len(things)]
            groups += [ObjectGroup(f"{anyone}{number_of(count, noun)}", indices, count) for count in fewer]
    return groups


def listed_groups(
    context: TaskContext, counts: Sequence[int], rng: np.random.Generator, fits: Callable[[Thing], bool]
) -> list[ObjectGroup]:
    """Draws a group of each size whose objects are named one by one: "the red ball, the blue duck and the green
    block"."""
    nameable = [thing for thing in context.nameable_objects() if fits(thing)]
    groups = []
    for count in counts:
        if count <= len(nameable):
            drawn = [nameable[i] for i in rng.permutation(len(nameable))[:count].tolist()]
            names = enumerated([f"the {context.name(thing, rng)}" for thing in drawn])
            groups.append(ObjectGroup(names, tuple(thing.index for thing in drawn), count))
    return groups


def descriptions_shared(facts: HouseFacts, min_count: int) -> list[tuple[str, tuple[Thing, ...]]]:
    """Returns the descriptions that fit at least `min_count` loose objects, none of them held, with these objects."""
    loose = [thing for thing in facts.things if not thing.furniture]
    held = {thing.index for thing in loose if thing.held_by is not None}
    shared = []
    for noun, things in _descriptions(loose, ANY_OBJECT):
        free = tuple(thing for thing in things if thing.index not in held)
        if len(free) >= min_count and (noun == ANY_OBJECT or len(free) == len(things)):
            shared.append((noun, free))
    return shared


def number_of(count: int, noun: str) -> str:
    """Returns "two red things" for 2 and "red things"."""
    return f"{NUMBERS[count]} {noun}"


def enumerated(phrases: Sequence[str]) -> str:
    """Joins phrases to "a, b and c"."""
    return phrases[0] if len(phrases) == 1 else f"{', '.join(phrases[:-1])} and {phrases[-1]}"


def _descriptions(loose: Sequence[Thing], any_noun: str) -> Iterable[tuple[str, list[Thing]]]:
    """Yields plural nouns with the objects that each fits; `any_noun` fits all of them."""
    for color in dict.fromkeys(thing.color for thing in loose):
        yield f"{color} {any_noun}", [thing for thing in loose if thing.color == color]
    for category in dict.fromkeys(thing.category for thing in loose):
        yield plural(category), [thing for thing in loose if thing.category == category]
    for attribute in NOUN_ATTRIBUTES:
        yield f"{attribute} {any_noun}", [thing for thing in loose if attribute in thing.attributes]
    yield any_noun, list(loose)
