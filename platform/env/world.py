"""The contract of a world: what two players can see, do and say in it, and how it is saved.

The canonical loop, for any world::

    world = registry.make("playhouse")
    views = world.reset(Start(seed=7))
    while True:
        actions = {role: Action(movement, utterance) for role in world.spec.roles}
        outcome = world.step(actions)          # one agent step = spec.frames_per_step frames
        if outcome.done:
            break

Nothing outside this folder asks which world it is in: the agent is built from ``world.spec``, scripted
players ask ``world.tasks()`` what can be asked here, and raters and probes read ``world.facts()``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from interplay.env.arrays import Image

if TYPE_CHECKING:
    from interplay.env.task import TaskSource

Movement = NDArray[np.int8]  # [frames_per_step, components]: a bin of each component, for each frame


@dataclass(frozen=True)
class Component:
    """One small categorical of a movement action: its name, its number of bins, and the bin that does nothing."""

    name: str
    bins: int
    rest: int


@dataclass(frozen=True)
class WorldSpec:
    """What exists in a world. Parts that do not exist are None, 0 or empty."""

    name: str
    version: int
    roles: tuple[str, ...]  # roles[0] asks (the setter), roles[1] acts and answers (the solver); or the solver alone
    frames_per_step: int  # frames in one agent step: 8 in the Playhouse, 1 in a turn-based world
    frames_per_second: float
    image: tuple[int, int, int] | None  # (H, W, 3), uint8
    vector: int  # length of the float32 vector observation
    movement: tuple[Component, ...]
    utterances: bool  # can players hear and say things
    poses: int  # length of the float32 vector that `show` redraws a moment from; 0: pictures must be stored

    @property
    def solver(self) -> str:
        """The role that an agent learns to play."""
        return self.roles[-1]

    def rest(self) -> Movement:
        """The movement chunk that does nothing, int8 [frames_per_step, components]."""
        return self._rest.copy()

    @cached_property
    def _rest(self) -> Movement:
        row = np.array([component.rest for component in self.movement], dtype=np.int8)
        return np.tile(row, (self.frames_per_step, 1))


@dataclass(frozen=True)
class View:
    """What one player observes at one step. Never the truth about the world: only its own senses."""

    image: Image | None = None
    vector: NDArray[np.float32] | None = None
    heard: str = ""  # the other player's last utterance
    said: str = ""  # this player's own last utterance


@dataclass(frozen=True)
class Action:
    """What one player does in one step: a movement chunk, and perhaps a whole utterance."""

    movement: Movement
    utterance: str | None = None


@dataclass(frozen=True)
class Start:
    """Where an episode starts: a seed (a new world) or a saved state (exactly the world that was saved)."""

    seed: int | None = None
    state: bytes | None = None

    def __post_init__(self) -> None:
        if (self.seed is None) == (self.state is None):
            raise ValueError(
                f"Start takes either a seed or a state, got seed={self.seed!r} and "
                f"state={'None' if self.state is None else f'{len(self.state)} bytes'}"
            )


@dataclass(frozen=True)
class Outcome:
    """What one step led to."""

    views: Mapping[str, View]
    done: bool = False  # the world itself ended the episode; time limits belong to whoever runs it
    env_reward: float = 0.0
    info: Mapping[str, Any] = field(default_factory=dict)


class World(ABC):
    """One world, holding one episode at a time. Not thread-safe; make one a lane."""

    spec: WorldSpec

    @abstractmethod
    def reset(self, start: Start, observers: Collection[str] | None = None) -> Mapping[str, View]:
        """Begins an episode and returns the views of the roles in `observers` (all roles where None).

        Raises:
            ValueError: `start.state` was not saved by this world at this version and configuration.
        """

    @abstractmethod
    def step(self, actions: Mapping[str, Action], observers: Collection[str] | None = None) -> Outcome:
        """Runs `spec.frames_per_step` frames. A role without an entry in `actions` rests in silence.

        An utterance is heard by the others in the views of this very step's outcome. Views are made only for the
        roles in `observers`: pictures are what costs.

        Raises:
            ValueError: a movement of the wrong shape, a bin out of range, or an unknown role.
        """

    @abstractmethod
    def state(self) -> bytes:
        """Saves the episode where it stands, so that `reset(Start(state=...))` goes on bit-identically from here,
        in this process and in any other: same later states, same pictures. May re-seat the live simulation on the
        saved vector, which is what makes the two identical."""

    @abstractmethod
    def facts(self) -> Any:
        """The truth for scripted players, raters and probes (see `interplay.env.task`); never an observation."""

    @abstractmethod
    def tasks(self) -> TaskSource:
        """What can be asked in this world as it stands."""

    def poses(self) -> NDArray[np.float32]:
        """The moment as a float32 vector [spec.poses], from which `show` redraws it."""
        raise NotImplementedError(f"{self.spec.name} keeps no poses: store its pictures")

    def show(self, poses: NDArray[np.float32]) -> None:
        """Puts a recorded moment of this episode before `view` and `facts`, without simulating it.

        Only after a `reset` to the episode's own start; `step` needs another `reset` afterwards."""
        raise NotImplementedError(f"{self.spec.name} keeps no poses: store its pictures")

    def view(self, role: str) -> View:
        """The present view of one role, drawn now."""
        raise NotImplementedError

    def portrait(self, height: int, width: int) -> Mapping[str, Image]:
        """Pictures for people, by title: the players' eyes, a large view, a map. Empty where there are none."""
        return {}

    def close(self) -> None:
        """Frees what the world holds."""
        return
