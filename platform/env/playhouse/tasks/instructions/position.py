"""Put one object next to another thing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from interplay.env.playhouse.tasks.context import TaskContext
from interplay.env.playhouse.tasks.instructions.object_instruction import ObjectInstruction
from interplay.env.playhouse.tasks.instructions.put import Put
from interplay.env.playhouse.tasks.potential import CARRY_AND_RELEASE, fraction_covered
from interplay.env.playhouse.tasks.sampling import sample_one
from interplay.env.playhouse.tasks.task_kind import TaskKind
from interplay.env.playhouse.truth import predicates
from interplay.env.playhouse.truth.facts import HouseFacts, Thing
from interplay.env.playhouse.truth.predicates.relations import NEXT_TO_GAP_M

MIN_GAP_M = NEXT_TO_GAP_M + 0.3  # between two things of which one is to be put next to the other
ON_FLOOR_M = 0.1  # above the floor, at most, of the underside of a thing that objects are put next to

FEW_WORDINGS = (
    "put the {thing} next to the {other}",
    "place the {thing} near the {other}",
    "move the {thing} beside the {other}",
)
WORDINGS = (
    *FEW_WORDINGS, "put the {thing} down beside the {other}", "place the {thing} close to the {other}",
    "set the {thing} next to the {other}", "take the {thing} and put it near the {other}",
)  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Position(ObjectInstruction):
    """Put one object next to another thing, and let go. Baseline `carry`: meters between the two, edge to edge."""

    other: int  # index of the thing that the target goes next to

    def is_done(self, facts: HouseFacts) -> bool:
        thing = self.thing(facts)
        return thing.held_by is None and predicates.next_to(thing, facts.things[self.other])

    def partial_progress(self, facts: HouseFacts) -> float:
        """0.1 for turning to it, 0.1 for the way with it in view, 0.45 for holding it, 0.35 for carrying it, and 1 once
        it is let go there."""
        carried = fraction_covered(self.baseline["carry"], self._remaining(facts), NEXT_TO_GAP_M)
        return self.potential(facts, CARRY_AND_RELEASE, carried)

    def measure(self, facts: HouseFacts) -> Mapping[str, float]:
        return {**super().measure(facts), "carry": self._remaining(facts)}

    def is_plausible_target(self, thing: Thing, facts: HouseFacts) -> bool:
        in_place = predicates.next_to(thing, facts.things[self.other])
        return super().is_plausible_target(thing, facts) and thing.index != self.other and not in_place

    def as_placement(self, facts: HouseFacts) -> Put:
        """Returns the same instruction in the form in which objects are carried and put down with more care."""
        task = Put(
            kind=self.kind, instruction=self.instruction, solver=self.solver,
            target=self.target, candidates=(self.target,), other=self.other,
        )  # fmt: skip
        return task.with_baseline(facts)

    def _remaining(self, facts: HouseFacts) -> float:
        return predicates.walking_distance(facts, self.thing(facts).xy, facts.things[self.other])


def sample_position(context: TaskContext, rng: np.random.Generator) -> Position:
    """Draws an instruction about two nameable things that are apart."""
    places = [
        thing for thing in context.nameable_things() if thing.held_by is None and predicates.bottom(thing) <= ON_FLOOR_M
    ]
    pairs = [
        (target, other)
        for target in context.nameable_objects()
        for other in places
        if other.index != target.index and predicates.gap(target, other) > MIN_GAP_M
    ]
    target, other = sample_one(pairs, rng, "position", "no two things that can be named are apart")
    names = {"thing": context.name(target, rng), "other": context.name(other, rng)}
    text = context.phrase(FEW_WORDINGS, WORDINGS, rng, **names)
    return Position(kind="position", instruction=text, solver=context.solver, target=target.index, other=other.index)


KIND = TaskKind(name="position", task=Position, sample=sample_position, wordings=WORDINGS, usual=True)
