"""Interface of a player: the policy of one role, scripted, replayed, human or learned."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping

import numpy as np

from interplay.env.world import Action, View, World

StepRange = tuple[int, int]  # least and most steps, both included


class Player(ABC):
    """Plays one role in one world, one episode at a time.

    Scripted players read ground truth from the world; people and agents use the view only. The episode loop calls
    `begin` once per episode, then `act` once per step.
    """

    kind: str  # "human", "agent", "scripted" or "replay", as stored with an episode

    @abstractmethod
    def begin(self, world: World, role: str) -> None:
        """Starts a new episode in `world`."""

    @abstractmethod
    def act(self, view: View, world: World) -> Action:
        """The action of the next step."""

    @property
    def finished(self) -> bool:
        """Whether this player has nothing more to do in the episode."""
        return False

    def describe(self) -> Mapping[str, str]:
        """Metadata of this player to store with an episode, in addition to its kind."""
        return {}


def step_range_problems(config: object, names: Iterable[str]) -> list[str]:
    """One message for each named step range of a config that is negative or reversed."""
    ranges = ((name, *getattr(config, name)) for name in names)
    return [
        f"{name}=({least}, {most}): give (least, most) with 0 <= least <= most"
        for name, least, most in ranges
        if not 0 <= least <= most
    ]


def sample_steps(steps: StepRange, rng: np.random.Generator) -> int:
    """A number of steps, uniform over the range."""
    return int(rng.integers(steps[0], steps[1] + 1))
