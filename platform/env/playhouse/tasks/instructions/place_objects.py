"""Base of instructions to bring one object, or several, to a place."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

from interplay.env.playhouse.planning.placement import Placement
from interplay.env.playhouse.tasks.context import TaskContext
from interplay.env.playhouse.tasks.instructions.object_instruction import ObjectInstruction
from interplay.env.playhouse.tasks.playhouse_task import CARRY_AND_RELEASE, fraction_covered
from interplay.env.playhouse.truth import predicates
from interplay.env.playhouse.truth.facts import HouseFacts, Thing

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
    def of(cls, context: TaskContext, kind: str, text: str, things: Sequence[Thing], **fields: Any) -> Self:
        """Returns a task about these candidates for the solver of a context."""
        indices = tuple(thing.index for thing in things)
        solver = context.solver
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
