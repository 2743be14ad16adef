"""Who asks whom, in which house: what drawing a task needs to know."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from interplay.env.playhouse import queries
from interplay.env.playhouse.facts import HouseFacts, Thing
from interplay.env.playhouse.naming import ByColour, Naming


@dataclass(frozen=True)
class Asking:
    """One moment at which something can be asked."""

    facts: HouseFacts
    solver: str  # the role that is asked
    setter: str  # the role that asks
    view: tuple[float, float]  # of a player, width and height in radians
    categories: tuple[str, ...]  # of the loose objects that such houses may hold
    components: tuple[str, ...] = ()  # the movements that players have
    naming: Naming = field(default_factory=ByColour)

    def nameable(self) -> list[Thing]:
        """Loose things in nobody's hand that words can single out."""
        return [thing for thing in self.told_apart() if not thing.furniture and thing.held_by is None]

    def told_apart(self) -> list[Thing]:
        """Furniture and loose things that words can single out."""
        return [thing for thing in self.facts.things if self.naming.phrases(self.facts, thing)]

    def call(self, thing: Thing, rng: np.random.Generator) -> str:
        """A noun phrase, without its article, that singles out a thing of `told_apart`."""
        phrases = self.naming.phrases(self.facts, thing)
        return phrases[0] if len(phrases) == 1 else phrases[int(rng.integers(len(phrases)))]

    def walk(self, thing: Thing) -> float:
        """Metres that the solver has to walk to a thing."""
        return queries.walking_distance(self.facts, self.facts.bodies[self.solver].position, thing)
