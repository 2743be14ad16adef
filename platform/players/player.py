"""The interface behind which every player sits, whoever it is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping

from interplay.env.world import Action, View, World

StepRange = tuple[int, int]  # least and most steps, both included


class Player(ABC):
    """Plays one role in one world, an episode at a time.

    Scripted players read the world's truth; people and agents must only ever look at the view. Who drives the
    worlds calls `begin` once an episode, then `act` once a step.
    """

    kind: str  # "human", "agent", "scripted" or "replay": what an episode records about its seat

    @abstractmethod
    def begin(self, world: World, role: str) -> None:
        """A new episode has started in `world`."""

    @abstractmethod
    def act(self, view: View, world: World) -> Action:
        """What to do and say in the coming step."""

    @property
    def finished(self) -> bool:
        """This player has nothing more to do in the episode."""
        return False

    def describe(self) -> Mapping[str, str]:
        """What an episode's metadata should say about this player, besides its kind."""
        return {}
