"""Interface of referring expressions: noun phrases that identify one thing of the house uniquely."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

from interplay.env.playhouse.truth.facts import HouseFacts, Thing


class Naming(ABC):
    """A set of referring expressions for the things of a house."""

    @abstractmethod
    def phrases(self, facts: HouseFacts, thing: Thing) -> Sequence[str]:
        """Returns the noun phrases without article ("red ball") that fit this thing and no other; possibly none."""


class ByColor(Naming):
    """Color and category: "red ball"."""

    def phrases(self, facts: HouseFacts, thing: Thing) -> Sequence[str]:
        same_name = [other for other in facts.things if other.name == thing.name]
        return (thing.name,) if len(same_name) == 1 else ()
