"""A small deterministic world for tests: two players on a line, 8x8 images that encode their positions."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from interplay.env.task import TaskSource
from interplay.env.world import Action, Component, Outcome, Start, View, World, WorldSpec
from interplay.episodes.episode import Episode
from interplay.episodes.recorder import EpisodeRecorder

LENGTH = 32
FRAMES = 4
ROLES = ("setter", "solver")


class Corridor(World):
    """Components: `walk` (back, rest, forward). `facts()` gives both positions and the moment's number."""

    def __init__(self, *, poses: bool = True, mission: str = "") -> None:
        self.spec = WorldSpec(
            name="corridor",
            version=1,
            roles=ROLES,
            frames_per_step=FRAMES,
            frames_per_second=30.0,
            image=(8, 8, 3),
            vector=2,
            movement=(Component("walk", 3, 1),),
            utterances=True,
            poses=3 if poses else 0,
        )
        self.mission = mission
        self.drawn = 0
        self.clock = 0
        self.at = dict.fromkeys(ROLES, 0)
        self.said = dict.fromkeys(ROLES, "")

    def reset(self, start: Start, observers: Collection[str] | None = None) -> Mapping[str, View]:
        if start.state is not None:
            saved = json.loads(start.state)
            self.clock, self.at, self.said = saved["clock"], saved["at"], saved["said"]
        else:
            rng = np.random.default_rng(start.seed)
            self.clock = 0
            self.at = {role: int(rng.integers(LENGTH)) for role in ROLES}
            self.said = dict.fromkeys(ROLES, "")
        return self._views(observers)

    def step(self, actions: Mapping[str, Action], observers: Collection[str] | None = None) -> Outcome:
        for role, action in actions.items():
            if role not in ROLES or action.movement.shape != (FRAMES, 1):
                raise ValueError(f"bad action of {role}: {action.movement.shape}")
            if action.movement.min() < 0 or action.movement.max() > 2:
                raise ValueError("bin out of range")
            self.at[role] = int(np.clip(self.at[role] + (action.movement.astype(int) - 1).sum(), 0, LENGTH - 1))
            if action.utterance is not None:
                self.said[role] = action.utterance
        self.clock += 1
        return Outcome(self._views(observers), env_reward=self.at["solver"] / LENGTH)

    def state(self) -> bytes:
        return json.dumps({"clock": self.clock, "at": self.at, "said": self.said}).encode()

    def facts(self) -> dict[str, Any]:
        return {"clock": self.clock, **self.at}

    def tasks(self) -> TaskSource:
        raise NotImplementedError

    def poses(self) -> NDArray[np.float32]:
        return np.array([self.clock, *self.at.values()], np.float32)

    def show(self, poses: NDArray[np.float32]) -> None:
        assert poses.shape == (3,), poses.shape
        self.clock = int(poses[0])
        self.at = {role: int(pose) for role, pose in zip(ROLES, poses[1:], strict=True)}

    def view(self, role: str) -> View:
        self.drawn += 1
        image = np.full((8, 8, 3), self.at["setter"], np.uint8)
        image[..., 0] = self.at["solver"]
        image[..., 2] = (self.clock + (role == "setter")) % 256
        other = ROLES[1 - ROLES.index(role)]
        vector = np.array([self.at[role], self.clock], np.float32)
        return View(image, vector, heard=self.said[other] or self.mission, said=self.said[role])

    def _views(self, observers: Collection[str] | None) -> Mapping[str, View]:
        return {role: self.view(role) for role in (ROLES if observers is None else observers)}


def record_episode(
    world: Corridor,
    seed: int,
    steps: int = 10,
    **settings: Any,
) -> tuple[Episode, list[Mapping[str, View]], list[dict[str, Any]]]:
    """A random episode: as recorded, the views as the players saw them, and the truth at each row."""
    rng = np.random.default_rng(seed)
    players = {"setter": {"kind": "scripted"}, "solver": {"kind": "scripted", "skill": "half"}}
    recorder = EpisodeRecorder(world, players=players, record=ROLES, **settings)
    views = [world.reset(Start(seed=seed))]
    recorder.begin(seed=seed, views=views[0])
    recorder.ask({"kind": "go", "instruction": "go on"})
    facts = [world.facts()]
    for step in range(steps):
        actions = {
            role: Action(
                rng.integers(3, size=(FRAMES, 1)).astype(np.int8),
                f"{role} {step}" if rng.random() < 0.3 else None,
            )
            for role in ROLES
        }
        outcome = world.step(actions)
        recorder.record(actions, outcome)
        views.append(outcome.views)
        facts.append(world.facts())
    return recorder.finish(), views, facts


def assert_same_episode(a: Episode, b: Episode) -> None:
    """Everything equal, dtypes included."""
    assert a.meta == b.meta
    assert a.initial_state == b.initial_state
    arrays = [
        (a.actions, b.actions),
        (a.images, b.images),
        (a.vectors, b.vectors),
        ({"reward": a.env_reward}, {"reward": b.env_reward}),
        ({} if a.poses is None else {"poses": a.poses}, {} if b.poses is None else {"poses": b.poses}),
    ]
    for one, other in arrays:
        assert one.keys() == other.keys()
        for key in one:
            assert one[key].dtype == other[key].dtype, key
            np.testing.assert_array_equal(one[key], other[key])
