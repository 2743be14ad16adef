"""Base of instructions to stand somewhere."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Self, TypeVar

import numpy as np

from interplay.env.playhouse.planning.navigation import free_spots
from interplay.env.playhouse.tasks.playhouse_task import PlayhouseTask
from interplay.env.playhouse.tasks.potential import fraction_covered
from interplay.env.playhouse.truth import predicates
from interplay.env.playhouse.truth.facts import XY, Body, HouseFacts
from interplay.env.task import InfeasibleTask

SPOT_MARGIN_M = 0.2  # the instruction also holds this far to any side of a spot
WEIGHT_OF_WAY = 0.9  # progress at the end of the way


T = TypeVar("T", bound="StandAt")


@dataclass(frozen=True, kw_only=True)
class StandAt(PlayhouseTask):
    """An instruction to stand somewhere.

    Baseline `spot_x` and `spot_y`: the nearest place that satisfies it (others do as well); `walk`: meters to there.
    """

    @abstractmethod
    def holds(self, facts: HouseFacts, body: Body) -> bool:
        """Tests whether a solver with this body would satisfy the instruction."""

    @abstractmethod
    def misreadings(self, facts: HouseFacts) -> Sequence[Self]:
        """Returns all misinterpretations, still without a baseline."""

    @property
    def spot(self) -> XY:
        """Nearest place that satisfied the instruction when it was set."""
        return self.baseline["spot_x"], self.baseline["spot_y"]

    def is_done(self, facts: HouseFacts) -> bool:
        return self.holds(facts, facts.bodies[self.solver])

    def partial_progress(self, facts: HouseFacts) -> float:
        """0.9 for the way to the spot."""
        remaining = predicates.route_length(facts, facts.bodies[self.solver].position, self.spot)
        return WEIGHT_OF_WAY * fraction_covered(self.baseline["walk"], remaining, 0.0)

    def measure(self, facts: HouseFacts) -> Mapping[str, float]:
        """Measures the way to the nearest spot.

        Raises:
            InfeasibleTask: no free floor satisfies the instruction.
        """
        spot = self.nearest_spot(facts)
        if spot is None:
            raise InfeasibleTask(f"no task of kind {self.kind!r} can be asked here: there is no free floor to stand on")
        walk = predicates.route_length(facts, facts.bodies[self.solver].position, spot)
        return {"spot_x": spot[0], "spot_y": spot[1], "walk": walk}

    def misreading(self, facts: HouseFacts, rng: np.random.Generator) -> PlayhouseTask | None:
        return draw_feasible(self.misreadings(facts), facts, rng)

    def nearest_spot(self, facts: HouseFacts) -> XY | None:
        """Returns the spot of free floor nearest to the solver that satisfies the instruction, if there is one."""
        body = facts.bodies[self.solver]
        fitting = [spot for spot in free_spots(facts, self.solver) if self._holds_around(facts, body, spot)]
        return min(fitting, key=lambda spot: predicates.route_length(facts, body.position, spot), default=None)

    def turned(self, facts: HouseFacts, body: Body) -> Body:
        """Returns the body turned towards the point to face."""
        return replace(body, yaw=body.yaw + predicates.bearing(body, self.facing(facts, body)))

    def facing(self, facts: HouseFacts, body: Body) -> XY:
        """Returns the point that the solver has to face: straight ahead if any direction satisfies the instruction."""
        return body.position[0] + np.cos(body.yaw), body.position[1] + np.sin(body.yaw)

    def _holds_around(self, facts: HouseFacts, body: Body, spot: XY) -> bool:
        """Tests whether the instruction holds at a spot and `SPOT_MARGIN_M` to all four sides."""
        room = predicates.nearest_room(facts, spot).name
        m = SPOT_MARGIN_M
        return all(
            self.holds(facts, self.turned(facts, replace(body, room=room, position=(spot[0] + dx, spot[1] + dy))))
            for dx, dy in ((0.0, 0.0), (m, 0.0), (-m, 0.0), (0.0, m), (0.0, -m))
        )


def draw_feasible(tasks: Sequence[T], facts: HouseFacts, rng: np.random.Generator) -> T | None:
    """Draws a task that is not done and can be; None if there is none."""
    shuffled = (tasks[i] for i in rng.permutation(len(tasks)).tolist())
    return next((t for t in shuffled if not t.is_done(facts) and t.nearest_spot(facts) is not None), None)
