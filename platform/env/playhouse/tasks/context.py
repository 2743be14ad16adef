"""Who asks whom, in which house: what drawing a task needs to know."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from interplay.env.playhouse.language.naming import ByColor, Naming
from interplay.env.playhouse.language.referring.post_modifiers import PostModifier
from interplay.env.playhouse.language.referring.styles import EVERYDAY, ReferringStyle
from interplay.env.playhouse.language.templates import phrase
from interplay.env.playhouse.truth import predicates
from interplay.env.playhouse.truth.facts import HouseFacts, Thing
from interplay.env.task import InfeasibleTask


@dataclass(frozen=True)
class TaskContext:
    """One moment at which something can be asked."""

    facts: HouseFacts
    solver: str  # the role that is asked
    setter: str  # the role that asks
    view: tuple[float, float]  # of a player, width and height in radians
    categories: tuple[str, ...]  # of the loose objects that such houses may hold
    components: tuple[str, ...] = ()  # the movements that players have
    setter_here: bool = True  # is the setter's avatar in the house?
    remembers: bool = True  # does the house remember deeds?
    naming: Naming = field(default_factory=ByColor)  # of single things
    manner: ReferringStyle = EVERYDAY  # of naming several things
    freely: bool = False  # in further words, too, than those that small agents learn

    def needs(self, kind: str, *components: str) -> None:
        """Raises InfeasibleTask where players lack a movement without which tasks of this kind can not be done."""
        if missing := [name for name in components if name not in self.components]:
            raise InfeasibleTask(
                f"no task of kind {kind!r} can be done here: players lack {', '.join(missing)}; "
                "add them to env.components"
            )

    def needs_memory(self, kind: str) -> None:
        """Raises InfeasibleTask where nobody could tell that tasks of this kind are done."""
        if not self.remembers:
            raise InfeasibleTask(
                f"no task of kind {kind!r} is possible: the house tracks no contacts; set env.track_contacts=true"
            )

    def needs_setter(self, kind: str) -> None:
        """Raises InfeasibleTask where the setter can not be gone to."""
        if not self.setter_here:
            raise InfeasibleTask(
                f"no task of kind {kind!r} can be asked here: the setter is not in the house; "
                "set env.setter_visible=true"
            )

    def nameable(self) -> list[Thing]:
        """Loose things in nobody's hand that words can single out."""
        return [thing for thing in self.told_apart() if not thing.furniture and thing.held_by is None]

    def carriable(self) -> list[Thing]:
        """Those of them that carry nothing themselves: nothing would fall out or off."""
        return [thing for thing in self.nameable() if not self.laden(thing)]

    def laden(self, thing: Thing) -> bool:
        """Does something lie on a thing or in it?"""
        return bool(predicates.contents(self.facts, thing) or predicates.things_on(self.facts, thing))

    def told_apart(self) -> list[Thing]:
        """Furniture and loose things that words can single out."""
        return [thing for thing in self.facts.things if self.naming.phrases(self.facts, thing)]

    def call(self, thing: Thing, rng: np.random.Generator) -> str:
        """A noun phrase, without its article, that singles out a thing of `told_apart`."""
        phrases = self.naming.phrases(self.facts, thing)
        return phrases[0] if len(phrases) == 1 else phrases[int(rng.integers(len(phrases)))]

    @cached_property
    def clauses(self) -> tuple[PostModifier, ...]:
        """What may be said behind the names of several things."""
        return tuple(self.manner.clauses(self.facts, self.facts.bodies[self.solver]))

    def word(self, kind: str, rng: np.random.Generator, **names: str) -> str:
        """A phrasing of a kind with its names filled in."""
        return phrase(f"{kind}, freely" if self.freely else kind, rng, **names)

    def walk(self, thing: Thing) -> float:
        """Meters that the solver has to walk to a thing."""
        return predicates.walking_distance(self.facts, self.facts.bodies[self.solver].position, thing)
