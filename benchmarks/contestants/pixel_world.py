"""`Pixels` as a world of Interplay: no words, one component of nine bins, a frame a step, paid by the world."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from pixels import ACTIONS, EPISODE, HEIGHT, WIDTH, Pixels

from interplay.env.registry import WorldEntry
from interplay.env.task import Expert, Task, TaskSource
from interplay.env.world import Action, Component, Outcome, Start, View, World, WorldSpec

SETTER, SOLVER = "setter", "solver"


@dataclass(frozen=True)
class PixelConfig:
    """What a step costs, in seconds."""

    work: float = 1e-4
    wait: float = 0.0


@dataclass(frozen=True)
class Watch(Task):
    """All that can be asked of pixels: to watch them to the end."""

    kind: str = "watch"
    instruction: str = "watch"
    answer: str | None = None

    def to_json(self) -> Mapping[str, Any]:
        return asdict(self)

    def success(self, facts: int, said: Sequence[str]) -> bool:
        return facts >= EPISODE

    def progress(self, facts: int) -> float:
        return facts / EPISODE

    def misread(self, world: World, rng: np.random.Generator) -> Task:
        return self

    def expert(self, world: World) -> Expert:
        return Watcher()


class Watcher(Expert):
    """Rests."""

    def act(self, world: World) -> Action:
        return Action(world.spec.rest())


class Watching(TaskSource):
    """The one task."""

    kinds = ("watch",)
    probes = ("watch",)

    def sample(self, kind: str, rng: np.random.Generator) -> Task:
        return Watch()

    def load(self, fields: Mapping[str, Any]) -> Task:
        return Watch(**fields)


class PixelWorld(World):
    """Two roles, of which the setter does nothing."""

    spec = WorldSpec(
        name="pixels",
        version=1,
        roles=(SETTER, SOLVER),
        frames_per_step=1,
        frames_per_second=30.0,
        image=(HEIGHT, WIDTH, 3),
        vector=0,
        movement=(Component("act", ACTIONS, 0),),
        utterances=False,
        poses=0,
    )

    def __init__(self, config: PixelConfig) -> None:
        self._pixels = Pixels(config.work, config.wait)
        self._view = View()

    def reset(self, start: Start, observers: Collection[str] | None = None) -> Mapping[str, View]:
        seed = start.seed if start.seed is not None else json.loads(start.state or b"{}")["seed"]
        self._view = View(self._pixels.reset(seed))
        if start.state is not None:
            self._pixels.steps = json.loads(start.state)["steps"]
        return self._views(observers)

    def step(self, actions: Mapping[str, Action], observers: Collection[str] | None = None) -> Outcome:
        picture, reward, over = self._pixels.step(int(actions[SOLVER].movement[0, 0]))
        self._view = View(picture)
        return Outcome(self._views(observers), over, reward)

    def state(self) -> bytes:
        return json.dumps({"seed": self._pixels.at, "steps": self._pixels.steps}).encode()

    def facts(self) -> int:
        return self._pixels.steps

    def tasks(self) -> TaskSource:
        return Watching()

    def _views(self, observers: Collection[str] | None) -> Mapping[str, View]:
        return dict.fromkeys(self.spec.roles if observers is None else observers, self._view)


entry = WorldEntry(PixelWorld, PixelConfig)
