"""Interface of a player: the policy of one role, scripted, replayed, human or learned; and the player that replays the
recorded actions and utterances of one role."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping

import numpy as np

from interplay.env.world import Action, View, World
from interplay.episodes.episode import Episode

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


class ReplayedSetter(Player):
    """Replays one role of an episode from its start; does nothing after the end of the recording.

    Raises (from `begin`):
        ValueError: the episode has no actions of the role, or they do not fit this world.
    """

    kind = "replay"

    def __init__(self, episode: Episode) -> None:
        self._episode = episode
        self._role = ""
        self._step = 0
        self._utterances: list[str | None] = []

    def begin(self, world: World, role: str) -> None:
        actions = self._episode.actions.get(role)
        if actions is None:
            recorded = ", ".join(self._episode.actions) or "none"
            raise ValueError(f"episode {self._episode.meta.id} has no actions of {role!r}; it has those of {recorded}")
        frames, components = self._episode.meta.frames_per_step, actions.shape[1]
        if (frames, components) != (world.spec.frames_per_step, len(world.spec.movement)):
            raise ValueError(
                f"episode {self._episode.meta.id} of {self._episode.meta.world} has {frames} frames a step and "
                f"{components} movement components; {world.spec.name} has {world.spec.frames_per_step} and "
                f"{len(world.spec.movement)}: replay it in a world of its own settings"
            )
        self._role, self._step = role, 0
        self._utterances = self._episode.said(role)

    def act(self, view: View, world: World) -> Action:
        step, self._step = self._step, self._step + 1
        if step >= len(self._utterances):
            return Action(world.spec.rest())
        frames = self._episode.meta.frames_per_step
        return Action(self._episode.actions[self._role][step * frames : (step + 1) * frames], self._utterances[step])

    @property
    def finished(self) -> bool:
        """Whether the recording has ended."""
        return self._step >= len(self._utterances)

    def describe(self) -> Mapping[str, str]:
        return {"episode": self._episode.meta.id}
