"""Base of instructions to arrange several objects: stack them, lay them out in a shape, gather them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from interplay.env.playhouse.language.templates import fill_template
from interplay.env.playhouse.planning.layouts import ArrangementPlan, plan_gathering, plan_layout
from interplay.env.playhouse.planning.stacks import Stack, plan_stack
from interplay.env.playhouse.tasks.context import TaskContext
from interplay.env.playhouse.tasks.instructions.object_group import ObjectGroup
from interplay.env.playhouse.tasks.playhouse_task import PlayhouseTask
from interplay.env.playhouse.tasks.potential import Potential, fraction_covered
from interplay.env.playhouse.truth import predicates
from interplay.env.playhouse.truth.facts import XY, HouseFacts, Thing
from interplay.env.playhouse.truth.formations import SHAPES, Formation, gathered_at
from interplay.env.task import InfeasibleTask

MAX_GROUPS_TRIED = 8  # groups of objects, drawn at random, that are tested for a plan
APPROACH_RANGE_M = (4.0, 1.0)  # distance from an object to fetch at which approaching it begins to count, and ends
CARRIED_M = 1.0  # from what a held object joins, where it has been carried there
WEIGHTS = Potential(look=0.0, approach=0.2, hold=0.4, carry=0.4)
CONFUSABLE_SHAPES = {  # no shape may satisfy the test of one it is mistaken for
    "tower": ("row", "group"),
    "row": ("triangle", "tower"),
    "ordered row": ("row",),
    "triangle": ("row",),
    "square": ("row", "tower"),
    "circle": ("row", "tower"),
    "group": (),
}


@dataclass(frozen=True, kw_only=True)
class Arrangement(PlayhouseTask):
    """Arrange `count` of the candidates. Baseline `placed`: how many of them were in place already."""

    shape: str  # a key of SHAPES
    candidates: tuple[int, ...]  # indices of the objects that may be used
    count: int  # number of objects that form the shape
    furniture: int | None = None  # index of the furniture at which a group is gathered

    def is_done(self, facts: HouseFacts) -> bool:
        return self.formation(facts).is_formed_by(facts, self.candidates, self.count)

    def objects_in_place(self, facts: HouseFacts) -> tuple[Thing, ...]:
        """Returns the largest set of candidates that already are in place."""
        return self.formation(facts).placed(facts, self.candidates, self.count)

    def formation(self, facts: HouseFacts) -> Formation:
        """Returns the formation to make."""
        return SHAPES[self.shape] if self.furniture is None else gathered_at(facts.things[self.furniture])

    def plan(self, facts: HouseFacts) -> Stack | ArrangementPlan | None:
        """Plans which object the solver carries where; None if there is no way to do it."""
        if self.furniture is not None:
            return plan_gathering(facts, self.solver, self.candidates, self.count, facts.things[self.furniture])
        if self.shape == "tower":
            return plan_stack(facts, self.solver, self.candidates, self.count)
        return plan_layout(facts, self.solver, self.candidates, self.count, self.shape)

    def measure(self, facts: HouseFacts) -> Mapping[str, float]:
        return {"placed": len(self.objects_in_place(facts))}

    def partial_progress(self, facts: HouseFacts) -> float:
        """Each object that was not in place has the same weight: 0.2 of it for the way to the object, 0.4 for holding
        it, 0.4 for carrying it to the others, and all of it once it is in place."""
        in_place = self.objects_in_place(facts)
        partial = self._potential(facts, in_place)
        placed = self.baseline["placed"]
        return float(np.clip((len(in_place) - placed + partial) / (self.count - placed), 0.0, 1.0))

    def _potential(self, facts: HouseFacts, in_place: Sequence[Thing]) -> float:
        """Returns the potential of the nearest object to fetch, or of the held one on its way to the others."""
        start, goal = APPROACH_RANGE_M
        held = facts.bodies[self.solver].holding
        if held in self.candidates:
            ends = [facts.things[self.furniture]] if self.furniture is not None else in_place
            remaining = min(self._distances(facts, facts.things[held].xy, ends), default=CARRIED_M)
            carried = fraction_covered(start, remaining, CARRIED_M)
            return WEIGHTS(looking=1.0, nearness=1.0, held=True, carried=carried)
        others = [facts.things[i] for i in self.candidates if facts.things[i] not in in_place]
        remaining = min(self._distances(facts, facts.bodies[self.solver].position, others), default=start)
        return WEIGHTS(looking=1.0, nearness=fraction_covered(start, remaining, goal), held=False)

    def _distances(self, facts: HouseFacts, point: XY, things: Sequence[Thing]) -> list[float]:
        return [predicates.walking_distance(facts, point, thing) for thing in things]

    def misreading(self, facts: HouseFacts, rng: np.random.Generator) -> PlayhouseTask | None:
        """Another shape of the same objects, or the same shape with an object that was not meant."""
        loose = [t.index for t in facts.things if not t.furniture and t.held_by is None]
        others = [i for i in loose if i not in self.candidates]
        shapes = [shape for shape in CONFUSABLE_SHAPES[self.shape] if self._has_enough_for(shape)]
        readings = [replace(self, shape=shape, furniture=None) for shape in shapes]
        if others:
            wrong = others[int(rng.integers(len(others)))]
            rest = [i for i in rng.permutation(loose).tolist() if i != wrong][: self.count - 1]
            readings.append(replace(self, candidates=(wrong, *rest)))
        for number in rng.permutation(len(readings)).tolist():
            other: Arrangement = readings[number]
            if other.plan(facts) is not None and not other.is_done(facts):
                return other
        return None

    def _has_enough_for(self, shape: str) -> bool:
        return self.count >= 3 or shape in ("tower", "group")


def sample_arrangement(
    context: TaskContext,
    rng: np.random.Generator,
    kind: str,
    shape: str,
    groups: Sequence[ObjectGroup],
    wordings: Sequence[str],
    furniture: Thing | None = None,
) -> Arrangement:
    """Draws a feasible arrangement, not yet done, of one of these groups of objects, gathered at `furniture` if given.

    Raises:
        InfeasibleTask: there is none, or the world lacks a movement.
    """
    names = {"other": context.name(furniture, rng)} if furniture is not None else {}
    texts = [fill_template(wordings, rng, things=group.words, **names) for group in groups]
    context.require_movement(kind, "push", "strafe")
    for number in rng.permutation(len(groups))[:MAX_GROUPS_TRIED].tolist():
        group = groups[number]
        task = Arrangement(
            kind=kind,
            instruction=texts[number],
            solver=context.solver,
            shape=shape,
            candidates=group.candidates,
            count=group.count,
            furniture=None if furniture is None else furniture.index,
        )
        if len(task.objects_in_place(context.facts)) < group.count and task.plan(context.facts) is not None:
            return task
    raise InfeasibleTask(
        f"no task of kind {kind!r} can be asked here: no things that words can single out could be arranged so"
    )
