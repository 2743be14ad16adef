"""How a setter refers to things: noun phrases, each of which fits one thing of the house and no other."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

from interplay.env.playhouse.truth.facts import HouseFacts, Thing


class Naming(ABC):
    """A manner of referring to things."""

    @abstractmethod
    def phrases(self, facts: HouseFacts, thing: Thing) -> Sequence[str]:
        """Noun phrases without an article ("red ball") that fit this thing and no other; none where there are none."""


class ByColor(Naming):
    """Color and category: "red ball"."""

    def phrases(self, facts: HouseFacts, thing: Thing) -> Sequence[str]:
        alike = [other for other in facts.things if other.name == thing.name]
        return (thing.name,) if len(alike) == 1 else ()
