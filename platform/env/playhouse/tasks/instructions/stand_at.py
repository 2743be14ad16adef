"""What instructions to be somewhere share: whom they ask, where that is, and how far it is from there."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Self

import numpy as np

from interplay.env.playhouse.planning.navigation import free_spots
from interplay.env.playhouse.tasks.instructions.object_instruction import done
from interplay.env.playhouse.tasks.stored_fields import without_unused_cues
from interplay.env.playhouse.truth import predicates
from interplay.env.playhouse.truth.facts import XY, Body, HouseFacts
from interplay.env.task import InfeasibleTask, Task
from interplay.env.world import World

MARGIN = 0.2  # meters to any side that one may miss a spot by and still stand as asked
ON_THE_WAY = 0.9  # of `progress`, at the end of the way


@dataclass(frozen=True)
class StandAt(Task):
    """An instruction to be somewhere. `spot` is the nearest place that will do, when asked; others do as well."""

    kind: str
    instruction: str
    solver: str  # the role that was asked
    spot_x: float
    spot_y: float
    start: float  # meters the solver had to walk there when asked
    answer: str | None = field(default=None, init=False)
    cue: str | None = field(default=None, kw_only=True)
    modifier: str | None = field(default=None, kw_only=True)

    def to_json(self) -> Mapping[str, Any]:
        return without_unused_cues(asdict(self))

    @abstractmethod
    def holds(self, facts: HouseFacts, body: Body) -> bool:
        """Would a solver with this body be where it was asked to be?"""

    @abstractmethod
    def mistaken(self, facts: HouseFacts) -> Sequence[Self]:
        """The same words, as they may be misunderstood; not yet with a spot."""

    def fulfilled(self, facts: HouseFacts) -> bool:
        """Is it done, as the house stands?"""
        return self.holds(facts, facts.bodies[self.solver])

    def success(self, facts: HouseFacts, said: Sequence[str]) -> bool:
        return self.fulfilled(facts)

    def progress(self, facts: HouseFacts) -> float:
        """0.9 for the way there, 1 once done."""
        if self.fulfilled(facts):
            return 1.0
        left = predicates.walk(facts, facts.bodies[self.solver].position, (self.spot_x, self.spot_y))
        return ON_THE_WAY * done(self.start, left, 0.0)

    def misread(self, world: World, rng: np.random.Generator) -> Task:
        facts: HouseFacts = world.facts()
        choices = list(self.mistaken(facts))
        order: list[int] = rng.permutation(len(choices)).tolist()
        for index in order:
            other = None if choices[index].fulfilled(facts) else choices[index].with_spot(facts)
            if other is not None:
                return other
        return self

    def with_spot(self, facts: HouseFacts) -> Self | None:
        """The same task with the spot that is nearest to the solver now; None where there is none."""
        body = facts.bodies[self.solver]
        fitting = [spot for spot in free_spots(facts, self.solver) if self._fits(facts, body, spot)]
        if not fitting:
            return None
        x, y = min(fitting, key=lambda spot: predicates.walk(facts, body.position, spot))
        return replace(self, spot_x=x, spot_y=y, start=predicates.walk(facts, body.position, (x, y)))

    def _fits(self, facts: HouseFacts, body: Body, spot: XY) -> bool:
        """Would a solver stand as asked at a spot, and a little beside it?"""
        room = predicates.nearest_room(facts, spot).name
        around = ((0.0, 0.0), (MARGIN, 0.0), (-MARGIN, 0.0), (0.0, MARGIN), (0.0, -MARGIN))
        return all(
            self.holds(facts, self.turned(facts, replace(body, room=room, position=(spot[0] + dx, spot[1] + dy))))
            for dx, dy in around
        )

    def turned(self, facts: HouseFacts, body: Body) -> Body:
        """The body, turned to where one looks who stands there as asked."""
        return replace(body, yaw=body.yaw + predicates.bearing(body, self.facing(facts, body)))

    def facing(self, facts: HouseFacts, body: Body) -> XY:
        """The point that one looks at who stands there: straight ahead, where it does not matter."""
        return body.position[0] + np.cos(body.yaw), body.position[1] + np.sin(body.yaw)


def spotted(task: StandAt, facts: HouseFacts) -> StandAt:
    """A task with a spot.

    Raises:
        InfeasibleTask: nobody can stand there.
    """
    found = task.with_spot(facts)
    if found is None:
        raise InfeasibleTask(f"no task of kind {task.kind!r} can be asked here: there is no free floor to stand on")
    return found
